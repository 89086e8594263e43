/* gpu/hash_store.cuh - rows from where they were computed to CSR without gaps. */
#ifndef HY_HASH_STORE_CUH
#define HY_HASH_STORE_CUH

#include "gpu/hash_work.cuh"

/* Every step-th entry of a piece. */
template <typename T>
__device__ void store_piece(const hy_hash<T> &h, int from, int count, int first, int step,
                            int32_t *col, T *val)
{
#pragma unroll 4
    for (int e = first; e < count; e += step) {
        col[e] = h.col[from + e];
        val[e] = h.val[from + e];
    }
}

/* Rows that are not in windows, 2^shift lanes each; the whole block for long ones. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    hash_store_rows(hy_hash<T> h, int shift, const int64_t *row_ptr, int32_t *col, T *val)
{
    const int first = blockIdx.x * (HY_CUDA_THREADS >> shift);
    const int last  = min(first + (HY_CUDA_THREADS >> shift), h.rows);
    const int own   = first + (threadIdx.x >> shift);
    const int most  = HY_HASH_MANY << shift >> 2;
    const int count = own < last && h.row_products[own] > 0 ? h.count[own] : 0;
    if (count > 0 && count <= most)
        store_piece(h, h.place[own], count, threadIdx.x & ((1 << shift) - 1), 1 << shift,
                    col + row_ptr[own], val + row_ptr[own]);
    if (__syncthreads_or(count > most))
        for (int row = first; row < last; row++)
            if (h.row_products[row] > 0 && h.count[row] > most)
                store_piece(h, h.place[row], h.count[row], threadIdx.x, HY_CUDA_THREADS,
                            col + row_ptr[row], val + row_ptr[row]);
}

/* A window at a time, behind the row's windows with lower columns. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    hash_store_windows(hy_hash<T> h, const int64_t *row_ptr, int32_t *col, T *val)
{
    __shared__ int before;
    const int windows = h.counts->windows;
    for (int n = blockIdx.x; n < windows; n += gridDim.x) {
        const hy_window w = h.window[n];
        __syncthreads();
        if (threadIdx.x == 0)
            before = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < w.index; i += HY_CUDA_THREADS)
            atomicAdd(&before, h.window[n - w.index + i].count);
        __syncthreads();
        const int64_t to = row_ptr[w.row] + before;
        store_piece(h, h.place[w.row] + w.at, w.count, threadIdx.x, HY_CUDA_THREADS,
                    col + to, val + to);
    }
}

#endif /* HY_HASH_STORE_CUH */
