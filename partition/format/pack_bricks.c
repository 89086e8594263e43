/* partition/format/pack_bricks.c - packs one row panel of 16 rows into blocks of four
   bricks, which are 16 x 4 elements (pack.h).

   If the columns are near each other, a map gives the place of each entry without
   branches that depend on the pattern. Otherwise the rows are merged. */
#include "base/data/value_type.h"
#include "partition/format/bricks.h"

#include <string.h>

/* ---- columns ----------------------------------------------------------------- */

static int64_t mapped_columns(const hy_panel_map *map)
{
    int64_t columns = 0;

    for (int w = 0; w < map->words; w++)
        for (uint64_t left = map->bits[w]; left != 0; left &= left - 1)
            columns++;
    return columns;
}

static int64_t merged_columns(const hy_brick_panel *p)
{
    int64_t columns = 0;
    hy_panel panel;
    int32_t col;

    hy_panel_start(p->A, p->row, p->rows, &panel);
    while (hy_panel_next(&panel, &col) != 0)
        columns++;
    return columns;
}

int64_t hy_brick_columns(const hy_brick_panel *p, hy_brick_work *work)
{
    if (hy_panel_mark(p->A, p->row, p->rows, &work->map))
        return mapped_columns(&work->map);
    return merged_columns(p);
}

static int32_t x_row(const hy_brick_panel *p, int64_t col)
{
    if (p->ring->rows > 0)
        return hy_ring_position(p->ring, (int32_t)col);
    return p->touched->rows ? hy_renumbered(p->touched, (int32_t)col) : (int32_t)col;
}

/* Fills the unused columns of the last block, from number `columns` on, with its last
   used column. */
static void fill_up(hy_hrpb_block *b, int columns)
{
    for (int k = columns; k < HY_HRPB_COLS; k++)
        b->col[k] = b->col[columns - 1];
}

/* ---- with a map --------------------------------------------------------------- */

/* Numbers the columns of the panel and writes the rows of X that they need to the
   blocks. */
static void number_columns(const hy_brick_panel *p, hy_panel_map *map,
                           hy_hrpb_block *block)
{
    int32_t n = 0;

    for (int w = 0; w < map->words; w++)
        for (uint64_t left = map->bits[w]; left != 0; left &= left - 1, n++) {
            const int bit    = 64 * w + __builtin_ctzll(left);
            map->number[bit] = n;
            block[n / HY_HRPB_COLS].col[n % HY_HRPB_COLS] = x_row(p, map->first + bit);
        }
    if (n % HY_HRPB_COLS != 0)
        fill_up(&block[n / HY_HRPB_COLS], n % HY_HRPB_COLS);
}

/* Sets the bit patterns of all bricks and counts the entries of each in next[brick]. */
static void set_patterns(const hy_brick_panel *p, const hy_panel_map *map,
                         hy_hrpb_block *block, int32_t *next)
{
    for (int r = 0; r < p->rows; r++) {
        const int64_t end = hy_offset(p->A, p->row + r + 1);
        for (int64_t k = hy_offset(p->A, p->row + r); k < end; k++) {
            const int32_t n = map->number[hy_cols(p->A)[k] - map->first];
            const int brick = n / HY_HRPB_BRICK;
            uint32_t *bits  = block[n / HY_HRPB_COLS].bits;
            const int word  = 2 * (brick % HY_HRPB_BRICKS) + r / 8;
            bits[word] |= 1u << (4 * (r % 8) + n % HY_HRPB_BRICK);
            next[brick]++;
        }
    }
}

/* Turns the counts of entries in next[] into the indices at which the values of bricks
   begin, from `first` on. */
static void place_bricks(int64_t blocks, int64_t first, hy_hrpb_block *block,
                         int32_t *next)
{
    int32_t at = (int32_t)first;

    for (int64_t i = 0; i < blocks * HY_HRPB_BRICKS; i++) {
        const int32_t entries = next[i];
        if (i % HY_HRPB_BRICKS == 0)
            block[i / HY_HRPB_BRICKS].first = at;
        next[i] = at;
        at += entries;
    }
}

/* Copies the values. Those of a brick are ordered by row, then column, as the entries of
   A are. */
