/* gpu/backend/cuda_sort.cuh - scans and sorts, for the device, a block, a stream.

   Everything is enqueued on the lane and allocates nothing: scratch comes from the
   caller, who learns from the pure functions here how much it takes at most. */
#ifndef HY_CUDA_SORT_CUH
#define HY_CUDA_SORT_CUH

#include "base/memory/memory.h"
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/spgemm/esc_work.cuh"

struct hy_scratch {
    void *ptr;
    size_t bytes;
};

/* Scratch of a scan of n numbers, of a sort of n pairs: bounds, the same for every
   device. */
inline size_t hy_scan_scratch(int64_t n)
{
    return hy_align(8192 + size_t(n) / 16);
}

inline size_t hy_sort_scratch(int64_t n)
{
    return hy_align(65536 + size_t(n) / 2);
}

/* start[k] = length of the rows of B that nonzeros 0 .. k-1 of A select; nnz+1. */
hybrid_status hy_scan_products(hy_lane *lane, hy_scratch scratch, const int32_t *a_col,
                               const int64_t *b_row, int nnz, int *start);

/* row_ptr[i] = count[0] + ... + count[i-1]; rows+1. */
hybrid_status hy_scan_counts(hy_lane *lane, hy_scratch scratch, const int *count,
                             int rows, int64_t *row_ptr);

/* rank[i] = distinct keys in the sorted key[0 .. i], not counting `none`. */
template <typename K>
hybrid_status hy_rank_keys(hy_lane *lane, hy_scratch scratch, const K *key, int n, K none,
                           int *rank);

/* Stable sort of n pairs by the low `bits` of their keys. The pairs are in key[0] and
   val[0] before and after; the pointers may have been swapped. */
template <typename K, typename T>
hybrid_status hy_sort_pairs(hy_lane *lane, hy_scratch scratch, K *key[2], T *val[2],
                            int n, int bits);

/* Expand, sort and sum the rows of every bin that a block sorts; products_max is of
   a row. */
template <typename T>
hybrid_status hy_sort_block_rows(hy_lane *lane, const hy_esc<T> &e, int64_t products_max);

#endif /* HY_CUDA_SORT_CUH */
