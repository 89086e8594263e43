/* partition/pattern/count.h - counts entries and scalar products of each row and sums
   them up. */
#ifndef HY_COUNT_H
#define HY_COUNT_H

#include "partition/pattern/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Statistics of all rows of A. row_max, products_max: maximum entries and maximum scalar
   products of a row. */
typedef struct hy_row_counts {
    double squares; /* sum over all rows of (number of entries)^2 */
    int64_t row_max, products_max;
} hy_row_counts;

/* Fills the arrays of `profile`; its sizes must be set. `B` is NULL for SpMM. Workers
   count the scalar products if `counter` is NULL. The caller frees the arrays with
   hy_profile_free(), also after an error. */
hybrid_status hy_count_rows(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                            const hy_counter *counter, hy_profile *profile,
                            hy_row_counts *out);

/* Returns UNSUPPORTED if the scalar products of SpGEMM, or the elements of a dense
   operand or result of SpMM with `dense_cols` columns, exceed 2^60. `products` is the
   number of scalar products. */
hybrid_status hy_count_check(hy_context *ctx, const hybrid_csr *A, int64_t dense_cols,
                             double products);

#ifdef __cplusplus
}
#endif
#endif /* HY_COUNT_H */
