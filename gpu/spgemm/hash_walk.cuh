/* gpu/spgemm/hash_walk.cuh - the products of a row of C, by a warp or a block.

   A group of lanes walks the row of B that a nonzero of A selects; a thread has
   HY_HASH_AHEAD of them in flight. Where one row of B is much longer than the others, all
   would wait for its group. There rows of B are cut into slices of one length, and a
   group takes a slice: the slices are numbered in the order of the nonzeros, and whose
   number n is follows from a search among the sums of slices before each nonzero. */
#ifndef HY_HASH_WALK_CUH
#define HY_HASH_WALK_CUH

#include "gpu/spgemm/hash_work.cuh"

/* Nonzeros of A, or slices, that a thread has in flight. */
constexpr int HY_HASH_AHEAD = 4;

struct hash_walk {
    int shift; /* 2^shift lanes are a group */
    int slice; /* a slice has 2^slice entries of B; 0: rows of B are not cut */
};

/* Lanes for a slice: half the mean row of B, so that most rows of B have few. A thread
   gets so many steps as leave all threads work. */
template <int THREADS> __device__ hash_walk slices_of(int products, int nonzeros)
{
    int shift = 2, steps = 1;
    while (shift < 5 && int64_t(nonzeros) << (shift + 1) < products)
        shift++;
    while (steps < 3 && products >> (steps + 1) >= THREADS * HY_HASH_AHEAD)
        steps++;
    return {shift, shift + steps};
}

/* Lanes for a row of B: a power of two from the mean length of those that are touched. A
   block has the better balance when it walks the longer ones in some steps. */
template <int THREADS>
__device__ hash_walk walk_of(int products, int nonzeros, int longest)
{
    constexpr int STEPS = THREADS == 32 ? 1 : 4;
    constexpr bool CUT  = THREADS > 32;
    int shift           = 2;
    while ((1 << shift) < THREADS && (int64_t(nonzeros) * STEPS) << shift < products)
        shift++;
    const bool even = longest <= HY_HASH_UNEVEN << shift ||
                      int64_t(longest) * nonzeros <= 2 * int64_t(products);
    return even || !CUT ? hash_walk{shift, 0} : slices_of<THREADS>(products, nonzeros);
}

/* body(column or -1, product) for the entries of B in s[0], s[1], ..., each walked by
   2^shift lanes of which this is number `part`, times a[0], a[1], ... The lanes of a warp
   call it together. */
template <bool VALUES, typename T, typename F>
__device__ void walk_spans(const hy_factors<T> &h, const hy_span (&s)[HY_HASH_AHEAD],
                           const T (&a)[HY_HASH_AHEAD], int part, int shift, F body)
{
    int64_t at[HY_HASH_AHEAD];
    int left[HY_HASH_AHEAD];
#pragma unroll
    for (int u = 0; u < HY_HASH_AHEAD; u++) {
        at[u]   = s[u].begin + part;
        left[u] = int(s[u].end - s[u].begin) - part;
    }
    bool more;
    do {
        int32_t col[HY_HASH_AHEAD];
        T val[HY_HASH_AHEAD];
        more = false;
#pragma unroll
        for (int u = 0; u < HY_HASH_AHEAD; u++) {
            col[u] = -1;
            val[u] = 0;
            if (left[u] > 0) {
                col[u] = h.b_col[at[u]];
                if (VALUES)
                    val[u] = a[u] * h.b_val[at[u]];
            }
            at[u] += 1 << shift;
            left[u] -= 1 << shift;
            more |= left[u] > 0;
        }
#pragma unroll
        for (int u = 0; u < HY_HASH_AHEAD; u++)
            body(col[u], val[u]);
    } while (__any_sync(HY_ALL, more));
}

/* val[at] += product in the lanes that are `real`; a group of a warp after the other, as
   two may have the same entry. */
template <typename T>
__device__ void add_in_turn(T *val, int at, T product, bool real, int shift)
{
    const int group = int(threadIdx.x) % 32 >> shift;
    for (int g = 0; g < 32 >> shift; g++) {
        if (g == group && real)
            val[at] += product;
        __syncwarp();
    }
}

