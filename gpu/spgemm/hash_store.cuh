/* gpu/spgemm/hash_store.cuh - moves computed rows of C to CSR without gaps. */
#ifndef HY_HASH_STORE_CUH
#define HY_HASH_STORE_CUH

#include "gpu/spgemm/hash_work.cuh"

/* Copies entries first, first + step and so on, up to `count`, of a row to `col` and
   `val`. The row begins at index `from` of h.col and h.val. Threads that share the row
   have different numbers `first`. */
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

/* A warp moves the entries of up to 32 rows. Each lane describes one row: `count` entries
   from index `from` of h.col and h.val to index `to` of `col` and `val`. The entries form
   one list that the lanes share evenly, however long the rows are. */
template <typename T>
__device__ void store_warp(const hy_hash<T> &h, int count, int64_t from, int64_t to,
                           int32_t *col, T *val)
{
    constexpr int IN_FLIGHT = 4;
    const int lane          = threadIdx.x % 32;
    int total;
    const int before = warp_scan(count, &total);
    from -= before;
    to -= before;
    for (int base = 0; base < total; base += 32 * IN_FLIGHT) {
        int32_t c[IN_FLIGHT];
        T v[IN_FLIGHT];
        int64_t target[IN_FLIGHT];
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++) {
            const int e = base + u * 32 + lane;
            int row     = 0; /* the last row of the warp whose entries begin at number e
                                of the list or before */
            for (int d = 16; d > 0; d /= 2)
                if (__shfl_sync(HY_ALL, before, row + d) <= e)
                    row += d;
            const int64_t source = __shfl_sync(HY_ALL, from, row) + e;
            target[u]            = __shfl_sync(HY_ALL, to, row) + e;
            if (e < total) {
                c[u] = h.col[source];
                v[u] = h.val[source];
            }
        }
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++)
            if (base + u * 32 + lane < total) {
                col[target[u]] = c[u];
                val[target[u]] = v[u];
            }
    }
}

/* Returns true if h.col and h.val have all entries of C. */
template <typename T> __device__ bool has_all(const hy_hash<T> &h)
{
    return h.counts->used <= h.entries;
}

/* Moves rows that are not cut into windows (ranges of columns), unless h.col had no room
   for all entries. A warp takes `rows` neighbouring rows, at most 32; the whole block
   takes rows of more than HY_HASH_STORE_MANY entries. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    hash_store_rows(hy_hash<T> h, int rows, const int64_t *row_ptr, int32_t *col, T *val)
{
    if (!has_all(h))
        return;
    const int first = blockIdx.x * (HY_CUDA_THREADS / 32) * rows;
    const int last  = min(first + (HY_CUDA_THREADS / 32) * rows, h.rows);
    const int lane  = threadIdx.x % 32;
    const int own   = first + threadIdx.x / 32 * rows + lane;
    const bool real = lane < rows && own < last && h.row_products[own] > 0;
    const int count = real ? h.count[own] : 0;
    const bool many = count > HY_HASH_STORE_MANY;
    store_warp(h, many ? 0 : count, real ? h.place[own] : 0, real ? row_ptr[own] : 0, col,
               val);
    if (__syncthreads_or(many))
        for (int row = first; row < last; row++)
            if (h.row_products[row] > 0 && h.count[row] > HY_HASH_STORE_MANY)
                store_piece(h, h.place[row], h.count[row], threadIdx.x, HY_CUDA_THREADS,
                            col + row_ptr[row], val + row_ptr[row]);
}

/* Moves the entries of one window (range of columns) of a row at a time, to their place
   behind the windows of the row that have lower columns. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    hash_store_windows(hy_hash<T> h, const int64_t *row_ptr, int32_t *col, T *val)
{
    __shared__ int before;
    const int windows = has_all(h) ? h.counts->windows : 0;
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
        store_piece(h, w.at, w.count, threadIdx.x, HY_CUDA_THREADS, col + to, val + to);
    }
}

#endif /* HY_HASH_STORE_CUH */
