/* partition/stream/sampled.h - a profile of A*B whose scalar products are estimated.

   Counting the scalar products of all rows reads all of A, which takes a tenth of a
   product and more if rows of B are short. A profile that is sampled reads the offsets of
   A and B and one block of HY_ENDS_ROWS rows in HY_SAMPLED_BLOCKS. The block stands for
   the rows around it: they have as many scalar products for each entry, and their entries
   lie as far from the diagonal. Chunks that are cut with such a profile are estimates,
   too. The run counts their rows before they begin (pipeline/run/refine.h). */
#ifndef HY_SAMPLED_H
#define HY_SAMPLED_H

#include "partition/pattern/count.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HY_SAMPLED_BLOCKS = 32 };

/* Fills the arrays of `profile`, whose sizes must be set: nnz exactly, the others with
   estimates. If the offsets of A are 64-bit numbers, nnz is their array, so the profile
   must not outlive A. Keeps the lengths of B's rows in the profile. out->products_max is the
   largest number of the sample. *suits is 0, and the arrays are undefined, if (longest
   row of A) * (longest row of B) exceeds the columns of B, because with rows so long a
   sample tells too little, or if the scalar products might be too many for
   hy_count_check(). The caller frees the arrays with hy_profile_free(), also after an
   error. */
hybrid_status hy_sample_rows(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                             hy_profile *profile, hy_row_counts *out, int *suits);

#ifdef __cplusplus
}
#endif
#endif /* HY_SAMPLED_H */