/* Number the slices of spans, of which a thread of a team knows the length of one or
 *none: before is how many slices come before its own. Returns how many there are. */
template <int THREADS> __device__ int number_slices(int length, int slice, int *before)
{
    int sum;
    team_sync<THREADS>(); /* *before has been read */
    const int rank = team_scan<THREADS>((length + (1 << slice) - 1) >> slice, &sum);
    if (before)
        *before = rank;
    team_sync<THREADS>();
    return sum;
}

/* at[u]: whose slice is wanted[u]: the last of `count` spans with no more before it. */
__device__ inline void find_slices(const int *before, int count,
                                   const int (&wanted)[HY_HASH_AHEAD],
                                   int (&at)[HY_HASH_AHEAD])
{
#pragma unroll
    for (int u = 0; u < HY_HASH_AHEAD; u++)
        at[u] = 0;
    for (int d = count > 1 ? 1 << (31 - __clz(count - 1)) : 0; d > 0; d /= 2)
#pragma unroll
        for (int u = 0; u < HY_HASH_AHEAD; u++)
            if (before[at[u] + d] <= wanted[u])
                at[u] += d;
}

/* Slice number n of a span. */
__device__ inline hy_span slice_of(hy_span s, int n, int slice)
{
    s.begin += int64_t(n) << slice;
    return {s.begin, min(s.end, s.begin + (1 << slice))};
}

/* The products of `count` nonzeros of A from `first` on, or of their `slices` slices;
   span_of(i): entries of B for nonzero first + i. */
template <bool VALUES, int THREADS, typename T, typename S, typename F>
__device__ void walk_some(const hy_factors<T> &h, const hash_walk &w, int first,
                          int count, int slices, const int *before, S span_of, F body)
{
    const int rank = threadIdx.x % THREADS, teams = THREADS >> w.shift;
    const int units = w.slice ? slices : count;
    for (int base = 0; base < units; base += HY_HASH_AHEAD * teams) {
        hy_span s[HY_HASH_AHEAD];
        T a[HY_HASH_AHEAD];
        int unit[HY_HASH_AHEAD], at[HY_HASH_AHEAD];
#pragma unroll
        for (int u = 0; u < HY_HASH_AHEAD; u++)
            at[u] = unit[u] = base + u * teams + (rank >> w.shift);
        if (w.slice)
            find_slices(before, count, unit, at);
#pragma unroll
        for (int u = 0; u < HY_HASH_AHEAD; u++) {
            s[u] = {0, 0};
            a[u] = 0;
            if (unit[u] < units) {
                s[u] = span_of(at[u]);
                if (w.slice)
                    s[u] = slice_of(s[u], unit[u] - before[at[u]], w.slice);
                if (VALUES)
                    a[u] = h.a_val[first + at[u]];
            }
        }
        walk_spans<VALUES>(h, s, a, rank & ((1 << w.shift) - 1), w.shift, body);
    }
}

/* The products of a row, by a team of THREADS; before[THREADS] is the team's. Within a
   warp, lanes of one nonzero come before those of a later one. */
template <bool VALUES, int THREADS, typename T, typename F>
__device__ void walk_row(const hy_hash<T> &h, int row, const hash_walk &w, int *before,
                         F body)
{
    const int end = int(h.a_row[row + 1]);
    int first = int(h.a_row[row]), count, slices = 0;
    do {
        count = w.slice ? min(end - first, THREADS) : end - first;
        if (w.slice) {
            const int k     = first + int(threadIdx.x) % THREADS;
            const hy_span s = k < end ? h.span[k] : hy_span{0, 0};
            slices          = number_slices<THREADS>(int(s.end - s.begin), w.slice,
                                            before + threadIdx.x % THREADS);
        }
        walk_some<VALUES, THREADS>(
            h, w, first, count, slices, before, [&](int i) { return h.span[first + i]; },
            body);
        first += count;
    } while (first < end);
}

#endif /* HY_HASH_WALK_CUH */
