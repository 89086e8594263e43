/* partition/pattern/count.h - entries and products of each row, counted and summed up. */
#ifndef HY_COUNT_H
#define HY_COUNT_H

#include "partition/pattern/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the rows of A. */
typedef struct hy_row_counts {
    double squares; /* sum of their lengths' */
    int64_t row_max, products_max;
} hy_row_counts;

/* Make the arrays of `profile`, whose sizes are set. B NULL: SpMM; counter NULL: workers
   count. hy_profile_free() frees them, also after an error. */
hybrid_status hy_count_rows(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                            const hy_counter *counter, hy_profile *profile,
                            hy_row_counts *out);

/* Refuse what cannot be counted in 63 bits: so many scalar products of SpGEMM, or a dense
   operand or result of SpMM with so many columns. */
hybrid_status hy_count_check(hy_context *ctx, const hybrid_csr *A, int64_t dense_cols,
                             double products);

#ifdef __cplusplus
}
#endif
#endif /* HY_COUNT_H */
