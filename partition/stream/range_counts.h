/* partition/stream/range_counts.h - counts the scalar products of a range of rows, without
   storing them. */
#ifndef HY_RANGE_COUNTS_H
#define HY_RANGE_COUNTS_H

#include "partition/pattern/lengths.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_range_counts {
    int64_t products;     /* scalar products */
    int64_t products_max; /* largest number of scalar products of a row */
    int64_t row_max;      /* largest number of entries of a row */
    int64_t bound;        /* sum over rows of min(scalar products, columns of B) */
    int64_t first, end;   /* entries lie in columns [first, end) of A; without entries
                             `first` is the number of columns and `end` is 0 */
} hy_range_counts;

/* Returns the counts of rows [begin, end) of A in A*B. `lengths` has the lengths of the
   rows of B, and B has `out_cols` columns. Pure. */
hy_range_counts hy_count_range(const hybrid_csr *A, const hy_lengths *lengths,
                               int64_t out_cols, int64_t begin, int64_t end);

/* Sets *rows to the number of rows of B that rows [begin, end) of A touch, and *entries
   to the number of their entries. Runs in the calling thread. */
hybrid_status hy_count_touched(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                               int64_t begin, int64_t end, int64_t *rows,
                               int64_t *entries);

#ifdef __cplusplus
}
#endif
#endif /* HY_RANGE_COUNTS_H */
