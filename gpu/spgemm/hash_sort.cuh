/* gpu/spgemm/hash_sort.cuh - short rows: a part of a warp expands and sorts them in
   registers.

   LANES threads of a warp (lanes) compute a row. A key is (column, number of the scalar
   product). Equal columns therefore stay in the order of A's row, sums are the same on
   every run, and values need not move with the keys. */
#ifndef HY_HASH_SORT_CUH
#define HY_HASH_SORT_CUH

#include "gpu/spgemm/hash_work.cuh"

template <typename K> __device__ void order(K &a, K &b)
{
    const K low = min(a, b);
    b           = max(a, b);
    a           = low;
}

/* Bitonic sort of LANES * ITEMS keys, which LANES threads hold. Before and after, lane l
   holds the keys from l * ITEMS on. The first step of each merge compares mirrored
   positions, so that every pair is put in ascending order. */
template <int LANES, int ITEMS, typename K>
__device__ void lanes_sort(K (&key)[ITEMS], int lane)
{
#pragma unroll
    for (int size = 2; size <= LANES * ITEMS; size *= 2)
#pragma unroll
        for (int step = size / 2; step > 0; step /= 2) {
            const int flip = step == size / 2 ? size - 1 : step;
            if (step < ITEMS) {
#pragma unroll
                for (int j = 0; j < ITEMS; j++)
                    if ((j ^ flip) > j)
                        order(key[j], key[j ^ flip]);
                continue;
            }
            const bool low = !(lane & step / ITEMS);
            K other[ITEMS];
#pragma unroll
            for (int j = 0; j < ITEMS; j++)
                other[j] = __shfl_xor_sync(HY_ALL, key[j ^ (flip % ITEMS)], flip / ITEMS);
#pragma unroll
            for (int j = 0; j < ITEMS; j++)
                key[j] = low ? min(key[j], other[j]) : max(key[j], other[j]);
        }
}

/* Writes keys and values of the scalar products of a row to shared memory and returns
   their number. LANES entries of A are expanded at a time, and their products are shared
   out evenly among the lanes. */
template <typename T, int LANES, int BITS, typename K>
__device__ int lanes_expand(const hy_hash<T> &h, int first, int last, int lane, K *key,
                            T *val)
{
    constexpr int IN_FLIGHT = 4;
    int done                = 0;
    for (int base = first; __any_sync(HY_ALL, base < last); base += LANES) {
        const int k = base + lane;
        hy_span s   = {0, 0};
        T a         = 0;
        if (k < last)
            s = h.span[k], a = h.a_val[k];
        const int length = int(s.end - s.begin);
        int upto         = length;
        for (int d = 1; d < LANES; d *= 2) {
            const int left = __shfl_up_sync(HY_ALL, upto, d, LANES);
            if (lane >= d)
                upto += left;
        }
        const int before    = upto - length;
        const int total     = __shfl_sync(HY_ALL, upto, LANES - 1, LANES);
        const int64_t shift = s.begin - before; /* scalar product t of the row uses entry
                                                   t + shift of B */

        for (int from = 0; __any_sync(HY_ALL, from < total); from += IN_FLIGHT * LANES) {
            int32_t col[IN_FLIGHT];
            T v[IN_FLIGHT];
#pragma unroll
            for (int u = 0; u < IN_FLIGHT; u++) {
                const int t = from + u * LANES + lane;
                int owner   = 0;
                for (int d = LANES / 2; d > 0; d /= 2)
                    if (__shfl_sync(HY_ALL, before, owner + d, LANES) <= t)
                        owner += d;
                const int64_t b = __shfl_sync(HY_ALL, shift, owner, LANES) + t;
                const T factor  = __shfl_sync(HY_ALL, a, owner, LANES);
                if (t < total)
                    col[u] = h.b_col[b], v[u] = factor * h.b_val[b];
            }
#pragma unroll
            for (int u = 0; u < IN_FLIGHT; u++) {
                const int t = from + u * LANES + lane;
                if (t < total) {
                    key[done + t] = K(col[u]) << BITS | K(done + t);
                    val[done + t] = v[u];
                }
            }
        }
        done += total;
    }
    return done;
}

/* Returns true if sorted key number e < p is the first of its column. */
template <int ITEMS, int BITS, typename K>
__device__ bool begins_column(const K *sorted, int e)
{
    return e == 0 ||
           sorted[e - 1 + (e - 1) / ITEMS] >> BITS != sorted[e + e / ITEMS] >> BITS;
}

/* Returns the number of columns of the p sorted keys of a team of LANES threads, which
   are set in the mask `mine` of threads of the warp. */
template <int LANES, int ITEMS, int BITS, typename K>
__device__ int count_columns(const K *sorted, int p, unsigned mine)
{
    int count = 0;
#pragma unroll 1 /* unrolled, the loop takes registers that sort_bin() needs */
    for (int j = 0; j < ITEMS; j++) {
        const int e     = j * LANES + int(threadIdx.x) % LANES;
        const bool head = e < p && begins_column<ITEMS, BITS>(sorted, e);
        count += __popc(__ballot_sync(HY_ALL, head) & mine);
    }
    return count;
}

/* Reserves elements of h.col and h.val for the rows that a warp computes: `count` for the
   row of each team of LANES threads, all of which pass the same number. Returns the place
   of the team's row, or -1 if there is no room for all these rows. */
