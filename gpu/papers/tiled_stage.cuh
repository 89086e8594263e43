/* gpu/papers/tiled_stage.cuh - one stage of a panel of spmm.cuda.tiled: copies its tile
   of X to shared memory and adds up its entries.

   A panel is 256 strips (rows of A, or segments of long rows), one for each thread. A
   tile is the rows of X in shared memory, and a stage the entries of the panel that use
   them (partition/format/pack_tiled.h). A slice is the 32 strips of a warp; at step t
   each of its lanes (threads) has entry t of its strip, if there is one. */
#ifndef HY_TILED_STAGE_CUH
#define HY_TILED_STAGE_CUH

#include <cuda_pipeline.h>

#include "gpu/backend/cuda_tuning.h"
#include "partition/format/pack_tiled.h"

namespace tiled
{

constexpr int WARP = 32, THREADS = HY_TILED_ROWS;

static_assert(HY_TILED_SLICE == WARP, "a slice to a warp");

template <typename T> struct operands {
    hy_tiled_view a;
    hy_cols_view x;
    int64_t rows;
    T *y;        /* Y, column-major; `rows` elements for each column */
    T *partials; /* sums of segments, column-major; a.head.partials elements for each
                    column */
};

/* Number of neighbouring values of a row of X that one instruction loads from a tile in
   shared memory. */
template <typename T, int R> struct vector_of {
    static constexpr int MAX  = 16 / sizeof(T);
    static constexpr int SIZE = R < MAX ? R : MAX;
};

template <typename T, int VEC> struct alignas(sizeof(T) * VEC) pack_of {
    T x[VEC];
};

template <typename T, int R> struct tile {
    static constexpr int VEC    = vector_of<T, R>::SIZE;
    static constexpr int GROUPS = R / VEC;
    pack_of<T, VEC> row[GROUPS][HY_TILED_COLS];
};

/* Starts copying from row `row` of X to row e / VEC of the tile: column e % VEC of each
   group of VEC columns, where the first group begins at column j. For columns from `end`
   on, the last column is copied. */
template <typename T, int R>
__device__ void stage_row(const operands<T> &o, int row, int64_t j, int64_t end, int e,
                          tile<T, R> *to)
{
    constexpr int VEC = tile<T, R>::VEC;
    const int64_t ld  = hy_x_ld(&o.x, row);
    const T *from     = static_cast<const T *>(o.x.x) + hy_x_at(&o.x, row, 0);
#pragma unroll
    for (int g = 0; g < tile<T, R>::GROUPS; g++) {
        const int64_t k = min(j + g * VEC + e % VEC, end - 1);
        __pipeline_memcpy_async(&to->row[g][0].x[0] + e, from + k * ld, sizeof(T));
    }
}

/* Starts copying columns [j, j + R) of the stage's rows of X. Neighbouring lanes copy
   columns of one row. The numbers of several rows are read from `map` before the first
   row is copied. */
template <typename T, int R>
__device__ void stage_tile(const operands<T> &o, const hy_tiled_stage &s, int64_t j,
                           int64_t end, tile<T, R> *to)
{
    constexpr int VEC = tile<T, R>::VEC, IN_FLIGHT = HY_TILED_IN_FLIGHT;
    const int32_t *map = o.a.map + s.first;
    const int total    = s.columns * VEC;
    for (int first = threadIdx.x; first < total; first += IN_FLIGHT * THREADS) {
        int row[IN_FLIGHT];
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++) {
            const int e = first + u * THREADS;
            row[u]      = e < total ? map[e / VEC] : 0;
        }
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++)
            if (first + u * THREADS < total)
                stage_row<T, R>(o, row[u], j, end, first + u * THREADS, to);
    }
}

