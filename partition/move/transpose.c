/* partition/move/transpose.c - transposes dense matrices and copies listed rows. */
#include "partition/move/transpose.h"

#include <string.h>

#include "base/data/min_max.h"
#include "base/memory/memory.h"

enum {
    SPAN = 256,     /* rows of a span: consecutive rows that may be transposed together in
                       order to copy the listed ones among them */
    SPAN_SHARE = 6, /* a span is transposed as a whole if at least one of SPAN_SHARE of
                       its rows is listed */
    TILE = 16       /* listed rows that are copied element by element at a time */
};

static void copy_element(char *to, const char *from, size_t size)
{
    if (size == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, 4);
}

/* ---- transposing a matrix -------------------------------------------------------- */

/* Size of an element, and steps in bytes from line to line of the matrix read and of the
   matrix written. */
typedef struct strides {
    size_t size, from_step, to_step;
} strides;

static void transpose_elements(const strides *t, const char *from, int64_t lines,
                               int64_t length, char *to)
{
    for (int64_t i = 0; i < lines; i++)
        for (int64_t j = 0; j < length; j++)
            copy_element(to + (size_t)i * t->to_step + (size_t)j * t->size,
                         from + (size_t)j * t->from_step + (size_t)i * t->size, t->size);
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HY_SHUFFLES 1
#endif
#endif

#if HY_SHUFFLES
typedef uint32_t u32x4 __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t u64x2 __attribute__((vector_size(16), aligned(1), may_alias));

/* Transposes a corner of a square: 4 x 4 elements of 4 bytes. */
static inline void transpose_corner_4(const char *from, char *to, size_t to_step)
{
    const u32x4 *in[4];
    u32x4 *out[4];

    for (size_t k = 0; k < 4; k++) {
        in[k]  = (const void *)(from + k * HY_LINE);
        out[k] = (void *)(to + k * to_step);
    }
    const u32x4 a = __builtin_shufflevector(*in[0], *in[1], 0, 4, 1, 5);
    const u32x4 b = __builtin_shufflevector(*in[0], *in[1], 2, 6, 3, 7);
    const u32x4 c = __builtin_shufflevector(*in[2], *in[3], 0, 4, 1, 5);
    const u32x4 d = __builtin_shufflevector(*in[2], *in[3], 2, 6, 3, 7);
    *out[0]       = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    *out[1]       = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    *out[2]       = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    *out[3]       = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/* Transposes a corner of a square: 2 x 2 elements of 8 bytes. */
static inline void transpose_corner_8(const char *from, char *to, size_t to_step)
{
    const u64x2 a = *(const u64x2 *)(const void *)from;
    const u64x2 b = *(const u64x2 *)(const void *)(from + HY_LINE);

    *(u64x2 *)(void *)to             = __builtin_shufflevector(a, b, 0, 2);
    *(u64x2 *)(void *)(to + to_step) = __builtin_shufflevector(a, b, 1, 3);
}

/* Transposes a square stored in contiguous lines, corner by corner (4 x 4 or 2 x 2
   elements). */
#define DEFINE_TRANSPOSE_LINES(size, corner)                                             \
    static void transpose_lines_##size(const char *from, char *to, size_t to_step)       \
    {                                                                                    \
        for (size_t i = 0; i < HY_LINE / size; i += corner)                              \
            for (size_t j = 0; j < HY_LINE / size; j += corner)                          \
                transpose_corner_##size(from + j * HY_LINE + i * size,                   \
                                        to + i * to_step + j * size, to_step);           \
    }

DEFINE_TRANSPOSE_LINES(4, 4)
DEFINE_TRANSPOSE_LINES(8, 2)

/* Transposes a square with sides of HY_LINE bytes, a cache line. Each line is first
   copied as a whole, because lines that are a power of two apart compete for few places
   in the caches. The bytes behind each line are fetched into the caches, because the
   processor does not predict them. */
static void transpose_square(const strides *t, const char *from, char *to)
{
    _Alignas(HY_LINE) char lines[HY_LINE / 4 * HY_LINE];

    for (size_t j = 0; j < HY_LINE / t->size; j++) {
        const char *line = from + j * t->from_step;
        memcpy(lines + j * HY_LINE, line, HY_LINE);
        __builtin_prefetch((const void *)((uintptr_t)line + HY_LINE));
    }
    (t->size == 8 ? transpose_lines_8 : transpose_lines_4)(lines, to, t->to_step);
}
#else
static void transpose_square(const strides *t, const char *from, char *to)
{
    const int64_t side = HY_LINE / (int64_t)t->size;
    transpose_elements(t, from, side, side, to);
}
#endif

/* Transposes a square with sides of HY_LINE bytes, or a smaller rectangle at the ends of
   the matrix. */
static void transpose_part(const strides *t, const char *from, int64_t lines,
                           int64_t length, char *to)
{
    const int64_t side = HY_LINE / (int64_t)t->size;

    if (lines < side || length < side)
        transpose_elements(t, from, hy_min(lines, side), hy_min(length, side), to);
    else
        transpose_square(t, from, to);
}

/* Transposes square by square. The inner loop runs along the lines of the matrix with the
   longer stride. */
void hy_transpose(const char *from, int64_t from_ld, int64_t lines, int64_t length,
                  size_t size, char *to, int64_t to_ld)
{
    const strides t     = {size, (size_t)from_ld * size, (size_t)to_ld * size};
    const int64_t side  = HY_LINE / (int64_t)size;
    const int along_to  = to_ld > from_ld;
    const int64_t outer = along_to ? lines : length, inner = along_to ? length : lines;

    for (int64_t k = 0; k < outer; k += side)
        for (int64_t l = 0; l < inner; l += side) {
            const int64_t i = along_to ? k : l, j = along_to ? l : k;
            transpose_part(&t, from + (size_t)j * t.from_step + (size_t)i * size,
                           lines - i, length - j,
                           to + (size_t)i * t.to_step + (size_t)j * size);
        }
}

/* ---- copying listed rows --------------------------------------------------------- */

/* Copies columns [first, last) of rows rows[0] to rows[count - 1] of `from` to successive
   rows of `to`. */
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

/* Copies rows rows[0] to rows[count - 1], columns [first, last), of a column-major
   matrix: transposes all rows of the span, then copies the listed ones. */
static void transpose_span(const hy_grid *to, const hy_grid *from, const int32_t *rows,
                           int64_t count, int64_t first, int64_t last, size_t size)
{
    char span[SPAN * HY_LINE];
    const size_t bytes = (size_t)(last - first) * size;

    hy_transpose(from->at + (size_t)(rows[0] + first * from->col) * size, from->col,
                 rows[count - 1] - rows[0] + 1, last - first, size, span, last - first);
    for (int64_t i = 0; i < count; i++)
        memcpy(to->at + (size_t)(i * to->row + first) * size,
               span + (size_t)(rows[i] - rows[0]) * bytes, bytes);
}

/* Returns how many of the ascending row numbers rows[0], rows[1] and so on lie within
   SPAN consecutive rows; at most `count`. */
static int64_t span_end(const int32_t *rows, int64_t count)
{
    int64_t end = 1;

    while (end < count && rows[end] - rows[0] < SPAN)
        end++;
    return end;
}

/* Defines a function that sets to[i] = from[rows[i]] for elements of `bytes` bytes. */
#define DEFINE_GATHER(name, bytes)                                                       \
    static void name(char *to, const char *from, const int32_t *rows, int64_t count)     \
    {                                                                                    \
        for (int64_t i = 0; i < count; i++)                                              \
            memcpy(to + (size_t)i * (bytes), from + (size_t)rows[i] * (bytes), bytes);   \
    }

DEFINE_GATHER(gather_4, 4)
DEFINE_GATHER(gather_8, 8)

/* Copies listed rows of a column-major matrix to a column-major one, column by column. */
static void gather_columns(const hy_grid *to, const hy_grid *from, const int32_t *rows,
                           int64_t count, int64_t cols, size_t size)
{
    for (int64_t j = 0; j < cols; j++)
        (size == 8 ? gather_8 : gather_4)(to->at + (size_t)(j * to->col) * size,
                                          from->at + (size_t)(j * from->col) * size, rows,
                                          count);
}

void hy_copy_listed(const hy_grid *to, const hy_grid *from, const int32_t *rows,
                    int64_t count, int64_t cols, size_t size)
{
    const int may_transpose = from->row == 1 && to->col == 1;
    const int64_t side      = HY_LINE / (int64_t)size;
    hy_grid part            = *to;
    int64_t n;

    if (from->row == 1 && to->row == 1) {
        gather_columns(to, from, rows, count, cols, size);
        return;
    }
    for (int64_t i = 0; i < count; i += n) {
        const int64_t near = span_end(rows + i, count - i);
        const int transposes =
            may_transpose && rows[i + near - 1] - rows[i] < near * SPAN_SHARE;
        n = transposes ? near : hy_min(near, TILE);
        for (int64_t j = 0; j < cols; j += side)
            (transposes ? transpose_span : copy_tile)(&part, from, rows + i, n, j,
                                                      hy_min(cols, j + side), size);
        part.at += (size_t)(n * to->row) * size;
    }
}
