/* partition/pattern/touched.h - numbers the columns, or the rows, of A that have entries.

   A bitmap has a bit for each index, set if the row or column has entries. The number of
   set bits before each word of the bitmap turns an index into its new number with two
   loads and one count of bits. The order of indices is kept. */
#ifndef HY_TOUCHED_H
#define HY_TOUCHED_H

#include "base/contract/context.h"

typedef struct hy_touched {
    int64_t first; /* row or column of A that bit 0 stands for; a multiple of 64 */
    int64_t words;
    uint64_t *bits;
    int32_t *before; /* number of set bits before each word of the bitmap */
    int64_t count;
    int32_t *rows; /* rows or columns of the set bits, ascending. NULL if no bit is set or
                      if hy_touched_list() was not called. */
} hy_touched;

/* Finds the columns that have entries in rows [begin, end) of A, in parallel. The caller
   frees `out`, also after a failure. */
hybrid_status hy_touched_find(hy_context *ctx, const hybrid_csr *A, int64_t begin,
                              int64_t end, hy_touched *out);

/* hy_touched_cols() and hy_touched_rows() find all columns, or all rows, of A that have
   entries, and count them; A must have fewer than 2^31 of them. hy_touched_list() adds
   the list `rows` of their indices. All run in parallel. The caller frees the result,
   also after a failure. */
hybrid_status hy_touched_cols(hy_context *ctx, const hybrid_csr *A, hy_touched *out);
hybrid_status hy_touched_rows(hy_context *ctx, const hybrid_csr *A, hy_touched *out);
hybrid_status hy_touched_list(hy_context *ctx, hy_touched *touched);

void hy_touched_free(hy_context *ctx, hy_touched *touched);

/* Returns the new number of column `col` of A, which must have entries. */
static inline __attribute__((always_inline)) int32_t
hy_renumbered(const hy_touched *t, int32_t col)
{
    const int64_t bit    = col - t->first;
    const uint64_t below = t->bits[bit / 64] & (((uint64_t)1 << (bit % 64)) - 1);
    return t->before[bit / 64] + __builtin_popcountll(below);
}

/* Sets out[i] to the new number of column col[i], for i < count. All these columns must
   have entries. */
void hy_renumber(const hy_touched *touched, const int32_t *col, int64_t count,
                 int32_t *out);

#endif /* HY_TOUCHED_H */
