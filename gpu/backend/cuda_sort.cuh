/* gpu/backend/cuda_sort.cuh - prefix sums (scans) and sorts, by the whole device or by
   one thread block.

   All work is enqueued on the lane. No function allocates: scratch comes from the caller,
   and pure functions give an upper bound on its size. */
#ifndef HY_CUDA_SORT_CUH
#define HY_CUDA_SORT_CUH

#include "base/memory/memory.h"
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/spgemm/esc_work.cuh"

struct hy_scratch {
    void *ptr;
    size_t bytes;
};

/* Return upper bounds, in bytes and for every device, on the scratch of a scan of n
   numbers and of a sort of n pairs. */
inline size_t hy_scan_scratch(int64_t n)
{
    return hy_align(8192 + size_t(n) / 16);
}

inline size_t hy_sort_scratch(int64_t n)
{
    return hy_align(65536 + size_t(n) / 2);
}

/* Sets start[k], for k from 0 to nnz, to the number of scalar products of entries 0 to
   k-1 of A. */
hybrid_status hy_scan_products(hy_lane *lane, hy_scratch scratch, const int32_t *a_col,
                               const int64_t *b_row, int nnz, int *start);

/* Sets row_ptr[i], for i from 0 to rows, to count[0] + ... + count[i-1]. */
hybrid_status hy_scan_counts(hy_lane *lane, hy_scratch scratch, const int *count,
                             int rows, int64_t *row_ptr);

/* Sets rank[i] to the number of distinct keys in key[0] to key[i], not counting the key
   `none`. The keys must be sorted. */
template <typename K>
hybrid_status hy_rank_keys(hy_lane *lane, hy_scratch scratch, const K *key, int n, K none,
                           int *rank);

/* Sorts n pairs stably by the low `bits` bits of their keys. The pairs are in key[0] and
   val[0] before and after; key[1] and val[1] are scratch. The call may swap key[0] with
   key[1], and val[0] with val[1]. */
template <typename K, typename T>
hybrid_status hy_sort_pairs(hy_lane *lane, hy_scratch scratch, K *key[2], T *val[2],
                            int n, int bits);

/* Computes the rows of C in every bin in which one thread block computes one row
   (gpu/spgemm/esc_work.cuh): expands their scalar products, sorts these by column and
   sums them. products_max is the maximum number of scalar products of a row. */
template <typename T>
hybrid_status hy_sort_block_rows(hy_lane *lane, const hy_esc<T> &e, int64_t products_max);

#endif /* HY_CUDA_SORT_CUH */
