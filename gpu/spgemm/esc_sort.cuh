/* gpu/spgemm/esc_sort.cuh - products of known rows become rows of C: the partial sort and
   the compress of spgemm.cuda.esc and spgemm.cuda.esc_dup.

   A product's row is known, so only its column is a key; how to sort depends on how
   many products a row has (cuda_tuning.h):
     short   up to 64      a warp compares all with all               esc_rows.cuh
     medium  up to 4096    a block: radix sort, sum                   cuda_sort.cu
     long    more          all such rows at once, by (row, column)    esc_expand.cuh,
                                                                      esc_compress.cuh
   Every sort is stable and sums run in the order of A's row: the same bits on every run,
   whatever the chunks.

   Scratch of a chunk: (4 + s) bytes a product, s bytes a value; with long rows twice
   that, with keys of 4 or 8 bytes, and 4 bytes a product of ranks. */
#ifndef HY_ESC_SORT_CUH
#define HY_ESC_SORT_CUH

#include "gpu/backend/cuda_sort.cuh"
#include "partition/format/pack.h"

/* So that 32-bit numbers of products do not overflow at the end of the last tile. */
constexpr int64_t HY_ESC_MOST = INT32_MAX - 65536;

/* NULL, or why no chunk can hold the longest row. */
const char *hy_esc_refuse(const hy_features *f, const hy_rates *r);

/* Of what is declared here; no operands. */
hy_cost hy_esc_cost(const hy_features *f, const hy_rates *r);

/* The parts of job->work, of which `temp` is for scans. Where products come from (a_*,
   b_*, or expanded, b_col and b_val) is left to the caller. */
template <typename T> hy_esc<T> hy_esc_of(const hy_job *job, hy_scratch *temp);

/* Whether 32 bits number what the chunk has. */
hybrid_status hy_esc_check(hy_lane *lane, const hy_job *job);

/* Put rows in bins by their products, and expand the long ones. Reads start. */
template <typename T>
hybrid_status hy_esc_bin_rows(hy_lane *lane, const hy_job *job, const hy_esc<T> &e);

/* Sort, add, store in job->out, and set *job->out_nnz. */
template <typename T>
hybrid_status hy_esc_finish(hy_lane *lane, const hy_job *job, const hy_esc<T> &e);

#endif /* HY_ESC_SORT_CUH */
