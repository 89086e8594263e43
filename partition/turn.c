/* partition/turn.c - columns of a dense matrix as rows, rows as columns, and some rows of
   many. */
#include "partition/turn.h"

#include <string.h>

#include "base/extremes.h"

static void copy_element(char *to, const char *from, size_t size)
{
    if (size == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, 4);
}

/* Bytes of an element, and from one to the next in the loops. */
typedef struct turning {
    size_t size, from_outer, from_inner, to_outer, to_inner;
} turning;

static void turn_tile(const turning *t, const char *from, char *to, int64_t outer,
                      int64_t inner)
{
    for (int64_t i = 0; i < outer; i++) {
        const char *src = from + (size_t)i * t->from_outer;
        char *dst       = to + (size_t)i * t->to_outer;
        for (int64_t j = 0; j < inner; j++, src += t->from_inner, dst += t->to_inner)
            copy_element(dst, src, t->size);
    }
}

/* The side whose strides are longer is passed along its lines: it may have few of the
   caches' sets to itself, and would lose a line before all of it was used. */
void hy_turn(const char *from, int64_t from_ld, int64_t lines, int64_t length,
             size_t size, char *to, int64_t to_ld)
{
    enum { TILE = 32 };

    const size_t far_from = (size_t)from_ld * size, far_to = (size_t)to_ld * size;
    const int along_to = to_ld > from_ld;
    const turning t    = along_to ? (turning){size, size, far_from, far_to, size}
                                  : (turning){size, far_from, size, size, far_to};

    for (int64_t i = 0; i < lines; i += TILE)
        for (int64_t j = 0; j < length; j += TILE) {
            const int64_t m = hy_lesser(TILE, lines - i), n = hy_lesser(TILE, length - j);
            turn_tile(&t, from + (size_t)j * far_from + (size_t)i * size,
                      to + (size_t)i * far_to + (size_t)j * size, along_to ? m : n,
                      along_to ? n : m);
        }
}

/* Rows rows[0 .. count-1] and columns [first, last). */
static void copy_tile(const hy_grid *to, const hy_grid *from, const int32_t *rows,
                      int64_t count, int64_t first, int64_t last, size_t size)
{
    for (int64_t i = 0; i < count; i++) {
        const char *src =
            from->at + (size_t)(rows[i] * from->row + first * from->col) * size;
        char *dst = to->at + (size_t)(i * to->row + first * to->col) * size;
        for (int64_t j = first; j < last; j++) {
            copy_element(dst, src, size);
            src += (size_t)from->col * size;
            dst += (size_t)to->col * size;
        }
    }
}

void hy_copy_listed(const hy_grid *to, const hy_grid *from, const int32_t *rows,
                    int64_t count, int64_t cols, size_t size)
{
    enum { TILE = 16 };
    hy_grid part = *to;

    for (int64_t i = 0; i < count; i += TILE) {
        const int64_t n = hy_lesser(TILE, count - i);
        for (int64_t j = 0; j < cols; j += TILE)
            copy_tile(&part, from, rows + i, n, j, hy_lesser(cols, j + TILE), size);
        part.at += (size_t)(n * to->row) * size;
    }
}
