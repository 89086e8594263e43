/* partition/pattern/touched.h - which rows of B or X some rows of A touch, and which of
   its rows touch any, numbered anew.

   A bitmap says which, and a running count before each word of it turns a column into
   its new number with two loads and one population count. Columns that ascend still
   ascend when renumbered. */
#ifndef HY_TOUCHED_H
#define HY_TOUCHED_H

#include "base/contract/context.h"

typedef struct hy_touched {
    int64_t first; /* column of bit 0: a multiple of 64 */
    int64_t words;
    uint64_t *bits;
    int32_t *before; /* rows touched before each word */
    int64_t count;
    int32_t *rows; /* the touched ones, ascending; NULL if there are none, or nobody asked */
} hy_touched;

/* Columns that occur in rows [begin, end) of A. In parallel. `out` is to be freed,
   also after a failure. */
hybrid_status hy_touched_find(hy_context *ctx, const hybrid_csr *A, int64_t begin,
                              int64_t end, hy_touched *out);

/* All columns of A that have entries, or all rows, fewer than 2^31: bits and counts; and
   what they are as a list. In parallel. To be freed like the others. */
hybrid_status hy_touched_cols(hy_context *ctx, const hybrid_csr *A, hy_touched *out);
hybrid_status hy_touched_rows(hy_context *ctx, const hybrid_csr *A, hy_touched *out);
hybrid_status hy_touched_list(hy_context *ctx, hy_touched *touched);

void hy_touched_free(hy_context *ctx, hy_touched *touched);

/* New number of a column that occurs. */
static inline __attribute__((always_inline)) int32_t
hy_renumbered(const hy_touched *t, int32_t col)
{
    const int64_t bit    = col - t->first;
    const uint64_t below = t->bits[bit / 64] & (((uint64_t)1 << (bit % 64)) - 1);
    return t->before[bit / 64] + __builtin_popcountll(below);
}

/* The same of `count` columns. */
void hy_renumber(const hy_touched *touched, const int32_t *col, int64_t count,
                 int32_t *out);

#endif /* HY_TOUCHED_H */
