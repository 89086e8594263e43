/* gpu/hash_dense.cuh - long rows: windows of columns, dense in shared memory.

   A window has a value for each of its columns and a bit for those that exist. Any block
   may do any window of a row: where the window starts in a row of B is searched for.
   Blocks add with atomics, in any order. */
#ifndef HY_HASH_DENSE_CUH
#define HY_HASH_DENSE_CUH

#include "gpu/hash_work.cuh"

/* The first entry of [begin, end) of B from which on columns are >= wanted. */
__device__ inline int64_t first_from(const int32_t *col, int64_t begin, int64_t end,
                                     int64_t wanted)
{
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (col[middle] < wanted)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The products of `count` nonzeros of A, at most 32, from k0 on, by a warp. 2^shift lanes
   take a nonzero. */
template <typename T>
__device__ void add_window(const hy_hash<T> &h, const hy_window &w, int k0, int count,
                           int shift, unsigned *bits, T *val)
{
    const int lane = threadIdx.x % 32, part = lane & ((1 << shift) - 1);
    const int64_t high = int64_t(w.low) + w.width;
    hy_span piece      = {0, 0};
    T a                = 0;
    if (lane < count) {
        const hy_span s = h.span[k0 + lane];
        piece.begin     = first_from(h.b_col, s.begin, s.end, w.low);
        piece.end       = first_from(h.b_col, piece.begin, s.end, high);
        a               = h.a_val[k0 + lane];
    }
    for (int i = 0; i < count; i += HY_HASH_AHEAD * (32 >> shift)) {
        hy_span s[HY_HASH_AHEAD];
        T factor[HY_HASH_AHEAD];
#pragma unroll
        for (int u = 0; u < HY_HASH_AHEAD; u++) { /* lanes from count on have nothing */
            const int from = i + u * (32 >> shift) + (lane >> shift);
            s[u].begin     = __shfl_sync(HY_ALL, piece.begin, from % 32);
            s[u].end       = __shfl_sync(HY_ALL, piece.end, from % 32);
            factor[u]      = __shfl_sync(HY_ALL, a, from % 32);
            if (from >= 32)
                s[u] = {0, 0};
        }
        walk_spans<true>(h, s, factor, part, shift, [&](int32_t col, T product) {
            if (col < 0)
                return;
            const int at       = col - w.low;
            const unsigned own = 1u << at % 32;
            if (!(*(volatile unsigned *)&bits[at / 32] & own))
                atomicOr(&bits[at / 32], own);
            atomicAdd(&val[at], product);
        });
    }
}

/* Entries of the window into the row's place, behind those of windows done before: the
   order of a row's windows is mended when they are stored. */
template <typename T>
__device__ void emit_window(const hy_hash<T> &h, hy_window *w, const unsigned *bits,
                            int *before, const T *val)
{
    __shared__ int at;
    const int words = w->width / 32, lane = threadIdx.x % 32;
    int total = 0;
    for (int i = 0; i < words; i += HY_HASH_DENSE_THREADS) {
        const int n = i + threadIdx.x;
        int sum;
        const int rank =
            block_scan<HY_HASH_DENSE_THREADS>(n < words ? __popc(bits[n]) : 0, &sum);
        if (n < words)
            before[n] = total + rank;
        total += sum;
    }
    if (threadIdx.x == 0) {
        at       = atomicAdd(&h.count[w->row], total);
        w->at    = at;
        w->count = total;
    }
    __syncthreads();
    const int place = h.place[w->row] + at, low = w->low;
    for (int n = threadIdx.x / 32; n < words; n += HY_HASH_DENSE_THREADS / 32) {
        const unsigned own = bits[n];
        if (own >> lane & 1) {
            const int e = place + before[n] + __popc(own & hy_below(lane));
            h.col[e]    = low + n * 32 + lane;
            h.val[e]    = val[n * 32 + lane];
        }
    }
}

/* A window at a time. */
template <typename T>
__global__ void __launch_bounds__(HY_HASH_DENSE_THREADS, 1) hash_windows(hy_hash<T> h)
{
    constexpr int WARPS = HY_HASH_DENSE_THREADS / 32;
    extern __shared__ hy_span hash_window_shared[];
    __shared__ int next, taken;
    const int windows = h.counts->windows;
    T *const val      = reinterpret_cast<T *>(hash_window_shared);

    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            next  = atomicAdd(&h.counts->windows_taken, 1);
            taken = 0;
        }
        __syncthreads();
        if (next >= windows)
            break;
        hy_window *const own = &h.window[next];
        const hy_window w    = *own;
        unsigned *const bits = reinterpret_cast<unsigned *>(val + w.width);
        int *const before    = reinterpret_cast<int *>(bits + w.width / 32);
        for (int i = threadIdx.x; i < w.width; i += HY_HASH_DENSE_THREADS)
            val[i] = 0;
        for (int i = threadIdx.x; i < w.width / 32; i += HY_HASH_DENSE_THREADS)
            bits[i] = 0;
        __syncthreads();

        const int begin = int(h.a_row[w.row]), count = int(h.a_row[w.row + 1]) - begin;
        const int each        = min(max(count / (4 * WARPS), HY_HASH_AHEAD), 32);
        const int64_t columns = int64_t(h.range[w.row].y) - h.range[w.row].x + 1;
        const double piece    = double(-h.row_products[w.row]) / count *
                             min(1.0, double(w.width) / double(columns));
        int shift = 2;
        while (shift < 5 && double(1 << shift) < piece)
            shift++;
        for (;;) {
            int k = 0;
            if (threadIdx.x % 32 == 0)
                k = atomicAdd(&taken, each);
            k = __shfl_sync(HY_ALL, k, 0);
            if (k >= count)
                break;
            add_window(h, w, begin + k, min(each, count - k), shift, bits, val);
        }
        __syncthreads();
        emit_window(h, own, bits, before, val);
    }
}

#endif /* HY_HASH_DENSE_CUH */
