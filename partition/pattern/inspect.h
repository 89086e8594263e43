/* partition/pattern/inspect.h - patterns become numbers.

   One parallel pass over A (and the row lengths of B) gives per-row counts; their
   prefix sums then answer any question about a range of rows in constant time. */
#ifndef HY_INSPECT_H
#define HY_INSPECT_H

#include "partition/pattern/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `B` NULL for SpMM with dense_cols columns; `counter` NULL: workers count. Free with
   hy_profile_free(). */
hybrid_status hy_inspect(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                         int64_t dense_cols, const hy_counter *counter, hy_profile *out);
void hy_profile_free(hy_context *ctx, hy_profile *profile);

/* Of an SpMM with dense_cols columns what sizes alone tell: there are no sums, and how long
   rows are is unknown. For a product that is computed in one chunk. */
hybrid_status hy_inspect_sizes(hy_context *ctx, const hybrid_csr *A, int64_t dense_cols,
                               hy_profile *out);

/* Features of rows [begin, end) and `cols` columns of the result. Row statistics and
   maxima of the whole matrix stand in for the range's, except that row_max and
   products_max never exceed the range's totals. gather_* are 0. Without sums, of all rows. */
hy_features hy_profile_range(const hy_profile *profile, int64_t begin, int64_t end,
                             int64_t cols);

/* The same of rows [begin, end) alone; borrows the sums. */
hy_profile hy_profile_narrow(const hy_profile *profile, int64_t begin, int64_t end);

/* What the packed formats of a device ask of A, which hy_inspect() leaves 0: tile_fill,
   and block_* when the result has one column and `blocks` are asked for, which takes longer
   than many a product. */
hybrid_status hy_inspect_fill(hy_context *ctx, const hybrid_csr *A, int blocks,
                              hy_profile *profile);

/* ratio.c: hy_features.out_ratio of A*B, from rows of C; `profile` has its sums. */
hybrid_status hy_estimate_ratio(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                const hy_profile *profile, double *ratio);

/* SpGEMM: entries of C, as that estimate has it. */
static inline double hy_expected_entries(const hy_features *f)
{
    const double expected = (double)f->products / f->out_ratio;

    return expected < (double)f->out_bound ? expected : (double)f->out_bound;
}

/* tiles.c: hy_features.tile_fill of A, from evenly spaced panels of rows. */
hybrid_status hy_tile_fill(hy_context *ctx, const hybrid_csr *A, double *fill);

/* How long one core would take for that, in seconds. */
double hy_tile_fill_s(const hybrid_csr *A);

/* How well it lets tensor cores be used: "low", "medium" or "high", the classes of
   cuTeSpMM (section 6.4). Static. */
const char *hy_synergy_class(double tile_fill);

/* blocks.c: hy_features.block_* of A, from evenly spaced block rows. */
hybrid_status hy_block_fill(hy_context *ctx, const hybrid_csr *A, hy_features *out);

#ifdef __cplusplus
}
#endif
#endif /* HY_INSPECT_H */
