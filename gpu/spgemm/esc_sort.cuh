/* gpu/spgemm/esc_sort.cuh - sorts the scalar products of each row of C by column, and
   adds those with equal columns, for spgemm.cuda.esc and spgemm.cuda.esc_dup.

   A product here is a scalar product. Its row is known, so only its column is a key. The
   number of products of a row decides how it is sorted (cuda_tuning.h):

       short   up to 64      a warp compares all with all               esc_rows.cuh
       medium  up to 4096    a block: radix sort, sum                   cuda_sort.cu
       long    more          all such rows at once, by (row, column)    esc_expand.cuh,
                                                                        esc_compress.cuh

   Every sort is stable and sums follow the order of A's row: results have the same bits
   on every run, whatever the chunks are.

   Scratch of a chunk: 4 + s bytes for each product, where s is the bytes of a value. With
   long rows: twice that, with keys of 4 or 8 bytes, and 4 bytes for the rank of each
   product (esc_work.cuh). */
#ifndef HY_ESC_SORT_CUH
#define HY_ESC_SORT_CUH

#include "gpu/backend/cuda_sort.cuh"
#include "partition/format/pack.h"

/* Maximum number of scalar products of a chunk, of its entries of A, and of its rows:
   32-bit numbers must not overflow at the end of the last tile of HY_ESC_TILE
   products. */
constexpr int64_t HY_ESC_MOST = INT32_MAX - 65536;

/* Returns NULL, or the reason why no chunk can hold the longest row. */
const char *hy_esc_refuse(const hy_features *f, const hy_rates *r);

/* Returns the cost of sorting and compressing a chunk; the caller adds the bytes of the
   pack and the time of reading the operands. */
hy_cost hy_esc_cost(const hy_features *f, const hy_rates *r);

/* Returns the arrays in job->work, and sets *temp to the part of job->work that is
   scratch for scans. The caller sets where scalar products come from: a_* and b_*, or
   expanded, b_col and b_val. */
template <typename T> hy_esc<T> hy_esc_of(const hy_job *job, hy_scratch *temp);

/* Returns UNSUPPORTED if the chunk has too many entries or scalar products for 32-bit
   numbers (HY_ESC_MOST). */
hybrid_status hy_esc_check(hy_lane *lane, const hy_job *job);

/* Puts rows into bins by their number of scalar products and expands the long ones.
   e.start or e.expanded must be set. */
template <typename T>
hybrid_status hy_esc_bin_rows(hy_lane *lane, const hy_job *job, const hy_esc<T> &e);

/* Sorts the scalar products of each row, adds equal columns, stores the rows in job->out,
   and sets *job->out_nnz to their number of entries. */
template <typename T>
hybrid_status hy_esc_finish(hy_lane *lane, const hy_job *job, const hy_esc<T> &e);

#endif /* HY_ESC_SORT_CUH */
