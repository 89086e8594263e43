/* gpu/spgemm/hash_dense.cuh - long rows of C: windows of columns, dense in shared memory.

   A window is a range of columns of one row (hash_work.cuh). A thread block has a value
   for each of its columns and a bit for each column that exists. Any block may compute
   any window of a row: the begin of the window in each row of B is found by search. The
   threads of a block add with atomics, in any order. */
#ifndef HY_HASH_DENSE_CUH
#define HY_HASH_DENSE_CUH

#include "gpu/spgemm/hash_walk.cuh"

/* Returns the first entry of [begin, end) of B with a column >= wanted, or `end` if there
   is none. The columns of these entries must ascend. */
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

/* Up to HY_HASH_TILE entries of A select a row of B each. Piece i is the part of row i of
   these that lies in the window. A piece is cut into slices of 2^slice entries, which
   groups of threads take (hash_walk.cuh). */
struct hash_pieces {
    int before[HY_HASH_TILE]; /* before[i]: number of slices of pieces 0 to i-1 */
    int skip[HY_HASH_TILE];   /* skip[i]: entries of row i of B before its piece */
    int length[HY_HASH_TILE];
};

/* Finds the pieces (see hash_pieces) of entries [first, first + count) of A, and returns
   the number of their slices. One thread searches for the beginning of a piece, its
   neighbour for the end. */
template <typename T>
__device__ int find_pieces(const hy_hash<T> &h, const hy_window &w, int first, int count,
                           int slice, hash_pieces *p)
{
    static_assert(HY_HASH_DENSE_THREADS == 2 * HY_HASH_TILE, "two threads a nonzero");
    const int i = threadIdx.x / 2, end = threadIdx.x % 2;
    int at = 0;
    if (i < count) {
        const hy_span s = h.span[first + i];
        at = int(first_from(h.b_col, s.begin, s.end, w.low + int64_t(end) * w.width) -
                 s.begin);
    }
    const int next = __shfl_down_sync(HY_ALL, at, 1);
    __syncthreads(); /* until here, threads may walk the previous pieces in *p */
    if (!end) {
        p->skip[i]   = at;
        p->length[i] = next - at;
    }
    return number_slices<HY_HASH_DENSE_THREADS>(end ? 0 : next - at, slice,
                                                end ? nullptr : &p->before[i]);
}

template <typename T>
__device__ void add_window(const hy_hash<T> &h, const hy_window &w, hash_pieces *p,
                           unsigned *bits, T *val)
{
    const int begin = int(h.a_row[w.row]), count = int(h.a_row[w.row + 1]) - begin;
    const int64_t columns = int64_t(h.range[w.row].y) - h.range[w.row].x + 1;
    const double share    = min(1.0, double(w.width) / double(columns));
    const hash_walk walk =
        slices_of<HY_HASH_DENSE_THREADS>(int(-h.row_products[w.row] * share), count);

    for (int done = 0; done < count; done += HY_HASH_TILE) {
        const int first = begin + done, some = min(count - done, int(HY_HASH_TILE));
        const int slices    = find_pieces(h, w, first, some, walk.slice, p);
        const auto piece_of = [&](int i) {
            const int64_t from = h.span[first + i].begin + p->skip[i];
            return hy_span{from, from + p->length[i]};
        };
        walk_some<true, HY_HASH_DENSE_THREADS>(
            h, walk, first, some, slices, p->before, piece_of,
            [&](int32_t col, T product) {
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

/* Stores the entries of the window, if h.col has room, behind those that were stored
   earlier, whatever their columns; hash_store.cuh puts the windows of a row in order
   later. `before` is scratch, an element for each 32 columns of the window. */
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
        const int earlier = atomicAdd(&h.count[w->row], total);
        at       = h.late ? hy_hash_reserve(h, total) : h.place[w->row] + earlier;
        w->at    = at;
        w->count = total;
    }
    __syncthreads();
    const int place = at, low = w->low;
    if (!hy_hash_holds(h, place, total))
        return;
    for (int n = threadIdx.x / 32; n < words; n += HY_HASH_DENSE_THREADS / 32) {
        const unsigned own = bits[n];
        if (own >> lane & 1) {
            const int e = place + before[n] + __popc(own & hy_below(lane));
            h.col[e]    = low + n * 32 + lane;
            h.val[e]    = val[n * 32 + lane];
        }
    }
}

template <typename T>
__global__ void __launch_bounds__(HY_HASH_DENSE_THREADS, 1) hash_windows(hy_hash<T> h)
{
    extern __shared__ hy_span hash_window_shared[];
    __shared__ hash_pieces pieces;
    __shared__ int next;
    const int windows = h.counts->windows;
    T *const val      = reinterpret_cast<T *>(hash_window_shared);

    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0)
            next = atomicAdd(&h.counts->windows_taken, 1);
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

        add_window(h, w, &pieces, bits, val);
        __syncthreads();
        emit_window(h, own, bits, before, val);
    }
}

#endif /* HY_HASH_DENSE_CUH */
