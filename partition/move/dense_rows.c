/* partition/move/dense_rows.c - stores a part of a dense result to Y. storing.h explains
   the lines of a part. */
#include "partition/move/storing.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/move/transpose.h"

enum {
    BLOCK = 1 << 10
}; /* number of elements that are scaled at a time, in a buffer on
      the stack */

#define MEMBER(is, T, suffix, ...) T suffix[BLOCK];
typedef union block {
    HY_VALUE_TYPES(MEMBER)
} block;

/* Compute out[i] = alpha * in[i] (scale), and alpha * in[i] + beta * out[i] (add), in
   double and rounded once to the type. */
#define DEFINE_SCALE(is, T, suffix, ...)                                                 \
    static void scale_##suffix(const T *restrict in, int64_t count, double alpha,        \
                               T *restrict out)                                          \
    {                                                                                    \
        for (int64_t i = 0; i < count; i++)                                              \
            out[i] = (T)(alpha * (double)in[i]);                                         \
    }                                                                                    \
    static void add_##suffix(const T *restrict in, int64_t count, double alpha,          \
                             double beta, T *restrict out)                               \
    {                                                                                    \
        for (int64_t i = 0; i < count; i++)                                              \
            out[i] = (T)(alpha * (double)in[i] + beta * (double)out[i]);                 \
    }

HY_VALUE_TYPES(DEFINE_SCALE)

static void scale_to(const hy_update *u, const void *in, int64_t count, void *out)
{
    HY_CALL_BY_TYPE(u->Y->type, scale, in, count, u->alpha, out);
}

static void add_to(const hy_update *u, const void *in, int64_t count, void *out)
{
    HY_CALL_BY_TYPE(u->Y->type, add, in, count, u->alpha, u->beta, out);
}

/* Computes `count` consecutive elements of Y from element `to` on: alpha * in + beta * Y.
   If beta is 0, scaled values go through a block in the first-level cache, so that they
   too can be stored with instructions that bypass the caches. */
static void store(const hy_update *u, const char *in, int64_t count, int64_t to)
{
    const size_t size = hy_value_size(u->Y->type);
    char *out         = hy_dense_at(u->Y, to);
    block scaled;

    if (u->beta != 0) {
        add_to(u, in, count, out);
        return;
    }
    if (u->alpha == 1) {
        hy_copy_past(out, in, (size_t)count * size);
        return;
    }
    for (int64_t i = 0; i < count; i += BLOCK) {
        const int64_t n = hy_min(BLOCK, count - i);
        scale_to(u, in + (size_t)i * size, n, &scaled);
        hy_copy_past(out + (size_t)i * size, &scaled, (size_t)n * size);
    }
}

/* Returns the distance, in elements of Y, from element s->origin to the beginning of line
   i of the part. If the rows of the part are listed, s->rows[i] counts rows from there.
 */
static int64_t line_at(const hy_storing *s, int64_t i)
{
    return (s->rows && s->in_rows ? s->rows[i] : i) * s->ld;
}

static void copy_parts(const hy_storing *s, const hy_parts *part)
{
    const hy_update *u = s->update;
    const size_t size  = hy_value_size(u->Y->type);
    const size_t bytes = (size_t)part->length * size, step = (size_t)s->ld * size;
    const int64_t at = s->origin + part->after;

    if (s->rows && s->in_rows)
        hy_copy_rows_listed(hy_dense_at(u->Y, at), step, s->rows + part->first, part->in,
                            bytes, bytes, (size_t)part->count);
    else
        hy_copy_rows_past(hy_dense_at(u->Y, at + part->first * s->ld), step, part->in,
                          bytes, bytes, (size_t)part->count);
}

/* Stores elements [begin, end) of a part that is one contiguous range of Y. */
static hybrid_status store_flat(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_storing *s = arg;

    (void)part;
    store(s->update, hy_element_at(s, begin), end - begin, s->origin + begin);
    return HYBRID_OK;
}

/* Stores lines [begin, end) of a part to the lines of Y, scaled by alpha; beta is 0. The
   lines are so short that a block of BLOCK elements holds several. */
static void store_scaled(const hy_storing *s, int64_t begin, int64_t end)
{
    const int64_t max = BLOCK / s->length;
    block scaled;

    for (int64_t i = begin; i < end; i += max) {
        const int64_t lines = hy_min(max, end - i);
        const hy_parts part = {(const char *)&scaled, i, lines, 0, s->length};
        scale_to(s->update, hy_element_at(s, i * s->length), lines * s->length, &scaled);
        copy_parts(s, &part);
    }
}

/* Starts fetching a line of Y into the CPU's caches, because it will be read (beta != 0).
   The processor does not predict short parts of rows, or listed rows. */
static void expect(const hy_storing *s, int64_t line)
{
    const hy_update *u          = s->update;
    const int64_t line_elements = HY_LINE / (int64_t)hy_value_size(u->Y->type);

    if (u->beta == 0 || line >= s->lines || (!s->rows && 2 * s->length > s->ld))
        return;
    for (int64_t j = 0; j < s->length; j += line_elements)
        __builtin_prefetch(hy_dense_at(u->Y, s->origin + line_at(s, line) + j), 1);
    __builtin_prefetch(hy_dense_at(u->Y, s->origin + line_at(s, line) + s->length - 1),
                       1);
}

