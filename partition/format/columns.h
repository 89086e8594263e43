/* partition/format/columns.h - the columns that some rows have entries in, in order.

   A bitmap of columns, and a bitmap of its words that are not empty: listing and clearing
   take time for the columns that are there, and little for those that are not. A running
   count before each word turns a column into its number among them. */
#ifndef HY_COLUMNS_H
#define HY_COLUMNS_H

#include "base/contract/context.h"

typedef struct hy_columns {
    int64_t first;   /* column of bit 0 */
    int64_t groups;  /* words of `used` */
    uint64_t *used;  /* bit w: word w of `bits` is not 0 */
    uint64_t *bits;  /* 64 words for each of `used` */
    int32_t *before; /* columns before each word; set by hy_columns_number() */
} hy_columns;

/* Empty, for columns [first, end). To be freed, also after a failure. */
hybrid_status hy_columns_open(hy_context *ctx, int64_t first, int64_t end,
                              hy_columns *out);
void hy_columns_close(hy_context *ctx, hy_columns *c);

/* Number the columns that were added, from 0, and return how many there are. `list` gets
   them, unless it is NULL. */
int64_t hy_columns_number(hy_columns *c, int32_t *list);
void hy_columns_clear(hy_columns *c);

static inline void hy_columns_add(hy_columns *c, int32_t col)
{
    const int64_t bit = col - c->first;

    c->bits[bit / 64] |= (uint64_t)1 << (bit % 64);
    c->used[bit / 4096] |= (uint64_t)1 << (bit / 64 % 64);
}

/* Number of a column that was added. */
static inline int32_t hy_columns_at(const hy_columns *c, int32_t col)
{
    const int64_t bit    = col - c->first;
    const uint64_t below = c->bits[bit / 64] & (((uint64_t)1 << (bit % 64)) - 1);
    return c->before[bit / 64] + __builtin_popcountll(below);
}

#endif /* HY_COLUMNS_H */