/* Adds a times row `index` of the tile to sum, which has R columns. */
template <typename T, int R>
__device__ void add_entry(const tile<T, R> &x, int index, T a, T *sum)
{
    constexpr int VEC = tile<T, R>::VEC;
#pragma unroll
    for (int g = 0; g < tile<T, R>::GROUPS; g++) {
        const pack_of<T, VEC> v = x.row[g][index];
#pragma unroll
        for (int i = 0; i < VEC; i++)
            sum[g * VEC + i] += a * v.x[i];
    }
}

/* Returns the minimum of `value` over the lanes of the warp. */
__device__ inline int warp_min(int value)
{
#pragma unroll
    for (int apart = WARP / 2; apart > 0; apart /= 2)
        value = min(value, __shfl_xor_sync(0xffffffffu, value, apart));
    return value;
}

/* Adds entries of the lane's strip in steps [0, full) of a slice. In these steps every
   lane has an entry or, if slices are PADDED, padding. `at` is the index of the lane's
   first entry. */
template <typename T, int R, bool PADDED>
__device__ void add_full_steps(const operands<T> &o, const tile<T, R> &x, int64_t at,
                               int full, T *sum)
{
    constexpr int IN_FLIGHT = HY_TILED_IN_FLIGHT;
    const uint16_t *index   = o.a.index + at;
    const T *val            = static_cast<const T *>(o.a.val) + at;
    int t                   = 0;
    for (; t + IN_FLIGHT <= full; t += IN_FLIGHT) {
        int i[IN_FLIGHT];
        T a[IN_FLIGHT];
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++) {
            i[u] = index[(t + u) * WARP];
            a[u] = val[(t + u) * WARP];
        }
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++)
            if (!PADDED || i[u] != HY_TILED_PAD)
                add_entry<T, R>(x, i[u], a[u], sum);
    }
    for (; t < full; t++)
        if (!PADDED || index[t * WARP] != HY_TILED_PAD)
            add_entry<T, R>(x, index[t * WARP], val[t * WARP], sum);
}

/* Adds the steps of a slice (the strips of a warp's lanes) from t on; the entries of
   step t begin at index `at`. The position of a lane's entry in a step is the number of
   lower lanes that have an entry. */
template <typename T, int R>
__device__ void add_ragged_steps(const operands<T> &o, const tile<T, R> &x, int64_t at,
                                 int t, int count, T *sum)
{
    constexpr int IN_FLIGHT = HY_TILED_IN_FLIGHT;
    const unsigned below    = (1u << (threadIdx.x % WARP)) - 1;
    const T *val            = static_cast<const T *>(o.a.val);
    while (__any_sync(0xffffffffu, t < count)) {
        int i[IN_FLIGHT];
        T a[IN_FLIGHT];
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++) {
            const unsigned has = __ballot_sync(0xffffffffu, t + u < count);
            const int64_t k    = at + __popc(has & below);
            at += __popc(has);
            i[u] = t + u < count ? o.a.index[k] : 0;
            a[u] = t + u < count ? val[k] : T(0);
        }
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++)
            if (t + u < count)
                add_entry<T, R>(x, i[u], a[u], sum);
        t += IN_FLIGHT;
    }
}

/* The steps of a stage in which the thread takes part. */
struct steps {
    int count, full; /* count: entries of the thread's strip in the stage; full: number
                        of steps in which every lane of the warp has an entry */
    int64_t at;      /* index in the pack of the first entry of the warp's slice */
};

template <typename T> __device__ steps steps_of(const operands<T> &o, int64_t s)
{
    const int count = o.a.count[s * THREADS + threadIdx.x];
    return {count, warp_min(count), o.a.stage[s].entry[threadIdx.x / WARP]};
}

template <typename T, int R, bool PADDED>
__device__ void add_stage(const operands<T> &o, const steps &s, const tile<T, R> &x,
                          T *sum)
{
    add_full_steps<T, R, PADDED>(o, x, s.at + threadIdx.x % WARP, s.full, sum);
    if (!PADDED)
        add_ragged_steps<T, R>(o, x, s.at + int64_t(s.full) * WARP, s.full, s.count, sum);
}

} // namespace tiled

#endif /* HY_TILED_STAGE_CUH */
