/* gpu/backend/cuda_search.cuh - binary search in offsets and keys. */
#ifndef HY_CUDA_SEARCH_CUH
#define HY_CUDA_SEARCH_CUH

/* Returns the i of [begin, end) with offset[i] <= t < offset[i+1], which must exist.
   Ranges with offset[i] == offset[i+1] are passed over. */
template <typename I> __device__ I hy_owner(const I *offset, I begin, I end, I t)
{
    while (end - begin > 1) {
        const I middle = begin + (end - begin) / 2;
        if (offset[middle] <= t)
            begin = middle;
        else
            end = middle;
    }
    return begin;
}

/* Returns the first i with key[i] >= wanted, or n if there is none. key[0] to key[n-1]
   ascend. */
template <typename K> __device__ int hy_lower_bound(const K *key, int n, K wanted)
{
    int begin = 0;
    while (n > 0) {
        const int half = n / 2;
        if (key[begin + half] < wanted) {
            begin += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return begin;
}

#endif /* HY_CUDA_SEARCH_CUH */
