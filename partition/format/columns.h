/* partition/format/columns.h - a set of columns, for example those in which some rows of
   A have entries.

   The set is a bitmap of columns plus a bitmap of the non-empty words of the first, so
   listing and clearing take time mainly for columns in the set. The number of columns
   before each word turns a column into its number in the set. */
#ifndef HY_COLUMNS_H
#define HY_COLUMNS_H

#include "base/contract/context.h"

typedef struct hy_columns {
    int64_t first;   /* column that bit 0 of `bits` stands for */
    int64_t groups;  /* number of words in `used` */
    uint64_t *used;  /* bit w is set if word w of `bits` is not 0 */
    uint64_t *bits;  /* 64 words for each word of `used`: a bit for each column */
    int32_t *before; /* number of columns of the set before each word; set by
                        hy_columns_number() */
} hy_columns;

/* Makes an empty set for columns [first, end). The caller closes it, also after a
   failure. */
hybrid_status hy_columns_open(hy_context *ctx, int64_t first, int64_t end,
                              hy_columns *out);
void hy_columns_close(hy_context *ctx, hy_columns *c);

/* Numbers the columns of the set from 0 in ascending order and returns how many there
   are. Writes them to `list` unless it is NULL. */
int64_t hy_columns_number(hy_columns *c, int32_t *list);
void hy_columns_clear(hy_columns *c);

static inline void hy_columns_add(hy_columns *c, int32_t col)
{
    const int64_t bit = col - c->first;

    c->bits[bit / 64] |= (uint64_t)1 << (bit % 64);
    c->used[bit / 4096] |= (uint64_t)1 << (bit / 64 % 64);
}

/* Returns the number that hy_columns_number() gave to a column of the set. */
static inline int32_t hy_columns_at(const hy_columns *c, int32_t col)
{
    const int64_t bit    = col - c->first;
    const uint64_t below = c->bits[bit / 64] & (((uint64_t)1 << (bit % 64)) - 1);
    return c->before[bit / 64] + __builtin_popcountll(below);
}

#endif /* HY_COLUMNS_H */
