/* partition/format/panel.h - visits the columns of a row panel (16 rows of A) in
   order. */
#ifndef HY_PANEL_H
#define HY_PANEL_H

#include "base/data/csr.h"

enum {
    HY_PANEL_ROWS = 16,
    HY_PANEL_END  = INT32_MAX,
    HY_MAP_WORDS  = 1 << 11 /* maximum words of the map; each has 64 columns */
};

/* ---- merging: works for every panel ---- */

/* State of a merge of up to 16 rows. Columns ascend in each row, so the panel's next
   column is the minimum of the 16 heads, the next columns of the rows; it belongs to the
   rows that have it as their head. */
typedef struct hy_panel {
    const int32_t *col;          /* column indices of A */
    int32_t head[HY_PANEL_ROWS]; /* next column of each row; HY_PANEL_END at the end of a
                                    row */
    int64_t at[HY_PANEL_ROWS];   /* index in A of the next entry of each row */
    int64_t end[HY_PANEL_ROWS];
} hy_panel;

/* Starts a merge of rows [row, row + rows) of A, at most 16. Other rows of the panel are
   empty. */
static inline void hy_panel_start(const hybrid_csr *A, int64_t row, int64_t rows,
                                  hy_panel *p)
{
    p->col = A->col;
    for (int r = 0; r < HY_PANEL_ROWS; r++) {
        p->at[r]   = r < rows ? hy_offset(A, row + r) : 0;
        p->end[r]  = r < rows ? hy_offset(A, row + r + 1) : 0;
        p->head[r] = p->at[r] < p->end[r] ? hy_cols(A)[p->at[r]] : HY_PANEL_END;
    }
}

/* Advances to the next column in which the panel has entries. Sets *col and returns the
   rows that have it, as bits; returns 0 at the end. */
static inline uint32_t hy_panel_next(hy_panel *p, int32_t *col)
{
    static const uint32_t bit[HY_PANEL_ROWS] = {
        1u << 0, 1u << 1, 1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
        1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15};
    int32_t min = HY_PANEL_END;
    uint32_t rows = 0;

    for (int r = 0; r < HY_PANEL_ROWS; r++)
        min = p->head[r] < min ? p->head[r] : min;
    if (min == HY_PANEL_END)
        return 0;
    for (int r = 0; r < HY_PANEL_ROWS; r++)
        rows |= p->head[r] == min ? bit[r] : 0;
    for (uint32_t left = rows; left != 0; left &= left - 1) {
        const int r     = __builtin_ctz(left);
        const int64_t k = ++p->at[r];
        p->head[r]      = k < p->end[r] ? p->col[k] : HY_PANEL_END;
    }
    *col = min;
    return rows;
}

/* ---- mapping: for panels with columns near each other, several times faster ---- */

/* A bit for each column, set if the panel has entries there, and the number of each such
   column in the panel. */
typedef struct hy_panel_map {
    int64_t first; /* column that bit 0 stands for */
    int words;
    uint64_t bits[HY_MAP_WORDS];
    int32_t number[HY_MAP_WORDS * 64]; /* number of each column whose bit is set; other
                                          elements are undefined */
} hy_panel_map;

/* Marks the columns of rows [row, row + rows) of A, a panel, in `map`, and sets `first`
   and `words`. Returns 0 if the columns are too far apart: the map would take more than
   HY_MAP_WORDS words, or more than four words for each entry. */
static inline int hy_panel_mark(const hybrid_csr *A, int64_t row, int64_t rows,
                                hy_panel_map *map)
{
    const int64_t begin = hy_offset(A, row), end = hy_offset(A, row + rows);
    int32_t min = HY_PANEL_END, max = -1;

    for (int64_t i = row; i < row + rows; i++) {
        const int64_t from = hy_offset(A, i), to = hy_offset(A, i + 1);
        if (from == to)
            continue;
        min = hy_cols(A)[from] < min ? hy_cols(A)[from] : min;
        max  = hy_cols(A)[to - 1] > max ? hy_cols(A)[to - 1] : max;
    }
    const int64_t words = max < 0 ? 0 : max / 64 - min / 64 + 1;
    if (words > HY_MAP_WORDS || words > 4 * (end - begin))
        return 0;
    map->first = min / 64 * 64;
    map->words = (int)words;
    for (int w = 0; w < map->words; w++)
        map->bits[w] = 0;
    for (int64_t k = begin; k < end; k++) {
        const int64_t bit = hy_cols(A)[k] - map->first;
        map->bits[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
    return 1;
}

#endif /* HY_PANEL_H */
