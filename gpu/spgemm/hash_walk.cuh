/* gpu/spgemm/hash_walk.cuh - walks the scalar products of a row of C with a warp or a
   block.

   A group of GPU lanes (threads of a warp or a block) walks the row of B that an entry of
   A selects. A thread handles HY_HASH_IN_FLIGHT entries of A at once, so that their loads
   overlap. If one row of B is much longer than the others, all groups would wait for its
   group. Rows of B are then cut into slices of equal length, and each group takes slices.
   Slices are numbered in the order of the entries of A. The entry of a slice is found by
   a search in the number of slices before each entry. */
#ifndef HY_HASH_WALK_CUH
#define HY_HASH_WALK_CUH

#include "gpu/spgemm/hash_work.cuh"

/* Entries of A, or slices of rows of B, that a thread handles at once. */
constexpr int HY_HASH_IN_FLIGHT = 4;

struct hash_walk {
    int shift; /* a group has 2^shift lanes */
    int slice; /* log2 of the entries of B in a slice; 0 if rows of B are not cut */
};

/* Returns a walk that cuts rows of B into slices, for `products` scalar products of
   `nonzeros` entries of A. A group has the fewest lanes, from 4 to 32, that are at least
   half the mean length of the rows of B, so that most rows have few slices. A group takes
   two, four or eight steps for a slice, as many as leave work for all THREADS threads. */
template <int THREADS> __device__ hash_walk slices_of(int products, int nonzeros)
{
    int shift = 2, steps = 1;
    while (shift < 5 && int64_t(nonzeros) << (shift + 1) < products)
        shift++;
    while (steps < 3 && products >> (steps + 1) >= THREADS * HY_HASH_IN_FLIGHT)
        steps++;
    return {shift, shift + steps};
}

/* Returns a walk for `products` scalar products of `nonzeros` entries of A, which select
   rows of B of at most `longest` entries. The number of lanes of a group is the mean
   length of the rows of B, rounded up to a power of two; in a block a quarter of that,
   which balances better. A block cuts rows of B into slices if one is much longer than
   the others. */
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

/* Calls body(column, scalar product) for the entries of B in s[0], s[1], ..., times a[0],
   a[1], ... 2^shift lanes walk each span; `part` is the number of this lane among them. A
   lane beyond the end of its span calls body with column -1. The lanes of a warp call it
   together. */
template <bool VALUES, typename T, typename F>
__device__ void walk_spans(const hy_factors<T> &h, const hy_span (&s)[HY_HASH_IN_FLIGHT],
                           const T (&a)[HY_HASH_IN_FLIGHT], int part, int shift, F body)
{
    int64_t at[HY_HASH_IN_FLIGHT];
    int left[HY_HASH_IN_FLIGHT];
#pragma unroll
    for (int u = 0; u < HY_HASH_IN_FLIGHT; u++) {
        at[u]   = s[u].begin + part;
        left[u] = int(s[u].end - s[u].begin) - part;
    }
    bool more;
    do {
        int32_t col[HY_HASH_IN_FLIGHT];
        T val[HY_HASH_IN_FLIGHT];
        more = false;
#pragma unroll
        for (int u = 0; u < HY_HASH_IN_FLIGHT; u++) {
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
        for (int u = 0; u < HY_HASH_IN_FLIGHT; u++)
            body(col[u], val[u]);
    } while (__any_sync(HY_ALL, more));
}

/* Adds `product` to val[at] in each lane with `real` set. Groups of 2^shift lanes of a
   warp do so one after another, because two groups may add to the same element. */
template <typename T>
__device__ void add_in_order(T *val, int at, T product, bool real, int shift)
{
    const int group = int(threadIdx.x) % 32 >> shift;
    for (int g = 0; g < 32 >> shift; g++) {
        if (g == group && real)
            val[at] += product;
        __syncwarp();
    }
}

/* Numbers the slices (pieces of 2^slice entries) of spans of B. Each thread of the team
   passes the length of its span, or 0, and gets in *before the number of slices of the
   threads before it. Returns the number of all slices. */
template <int THREADS> __device__ int number_slices(int length, int slice, int *before)
{
    int sum;
    team_sync<THREADS>(); /* until here, threads may read *before of the previous call */
    const int rank = team_scan<THREADS>((length + (1 << slice) - 1) >> slice, &sum);
    if (before)
        *before = rank;
    team_sync<THREADS>();
    return sum;
}

/* Sets at[u] to the span of slice wanted[u]: the last of `count` spans with no more than
   wanted[u] slices before it. */
__device__ inline void find_slices(const int *before, int count,
                                   const int (&wanted)[HY_HASH_IN_FLIGHT],
                                   int (&at)[HY_HASH_IN_FLIGHT])
{
#pragma unroll
    for (int u = 0; u < HY_HASH_IN_FLIGHT; u++)
        at[u] = 0;
    for (int d = count > 1 ? 1 << (31 - __clz(count - 1)) : 0; d > 0; d /= 2)
#pragma unroll
        for (int u = 0; u < HY_HASH_IN_FLIGHT; u++)
            if (before[at[u] + d] <= wanted[u])
                at[u] += d;
}

__device__ inline hy_span slice_of(hy_span s, int n, int slice)
{
    s.begin += int64_t(n) << slice;
    return {s.begin, min(s.end, s.begin + (1 << slice))};
}

/* Calls `body`, as walk_spans() does, for the scalar products of `count` entries of A
   from `first` on. span_of(i) returns the entries of B for entry first + i. With w.slice,
   these spans are cut into `slices` slices, of which before[i] precede span i. */
template <bool VALUES, int THREADS, typename T, typename S, typename F>
__device__ void walk_some(const hy_factors<T> &h, const hash_walk &w, int first,
                          int count, int slices, const int *before, S span_of, F body)
{
    const int rank = threadIdx.x % THREADS, teams = THREADS >> w.shift;
    const int units = w.slice ? slices : count;
    for (int base = 0; base < units; base += HY_HASH_IN_FLIGHT * teams) {
        hy_span s[HY_HASH_IN_FLIGHT];
        T a[HY_HASH_IN_FLIGHT];
        int unit[HY_HASH_IN_FLIGHT], at[HY_HASH_IN_FLIGHT];
#pragma unroll
        for (int u = 0; u < HY_HASH_IN_FLIGHT; u++)
            at[u] = unit[u] = base + u * teams + (rank >> w.shift);
        if (w.slice)
            find_slices(before, count, unit, at);
#pragma unroll
        for (int u = 0; u < HY_HASH_IN_FLIGHT; u++) {
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

/* Calls `body`, as walk_spans() does, for the scalar products of a row of C, with a team
   of THREADS threads; before[THREADS] is scratch of the team. Within a warp, lanes of one
   entry of A precede those of a later one. */
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
