/* partition/pattern/inspect.h - turns the patterns of the operands into numbers.

   One parallel pass over A (and the row lengths of B) gives counts per row. Their prefix
   sums then describe any range of rows in constant time. */
#ifndef HY_INSPECT_H
#define HY_INSPECT_H

#include "partition/pattern/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inspects A and B, or A and a dense X with `dense_cols` columns if `B` is NULL. Workers
   count the scalar products if `counter` is NULL. Free `out` with hy_profile_free(). */
hybrid_status hy_inspect(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                         int64_t dense_cols, const hy_counter *counter, hy_profile *out);

/* Inspects A and B of an SpGEMM by a sample (partition/stream/sampled.h).
   features.products, out_bound and products_max are estimates. *suits becomes 1, or 0 if
   a sample tells too little; then there is no profile. */
hybrid_status hy_inspect_sample(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                hy_profile *out, int *suits);

/* Fills `out` for an SpMM with dense_cols columns from the sizes alone: there are no
   prefix sums, and the lengths of rows are unknown. This suffices for a product of one
   chunk. */
hybrid_status hy_inspect_sizes(hy_context *ctx, const hybrid_csr *A, int64_t dense_cols,
                               hy_profile *out);

/* Returns the features of rows [begin, end) with `cols` columns of the result. Row
   statistics are those of the whole matrix; row_max and products_max are limited to the
   totals of the range. gather_rows and gather_nnz are 0. Without prefix sums the features
   are those of all rows. */
hy_features hy_profile_range(const hy_profile *profile, int64_t begin, int64_t end,
                             int64_t cols);

/* Returns the profile of rows [begin, end), which shares the prefix sums of `profile` and
   must not be freed. */
hy_profile hy_profile_narrow(const hy_profile *profile, int64_t begin, int64_t end);

/* Sets the features that only packed device formats need and that hy_inspect() leaves 0:
   tile_fill; also block_* (how well A fits blocks of r x c) if the result has one column
   and `blocks` is 1. Finding block_* takes longer than many products do. */
hybrid_status hy_inspect_fill(hy_context *ctx, const hybrid_csr *A, int blocks,
                              hy_profile *profile);

/* ratio.c: estimates hy_features.out_ratio (scalar products / entries of C) of A*B from
   sampled rows of C. `profile` must have its prefix sums. */
hybrid_status hy_estimate_ratio(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                const hy_profile *profile, double *ratio);

/* SpGEMM: returns the expected number of entries of C, at most out_bound. */
static inline double hy_expected_entries(const hy_features *f)
{
    const double expected = (double)f->products / f->out_ratio;

    return expected < (double)f->out_bound ? expected : (double)f->out_bound;
}

/* tiles.c: estimates hy_features.tile_fill of A (entries / (16 x non-empty columns) of a
   row panel) from evenly spaced row panels. */
hybrid_status hy_tile_fill(hy_context *ctx, const hybrid_csr *A, double *fill);

/* Returns the predicted duration of hy_tile_fill() on one core, in seconds. */
double hy_tile_fill_s(const hybrid_csr *A);

/* Returns how well A uses tensor cores, by the classes of cuTeSpMM (section 6.4): "low",
   "medium" or "high". The string is static. */
const char *hy_synergy_class(double tile_fill);

/* blocks.c: sets hy_features.block_* (the best shape of blocks of A, and the fill of all
   shapes) from evenly spaced block rows. */
hybrid_status hy_block_fill(hy_context *ctx, const hybrid_csr *A, hy_features *out);

#ifdef __cplusplus
}
#endif
#endif /* HY_INSPECT_H */
