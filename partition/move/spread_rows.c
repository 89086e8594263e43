/* partition/move/spread_rows.c - stores a part of a result to listed rows of a
   column-major Y.

   A cache line of Y holds elements of many rows. The empty rows between the part's rows
   are therefore computed with them, so that whole lines are stored with instructions that
   bypass the caches. A column-major part is spread column by column, in runs of some
   kilobytes. A row-major part is transposed tile by tile first. storing.h explains the
   lines of a part. */
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/move/storing.h"
#include "partition/move/transpose.h"

static int64_t rows_of(const hy_storing *s)
{
    return s->along ? s->length : s->lines;
}

static int64_t cols_of(const hy_storing *s)
{
    return s->along ? s->lines : s->length;
}

/* Returns the first row of Y that row k of the part owns; if k is the number of rows of
   the part, returns the end of the rows that the part owns. A row of the part owns its
   row of Y and the empty rows behind it. The first row of the first part also owns the
   empty rows at the beginning of Y. */
static int64_t owned_begin(const hy_storing *s, int64_t k)
{
    const int64_t row = s->before + k;

    return row == 0 ? 0 : row < s->listed ? s->rows[k] : s->update->Y->rows;
}

/* Returns the index of the part's first row that is not before row `at` of Y, or the
   number of its rows if there is none. */
static int64_t first_from(const hy_storing *s, int64_t at)
{
    int64_t low = 0, high = rows_of(s);

    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (s->rows[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Defines a function that sets to[rows[k] - first] = from[k] for k < count, for elements
   of the type `word`. */
#define DEFINE_SPREAD(name, word)                                                        \
    static void name(const void *from, const int32_t *rows, int64_t count,               \
                     int64_t first, void *to)                                            \
    {                                                                                    \
        const word *in = from;                                                           \
        word *out      = to;                                                             \
        for (int64_t k = 0; k < count; k++)                                              \
            out[rows[k] - first] = in[k];                                                \
    }

DEFINE_SPREAD(spread_4, uint32_t)
DEFINE_SPREAD(spread_8, uint64_t)

/* Sets part->count columns at `to` to part->length elements each, for rows of Y from
   part->after on: the elements of rows [begin, begin + count) of the part, and zeros for
   the empty rows of Y. Columns are `step` elements apart at `from` and contiguous at
   `to`. */
static void spread(const hy_storing *s, int64_t begin, int64_t count, const char *from,
                   int64_t step, const hy_parts *part, char *to)
{
    const size_t size  = hy_value_size(s->update->Y->type);
    const size_t bytes = (size_t)part->length * size;

    memset(to, 0, (size_t)part->count * bytes);
    for (int64_t j = 0; j < part->count; j++)
        (size == 8 ? spread_8 : spread_4)(from + (size_t)(j * step) * size,
                                          s->rows + begin, count, part->after,
                                          to + (size_t)j * bytes);
}

/* Stores elements [begin, end) of the columns of Y, counted column after column over the
   rows that the part owns. */
static hybrid_status spread_columns(void *arg, int worker, int64_t begin, int64_t end)
{
    const hy_storing *s = arg;
    const int64_t row = owned_begin(s, 0), rows = owned_begin(s, rows_of(s)) - row;
    const int64_t max = HY_TILE_BYTES / (int64_t)hy_value_size(s->update->Y->type);
    _Alignas(HY_LINE) char tile[HY_TILE_BYTES];

    (void)worker;
    while (rows > 0 && begin < end) {
        const int64_t col = begin / rows, at = row + begin % rows;
        const int64_t left     = hy_min(end - begin, row + rows - at);
        const hy_parts part    = {tile, col, 1, at, hy_min(max, left)};
        const int64_t first    = first_from(s, at);
        const int64_t count    = first_from(s, at + part.length) - first;
        const char *const from = hy_element_at(s, col * s->length + first);
        spread(s, first, count, from, 0, &part, tile);
        hy_store_lines(s, &part);
        begin += part.length;
    }
    return HYBRID_OK;
}

/* Stores rows [begin, end) of Y from a row-major part. */
static hybrid_status spread_tiles(void *arg, int worker, int64_t begin, int64_t end)
{
    const hy_storing *s = arg;
    const size_t size   = hy_value_size(s->update->Y->type);
    const int64_t max   = hy_tile_length(s);
    _Alignas(HY_LINE) char tile[HY_TILE_BYTES], transposed[HY_TILE_BYTES];

    (void)worker;
    for (int64_t at = begin; at < end; at += max) {
        const int64_t length = hy_min(max, end - at);
        const int64_t first  = first_from(s, at);
        const int64_t count  = first_from(s, at + length) - first;
        for (int64_t j = 0; j < s->length; j += HY_TILE_LINES) {
            const hy_parts part = {tile, j, hy_min(HY_TILE_LINES, s->length - j), at,
                                   length};
            hy_transpose(hy_element_at(s, first * s->length + j), s->length, part.count,
                         count, size, transposed, count);
            spread(s, first, count, transposed, count, &part, tile);
            hy_store_lines(s, &part);
        }
    }
    return HYBRID_OK;
}

hybrid_status hy_store_spread(hy_pool *pool, hy_storing *s)
{
    const int64_t begin = owned_begin(s, 0), end = owned_begin(s, rows_of(s));

    if (s->lines * s->length == 0)
        return HYBRID_OK;
    if (s->along)
        return hy_pool_for(pool, HY_PLACE, 0, (end - begin) * cols_of(s),
                           HY_STORE_ELEMENTS, spread_columns, s);
    return hy_pool_for(pool, HY_PLACE, begin, end, hy_whole_tiles(s, cols_of(s)),
                       spread_tiles, s);
}