#define DEFINE_PLACE(is, T, suffix, ...)                                                 \
    static void place_##suffix(const hy_brick_panel *p, const hy_panel_map *map,         \
                               int32_t *next, T *val)                                    \
    {                                                                                    \
        const int64_t end = hy_offset(p->A, p->row + p->rows);                           \
        const T *from     = p->A->val;                                                   \
                                                                                         \
        for (int64_t k = hy_offset(p->A, p->row); k < end; k++)                          \
            val[next[map->number[hy_cols(p->A)[k] - map->first] / HY_HRPB_BRICK]++] =    \
                from[k];                                                                 \
    }

HY_VALUE_TYPES(DEFINE_PLACE)

static void pack_mapped(const hy_brick_panel *p, int64_t blocks, int64_t first,
                        hy_brick_work *work, hy_hrpb_block *block, void *val)
{
    for (int64_t i = 0; i < blocks; i++)
        memset(block[i].bits, 0, sizeof block[i].bits);
    memset(work->next, 0, (size_t)blocks * HY_HRPB_BRICKS * sizeof *work->next);
    number_columns(p, &work->map, block);
    set_patterns(p, &work->map, block, work->next);
    place_bricks(blocks, first, block, work->next);
    HY_CALL_BY_TYPE(p->A->type, place, p, &work->map, work->next, val);
}

/* ---- by merging -------------------------------------------------------------- */

/* Returns the 16 bits of `rows`, with bit r moved to bit 4 r. */
static uint64_t spread(uint64_t rows)
{
    rows = (rows | rows << 24) & 0x000000ff000000ff;
    rows = (rows | rows << 12) & 0x000f000f000f000f;
    rows = (rows | rows << 6) & 0x0303030303030303;
    return (rows | rows << 3) & 0x1111111111111111;
}

/* Copies the values of the four columns that the panel has just passed (a brick), row by
   row, and returns the place in `to` after them. The values of row r end before entry
   panel->at[r]. */
static char *copy_values(const hy_brick_panel *p, const hy_panel *panel, uint64_t pattern,
                         uint32_t rows, char *to)
{
    const size_t size = hy_value_size(p->A->type);

    for (; rows != 0; rows &= rows - 1) {
        const int r    = __builtin_ctz(rows);
        const int n    = __builtin_popcount((unsigned)(pattern >> (4 * r)) & 15);
        const char *at = (const char *)p->A->val + (size_t)(panel->at[r] - n) * size;
        memcpy(to, at, (size_t)n * size);
        to += (size_t)n * size;
    }
    return to;
}

/* Packs the panel's next four columns into a brick. Returns how many columns there were:
   fewer than four at the end of the panel. */
static int pack_brick(const hy_brick_panel *p, hy_panel *panel, int32_t *col,
                      uint32_t *bits, char **val)
{
    uint64_t pattern = 0;
    uint32_t any     = 0;
    int k            = 0;

    for (; k < HY_HRPB_BRICK; k++) {
        int32_t c;
        const uint32_t rows = hy_panel_next(panel, &c);
        if (rows == 0)
            break;
        col[k] = x_row(p, c);
        pattern |= spread(rows) << k;
        any |= rows;
    }
    bits[0] = (uint32_t)pattern;
    bits[1] = (uint32_t)(pattern >> 32);
    *val    = copy_values(p, panel, pattern, any, *val);
    return k;
}

static void pack_merged(const hy_brick_panel *p, int64_t blocks, int64_t first,
                        hy_hrpb_block *block, void *val)
{
    const size_t size = hy_value_size(p->A->type);
    char *to          = (char *)val + (size_t)first * size;
    hy_panel panel;

    hy_panel_start(p->A, p->row, p->rows, &panel);
    for (hy_hrpb_block *b = block; b < block + blocks; b++) {
        int columns = 0;
        b->first    = (int32_t)((size_t)(to - (char *)val) / size);
        for (int i = 0; i < HY_HRPB_BRICKS; i++)
            columns += pack_brick(p, &panel, b->col + columns, b->bits + 2 * i, &to);
        fill_up(b, columns);
    }
}

void hy_brick_pack(const hy_brick_panel *p, int64_t blocks, int64_t first,
                   hy_brick_work *work, hy_hrpb_block *block, void *val)
{
    if (hy_panel_mark(p->A, p->row, p->rows, &work->map))
        pack_mapped(p, blocks, first, work, block, val);
    else
        pack_merged(p, blocks, first, block, val);
}
