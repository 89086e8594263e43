/* gpu/spmm/rows_wide.cuh - multiplies rows of A by groups of GPU lanes (threads) that own
   whole lines of X, HY_SPMM_LINE bytes, and the tail columns that remain. spmm_lanes.cuh
   explains groups, tiles and passes. */
#ifndef HY_ROWS_WIDE_CUH
#define HY_ROWS_WIDE_CUH

#include "gpu/spmm/spmm_lanes.cuh"

static constexpr unsigned ALL = 0xffffffffu;

/* Adds up to LANES entries of a row of A, one held by each lane, times their rows of X;
   `left` of the entries are valid. FULL: all are valid in every group of the warp. */
template <typename T, int VEC, int LANES, int TILES, bool FULL>
static __device__ void add_round(const hy_spmm_operands<T> &o, const T *x_j,
                                 int columns_left, int32_t c, T a, int left,
                                 T (&sum)[TILES][VEC])
{
    constexpr int TILE      = LANES * VEC;
    constexpr int IN_FLIGHT = hy_rows_in_flight<T, VEC, TILES>;
    for (int s = 0; s < LANES && (FULL || __any_sync(ALL, s < left)); s += IN_FLIGHT) {
        hy_vec<T, VEC> x[IN_FLIGHT][TILES];
        T as[IN_FLIGHT];
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++) {
            const int32_t cs = __shfl_sync(ALL, c, s + u, LANES);
            as[u]            = __shfl_sync(ALL, a, s + u, LANES);
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                /* only the last tile may have fewer columns than a whole tile */
                const bool inside = t + 1 < TILES || t * TILE < columns_left;
                if (!(FULL && t + 1 < TILES))
                    x[u][t] = {}; /* 0 instead of elements of X that do not belong to the
                                     row, which may be infinities */
                if ((FULL || s + u < left) && inside)
                    x[u][t] = hy_load_x<T, VEC>(x_j + t * TILE, cs, o.pitch);
            }
        }
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++)
#pragma unroll
            for (int t = 0; t < TILES; t++)
                hy_add_x(sum[t], as[u], x[u][t]);
    }
}

template <typename T, int VEC>
static __device__ void store_y(const hy_spmm_operands<T> &o, int64_t row, int64_t j,
                               const T (&sum)[VEC])
{
    T *y = o.y + row * o.ld;
    if (o.whole)
        hy_store_y<true>(o.n, y, j, sum);
    else
        hy_store_y<false>(o.n, y, j, sum);
}

/* Sums up the tail columns of a row over the lanes of a group. The lane with `stores` set
   stores the sums to Y. */
template <typename T, int LANES, int REST>
static __device__ void store_rest(const hy_spmm_operands<T> &o, int64_t row,
                                  T (&sum)[REST], bool stores)
{
#pragma unroll
    for (int apart = LANES / 2; apart > 0; apart /= 2)
#pragma unroll
        for (int e = 0; e < REST; e++)
            sum[e] += __shfl_xor_sync(ALL, sum[e], apart);
#pragma unroll
    for (int e = 0; e < REST; e++)
        if (stores && e < o.rest_n)
            o.y[row * o.ld + o.n + e] = sum[e];
}

/* Computes one row of Y in the columns of this lane from column j on, and, if
   `reads_rest`, in the REST tail columns. Warps stay together: groups that have finished
   their row wait for the others. */
template <typename T, int VEC, int LANES, int TILES, int REST>
static __device__ void walk(const hy_spmm_operands<T> &o, int64_t row, int64_t j,
                            bool reads_rest)
{
    const int lane      = int(threadIdx.x) % LANES;
    const int64_t begin = row < o.rows ? o.row_ptr[row] : -1;
    const bool real     = begin >= 0; /* false if there is no such row, or if the pack
                                         is void: then all offsets are -1
                                         (hy_variant.arrange) */
    int64_t k              = real ? begin : 0;
    const int64_t end      = real ? o.row_ptr[row + 1] : 0;
    const int columns_left = int(min(o.n - j, int64_t(INT32_MAX)));
    T sum[TILES][VEC]      = {};
    int32_t c              = k + lane < end ? o.col[k + lane] : 0;
    T a                    = k + lane < end ? o.val[k + lane] : T(0);
    const int64_t rest_end = reads_rest ? end : k;
    constexpr int WIDTH    = REST > 0 ? REST : 1;
    T rest[WIDTH]          = {};

    for (; __any_sync(ALL, k < end); k += LANES) {
        hy_vec<T, WIDTH> x_rest = {};
        if (REST > 0 && k + lane < rest_end)
            x_rest = hy_load_x<T, WIDTH>(o.rest, c, o.rest_pitch);
        const int left        = int(min(end - k, int64_t(LANES)));
        const int64_t next    = k + LANES + lane;
        const int32_t c_after = next < end ? o.col[next] : 0;
        const T a_after       = next < end ? o.val[next] : T(0);
        if (__all_sync(ALL, left == LANES))
            add_round<T, VEC, LANES, TILES, true>(o, o.x + j, columns_left, c, a, left,
                                                  sum);
        else
            add_round<T, VEC, LANES, TILES, false>(o, o.x + j, columns_left, c, a, left,
                                                   sum);
        hy_add_x(rest, a, x_rest);
        c = c_after;
        a = a_after;
    }
    if (REST > 0)
        store_rest<T, LANES>(o, row, rest, real && reads_rest && lane == 0);
    if (real)
#pragma unroll
        for (int t = 0; t < TILES; t++)
            store_y(o, row, j + t * LANES * VEC, sum[t]);
}

/* Block (x, y) computes HY_ROWS_THREADS / LANES rows in passes y, y + gridDim.y, ... over
   the columns. The first pass also computes the tail columns. */
template <typename T, int VEC, int LANES, int MOST, int REST>
static __global__ void __launch_bounds__(HY_ROWS_THREADS,
                                         hy_spmm_resident(MOST) / HY_ROWS_THREADS)
    wide_kernel(hy_spmm_operands<T> o, hy_spmm_columns columns)
{
    const int64_t row = (int64_t(blockIdx.x) * HY_ROWS_THREADS + threadIdx.x) / LANES;
    for (int64_t pass = blockIdx.y; pass < columns.passes; pass += gridDim.y)
        hy_for_pass<MOST>(columns, pass, [&]<int TILES>(int64_t first) {
            walk<T, VEC, LANES, TILES, REST>(
                o, row, (first * LANES + threadIdx.x % LANES) * VEC, first == 0);
        });
}

#endif /* HY_ROWS_WIDE_CUH */