void hy_store_lines(const hy_storing *s, const hy_parts *part)
{
    const hy_update *u = s->update;
    const size_t bytes = (size_t)part->length * hy_value_size(u->Y->type);

    if (u->alpha == 1 && u->beta == 0) {
        copy_parts(s, part);
        return;
    }
    for (int64_t i = 0; i < part->count; i++)
        store(u, part->in + (size_t)i * bytes, part->length,
              s->origin + part->after + line_at(s, part->first + i));
}

/* Stores lines [begin, end) of a part. Each is a line of Y, or a piece of one. */
static hybrid_status store_along(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_storing *s = arg;
    const hy_update *u  = s->update;
    const hy_parts all  = {hy_element_at(s, begin * s->length), begin, end - begin, 0,
                           s->length};

    (void)part;
    if (u->alpha == 1 && u->beta == 0)
        copy_parts(s, &all);
    else if (u->beta == 0 && s->length <= BLOCK / 2)
        store_scaled(s, begin, end);
    else
        for (int64_t i = begin; i < end; i++) {
            expect(s, i + HY_ROWS_AHEAD);
            store(u, hy_element_at(s, i * s->length), s->length,
                  s->origin + line_at(s, i));
        }
    return HYBRID_OK;
}

/* Stores lines [begin, end) of a part that lie across those of Y (a row in a column-major
   Y, or a column in a row-major one). Each tile of the part is transposed, which gives
   pieces of lines of Y. */
static hybrid_status store_across(void *arg, int worker, int64_t begin, int64_t end)
{
    const hy_storing *s = arg;
    const size_t size   = hy_value_size(s->update->Y->type);
    const int64_t max   = hy_tile_length(s);
    _Alignas(HY_LINE) char tile[HY_TILE_BYTES];

    (void)worker;
    for (int64_t i = begin; i < end; i += max)
        for (int64_t j = 0; j < s->length; j += HY_TILE_LINES) {
            const hy_parts part = {tile, j, hy_min(HY_TILE_LINES, s->length - j), i,
                                   hy_min(max, end - i)};
            hy_transpose(hy_element_at(s, i * s->length + j), s->length, part.count,
                         part.length, size, tile, part.length);
            hy_store_lines(s, &part);
        }
    return HYBRID_OK;
}

hy_storing hy_storing_of(const hy_update *update, const hy_part *part,
                         const hy_touched *subset)
{
    const hy_chunk *chunk = part->chunk;
    const hybrid_dense *Y = update->Y;
    const int64_t rows    = chunk->row_end - chunk->row_begin;
    const int64_t width   = chunk->col_end - chunk->col_begin;
    const int in_rows     = Y->order == HYBRID_ROW_MAJOR;
    const int in_lines    = part->order == HYBRID_ROW_MAJOR;
    const int64_t first   = subset ? 0 : chunk->row_begin;

    return (hy_storing){.update  = update,
                        .in      = part->rows.val,
                        .along   = Y->order == part->order,
                        .in_rows = in_rows,
                        .lines   = in_lines ? rows : width,
                        .length  = in_lines ? width : rows,
                        .ld      = Y->ld,
                        .origin  = in_rows ? first * Y->ld + chunk->col_begin
                                           : first + chunk->col_begin * Y->ld,
                        .rows    = subset ? subset->rows + chunk->row_begin : NULL,
                        .listed  = subset ? subset->count : 0,
                        .before  = chunk->row_begin};
}

/* Returns 1 if the part is one contiguous range of Y, with its elements in the order of
   Y. */
static int is_flat(const hy_storing *s)
{
    if (s->rows)
        return 0;
    return s->along ? s->length == s->ld || s->lines == 1 : s->length == 1 || s->ld == 1;
}

int hy_storing_home(const hy_update *update, const hy_part *part, hy_row_copy *copy)
{
    const hybrid_dense *Y = update->Y;
    const size_t size     = hy_value_size(Y->type);
    const hy_storing s    = hy_storing_of(update, part, NULL);
    const int flat        = is_flat(&s);
    const int64_t rows    = flat ? 1 : s.lines;
    const int64_t width   = flat ? s.lines * s.length : s.length;
    const int by_lines    = part->by_lines && s.along;

    if (update->alpha != 1 || update->beta != 0 || rows * width == 0 ||
        (!flat && (!by_lines || s.ld > HY_MAX_PITCH / (int64_t)size)))
        return 0;
    *copy = (hy_row_copy){.dst       = hy_dense_at(Y, s.origin),
                          .src       = s.in,
                          .dst_pitch = (size_t)(flat ? width : s.ld) * size,
                          .src_pitch = (size_t)width * size,
                          .bytes     = (size_t)width * size,
                          .rows      = rows};
    return 1;
}

hybrid_status hy_store_dense(hy_pool *pool, hy_storing *s)
{
    if (s->lines * s->length == 0)
        return HYBRID_OK;
    if (is_flat(s))
        return hy_pool_for(pool, HY_PLACE, 0, s->lines * s->length, HY_STORE_ELEMENTS,
                           store_flat, s);
    if (s->along)
        return hy_pool_for(pool, HY_PLACE, 0, s->lines, 1 + HY_STORE_ELEMENTS / s->length,
                           store_along, s);
    return hy_pool_for(pool, HY_PLACE, 0, s->lines, hy_whole_tiles(s, s->length),
                       store_across, s);
}
