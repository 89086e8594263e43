/* gpu/spmm/merge_matrix.cuh - Y = A*X by merge path for X with several columns.

   A group of lanes walks its share of a tile with X in flight across ends of rows, and
   stores a sum wherever a row ends. What is left of the last row is carried: a share that
   ends a row which began in earlier shares adds theirs to it, in order. Rows that are cut
   by tiles, long ones only, are put together by a second kernel, in order too. */
#ifndef HY_MERGE_MATRIX_CUH
#define HY_MERGE_MATRIX_CUH

#include "gpu/spmm/merge_tile.cuh"

/* How rows of Y are stored: whole, in vectors; in single values; or in single values
   where a warp has walked the row, whose lanes then store neighbouring ones. */
enum merge_store { IN_VECTORS, IN_VALUES, TURNED };

/* Store to a row of Y from `first` on what the lanes of a warp have, VEC values each, but
   neighbouring values by neighbouring lanes. `turn` has room for it. */
template <typename T, int VEC>
static __device__ void warp_store_transposed(int64_t n, T *y, int64_t first, T *turn,
                                             const T (&sum)[VEC])
{
    const int lane = int(threadIdx.x) % 32;
    hy_store_vec(turn + lane * VEC, sum);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < VEC; e++)
        if (first + e * 32 + lane < n)
            y[first + e * 32 + lane] = turn[e * 32 + lane];
    __syncwarp();
}

/* Walk one share of a tile in columns j on; `column` is the first within the pass. */
template <typename T, int VEC, merge_store STORE>
static __device__ void walk(const hy_spmm_operands<T> &o, const merge_tile<T> &m,
                            int share, int64_t j, int column)
{
    constexpr int AHEAD = hy_prefault<T, VEC, 1>;
    /* Others have no registers for values of A beside those of X. */
    constexpr bool HOLDS_A = STORE == IN_VECTORS && sizeof(T) == 4;
    const merge_split from = m.split[share], to = m.split[share + 1];
    /* Every load is of a number that is there, also by lanes that have no column and for
       entries after the last; nothing comes of those. */
    const T *x_j     = o.x + min(j, (o.n - 1) / VEC * VEC);
    T *y             = o.y + (m.row + from.rows) * o.ld;
    int row          = from.rows;
    int end          = row < to.rows ? m.end[row] : MERGE_NEVER;
    T sum[VEC]       = {};
    T *carry         = m.carry + share * m.pass_columns;
    const auto flush = [&] {
        if constexpr (STORE == TURNED)
            warp_store_transposed(o.n, y, j - column, carry, sum);
        else
            hy_store_y<STORE == IN_VECTORS>(o.n, y, j, sum);
#pragma unroll
        for (int e = 0; e < VEC; e++)
            sum[e] = T(0);
        y += o.ld;
        end = ++row < to.rows ? m.end[row] : MERGE_NEVER;
    };

    for (int k = from.entries; k < to.entries; k += AHEAD) {
        hy_vec<T, VEC> x[AHEAD];
        T a[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const int at = min(k + u, to.entries - 1);
            a[u]         = m.val[at];
            x[u]         = hy_load_x<T, VEC>(x_j, m.col[at], o.pitch);
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            while (k + u == end)
                flush();
            if (k + u < to.entries)
                hy_add_x(sum, HOLDS_A ? a[u] : m.val[k + u], x[u]);
        }
    }
    while (row < to.rows)
        flush();
    hy_store_vec(carry + column, sum);
}

/* What the shares before `share` carry of row `row` of the tile, from `column` on. */
template <typename T, int VEC>
static __device__ void add_carried(const merge_tile<T> &m, int row, int share, int column,
                                   T (&sum)[VEC])
{
    const T *carry = m.carry + column;
#pragma unroll 2
    for (int s = m.first_share(row); s < share; s++)
        hy_add_x(sum, T(1),
                 *reinterpret_cast<const hy_vec<T, VEC> *>(carry + s * m.pass_columns));
}

/* All shares of a tile in one pass over the columns from `first` on. */
template <typename T, int VEC, merge_store STORE>
static __device__ void pass_over(const hy_spmm_operands<T> &o, const merge_path<T> &p,
                                 const merge_tile<T> &m, int64_t first)
{
    const int lanes  = 1 << p.log_lanes;
    const int groups = HY_CUDA_THREADS / lanes;
    const int group = int(threadIdx.x) / lanes, lane = int(threadIdx.x) & (lanes - 1);
    const int column = lane * VEC;
    const int64_t j  = first + column;

    for (int s = group; s < p.shares; s += groups)
        walk<T, VEC, STORE>(o, m, s, j, column);
    __syncthreads();
    for (int s = group; s <= p.shares; s += groups) {
        const bool last = s == p.shares; /* stands for the tiles that follow */
        const int row   = last ? m.rows : m.split[s].rows;
        const bool ends = last || m.split[s + 1].rows > row;
        if (!ends || (last ? m.entries : m.split[s].entries) <= m.begin(row))
            continue;
        T *out     = last ? p.carry + blockIdx.x * o.ld : o.y + (m.row + row) * o.ld;
        T sum[VEC] = {};
        add_carried(m, row, s, column, sum);
#pragma unroll
        for (int e = 0; e < VEC; e++) /* this group stored to Y itself */
            sum[e] += !last && j + e < o.n ? out[j + e] : T(0);
        hy_store_y<STORE == IN_VECTORS>(o.n, out, j, sum);
    }
    __syncthreads();
}

/* Block (x, y): tile x; passes y, y + gridDim.y, ... over the columns. */
template <typename T, int VEC, merge_store STORE>
static __global__ void __launch_bounds__(HY_CUDA_THREADS,
                                         HY_SPMM_RESIDENT / HY_CUDA_THREADS)
    merge_kernel(hy_spmm_operands<T> o, merge_path<T> p)
{
    extern __shared__ __align__(16) double room[];
    merge_let_next_begin();
    const merge_tile<T> m = merge_open<T>(o, p, room);

    for (int64_t first = int64_t(blockIdx.y) * p.pass_columns; first < o.n;
         first += int64_t(gridDim.y) * p.pass_columns)
        pass_over<T, VEC, STORE>(o, p, m, first);
    merge_wait_for_last(); /* for those that wait for this kernel */
}

/* A warp adds to one row what the tiles before the one that ended it carry of it.
   2^log_lanes lanes own columns, the others take tiles in turn. */
template <typename T>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    fix_kernel(hy_spmm_operands<T> o, const hy_merge_piece *piece, int64_t pieces,
               const T *carry, int log_lanes)
{
    const int lane = int(threadIdx.x) % 32, lanes = 1 << log_lanes;
    const int64_t w = (int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x) / 32;
    if (w >= pieces)
        return;
    const hy_merge_piece of = piece[w];
    merge_wait_for_last();
    if (of.first == of.last)
        return;
    for (int64_t first = int64_t(blockIdx.y) * lanes; first < o.ld;
         first += int64_t(gridDim.y) * lanes) {
        const int64_t j = first + (lane & (lanes - 1));
        T sum           = T(0);
#pragma unroll 8
        for (int64_t t = of.first + (lane >> log_lanes); t < of.last; t += 32 / lanes)
            sum += j < o.ld ? carry[t * o.ld + j] : T(0);
        for (int apart = 16; apart >= lanes; apart >>= 1)
            sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        if (j < o.ld && lane < lanes)
            o.y[of.row * o.ld + j] += sum;
    }
}

#endif /* HY_MERGE_MATRIX_CUH */