template <int LANES, typename T>
__device__ int reserve_rows(const hy_hash<T> &h, int count)
{
    int all, place = 0;
    int before = warp_scan(threadIdx.x % LANES == 0 ? count : 0, &all);
    before     = __shfl_sync(HY_ALL, before, 0, LANES);
    if (threadIdx.x % 32 == 0)
        place = hy_hash_reserve(h, all);
    place = __shfl_sync(HY_ALL, place, 0);
    return hy_hash_holds(h, place, all) ? place + before : -1;
}

/* Computes the rows of a bin. Each has up to LANES * ITEMS scalar products and LANES
   threads. LATE is h.late. */
template <int LANES, int ITEMS, bool LATE, typename T, typename K>
__device__ void sort_bin(const hy_hash<T> &h, int bin, K *keys, T *vals)
{
    /* PADDED: elements from one team of lanes to the next in shared memory, which avoids
       bank conflicts */
    constexpr int MOST = LANES * ITEMS, PADDED = MOST + LANES;
    constexpr int BITS      = 31 - __builtin_clz(MOST);
    constexpr int WARP_ROWS = 32 / LANES, ROWS = HY_CUDA_THREADS / LANES;
    const int team = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    K *const sorted = keys + team * PADDED; /* element e is at e + e / ITEMS, which
                                               avoids bank conflicts */
    T *const val        = vals + team * MOST;
    const unsigned mine = (LANES < 32 ? hy_below(LANES % 32) : HY_ALL)
                          << (team % WARP_ROWS * LANES);
    const unsigned left = mine & hy_below(threadIdx.x % 32);
    const int listed    = h.counts->listed[bin];

    for (int i = blockIdx.x * ROWS + threadIdx.x / 32 * WARP_ROWS; i < listed;
         i += gridDim.x * ROWS) {
        const int n   = i + team % WARP_ROWS;
        const int row = n < listed ? h.list[bin][n] : -1;
        const int p   = lanes_expand<T, LANES, BITS>(h, row < 0 ? 0 : int(h.a_row[row]),
                                                   row < 0 ? 0 : int(h.a_row[row + 1]),
                                                   lane, sorted, val);
        K key[ITEMS];
        __syncwarp();
#pragma unroll
        for (int j = 0; j < ITEMS; j++)
            key[j] = j * LANES + lane < p ? sorted[j * LANES + lane] : ~K(0);
        lanes_sort<LANES, ITEMS>(key, lane);
        __syncwarp();
#pragma unroll
        for (int j = 0; j < ITEMS; j++)
            sorted[lane * (ITEMS + 1) + j] = key[j];
        __syncwarp();

        const int place =
            LATE ? reserve_rows<LANES>(h,
                                       count_columns<LANES, ITEMS, BITS>(sorted, p, mine))
                 : (row < 0 ? 0 : h.place[row]);
        int found = 0;
        for (int j = 0; j < ITEMS; j++) {
            int e                = j * LANES + lane;
            const K own          = e < p ? sorted[e + e / ITEMS] : 0;
            const bool head      = e < p && begins_column<ITEMS, BITS>(sorted, e);
            const unsigned heads = __ballot_sync(HY_ALL, head) & mine;
            if (head && (!LATE || place >= 0)) {
                const int at = place + found + __popc(heads & left);
                T sum        = val[own & (MOST - 1)];
                for (e++; e < p && sorted[e + e / ITEMS] >> BITS == own >> BITS; e++)
                    sum += val[sorted[e + e / ITEMS] & (MOST - 1)];
                h.col[at] = int32_t(own >> BITS);
                h.val[at] = sum;
            }
            found += __popc(heads);
        }
        if (lane == 0 && row >= 0) {
            h.count[row] = found;
            if (LATE)
                h.place[row] = place;
        }
        __syncwarp(); /* all lanes have read this row before the next one overwrites it */
    }
}

/* Target for the blocks of hash_sort_rows() that a multiprocessor holds at once. A
   multiprocessor of sm_75 holds only 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int SORT_RESIDENT = 1024 / HY_CUDA_THREADS;
#else
constexpr int SORT_RESIDENT = HY_HASH_SM_BLOCKS;
#endif

/* Computes the rows of all bins of short rows. Each thread block works on every bin in
   turn, because a block without work in one bin may have some in another. LATE is h.late.
   A kernel that tests h.late instead needs more registers, and took up to 5 % longer. */
template <typename T, typename K, bool LATE>
__global__ void __launch_bounds__(HY_CUDA_THREADS, SORT_RESIDENT)
    hash_sort_rows(hy_hash<T> h)
{
    constexpr int ITEMS = 8; /* maximum scalar products that a thread sorts, in any bin */
    __shared__ K keys[HY_CUDA_THREADS * (ITEMS + 1)];
    __shared__ T vals[HY_CUDA_THREADS * ITEMS];
    int bin = 0;
#define HY_SORT(lanes, items)                                                            \
    static_assert(items <= ITEMS, "room for a thread's products");                       \
    __syncthreads();                                                                     \
    sort_bin<lanes, items, LATE>(h, bin++, keys, vals);
    HY_HASH_SORT_BINS(HY_SORT)
#undef HY_SORT
}

#endif /* HY_HASH_SORT_CUH */
