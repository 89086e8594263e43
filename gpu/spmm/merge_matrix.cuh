/* gpu/spmm/merge_matrix.cuh - Y = A*X by merge path for X with several columns.

   A group of GPU lanes (threads) walks a share of a tile (merge_tile.cuh). Loads of X
   overlap across ends of rows. A sum is stored wherever a row ends. The sum of the last
   row of a share, which may continue, is stored apart as the carry of the share: the
   share that ends the row adds the carries of earlier shares to it, in order. A second
   kernel does the same with the carries of tiles for the rows that tiles cut, which are
   long rows only. */
#ifndef HY_MERGE_MATRIX_CUH
#define HY_MERGE_MATRIX_CUH

#include "gpu/spmm/merge_tile.cuh"

/* How rows of Y are stored: in vectors, in single values, or in single values after a
   warp has transposed a row's values so that neighbouring lanes store neighbouring
   values. */
enum merge_store { IN_VECTORS, IN_VALUES, TRANSPOSED };

/* Stores the values of a warp, VEC for each lane, to a row of Y from column `first` on,
   so that neighbouring lanes store neighbouring values. `scratch` has room for 32 * VEC
   values. */
template <typename T, int VEC>
static __device__ void warp_store_transposed(int64_t n, T *y, int64_t first, T *scratch,
                                             const T (&sum)[VEC])
{
    const int lane = int(threadIdx.x) % 32;
    hy_store_vec(scratch + lane * VEC, sum);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < VEC; e++)
        if (first + e * 32 + lane < n)
            y[first + e * 32 + lane] = scratch[e * 32 + lane];
    __syncwarp();
}

/* Walks one share of a tile in columns [j, j + VEC) of X, stores the rows that end in it,
   and sets its carry. `column` is the lane's first column within the pass. */
template <typename T, int VEC, merge_store STORE>
static __device__ void walk(const hy_spmm_operands<T> &o, const merge_tile<T> &m,
                            int share, int64_t j, int column)
{
    constexpr int IN_FLIGHT = hy_rows_in_flight<T, VEC, 1>;
    /* Values of A stay in registers only if they are f32 and Y is stored in vectors. In
       the other cases the values of X leave no room for them. */
    constexpr bool HOLDS_A = STORE == IN_VECTORS && sizeof(T) == 4;
    const merge_split from = m.split[share], to = m.split[share + 1];
    /* Every load is from a valid address, even by lanes that have no column and for
       entries after the last. Values from these loads are not used. */
    const T *x_j     = o.x + min(j, (o.n - 1) / VEC * VEC);
    T *y             = o.y + (m.row + from.rows) * o.ld;
    int row          = from.rows;
    int end          = row < to.rows ? m.end[row] : MERGE_NEVER;
    T sum[VEC]       = {};
    T *carry         = m.carry + share * m.pass_columns;
    const auto flush = [&] {
        if constexpr (STORE == TRANSPOSED)
            warp_store_transposed(o.n, y, j - column, carry, sum);
        else
            hy_store_y<STORE == IN_VECTORS>(o.n, y, j, sum);
#pragma unroll
        for (int e = 0; e < VEC; e++)
            sum[e] = T(0);
        y += o.ld;
        end = ++row < to.rows ? m.end[row] : MERGE_NEVER;
    };

    for (int k = from.entries; k < to.entries; k += IN_FLIGHT) {
        hy_vec<T, VEC> x[IN_FLIGHT];
        T a[IN_FLIGHT];
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++) {
            const int at = min(k + u, to.entries - 1);
            a[u]         = m.val[at];
            x[u]         = hy_load_x<T, VEC>(x_j, m.col[at], o.pitch);
        }
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++) {
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

/* Adds to `sum` the carries of shares before `share` that belong to row `row` of the
   tile, in VEC columns from `column` on. */
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

/* Computes all shares of a tile for the columns of one pass, which begins at column
   `first`. */
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
        const bool last = s == p.shares; /* after all shares comes one step more, which
                                            stores to p.carry what the tile has of the row
                                            that it does not end */
        const int row   = last ? m.rows : m.split[s].rows;
        const bool ends = last || m.split[s + 1].rows > row;
        if (!ends || (last ? m.entries : m.split[s].entries) <= m.begin(row))
            continue;
        T *out     = last ? p.carry + blockIdx.x * o.ld : o.y + (m.row + row) * o.ld;
        T sum[VEC] = {};
        add_carried(m, row, s, column, sum);
#pragma unroll
        for (int e = 0; e < VEC; e++) /* adds the sum that walk() has stored in Y for the
                                         row */
            sum[e] += !last && j + e < o.n ? out[j + e] : T(0);
        hy_store_y<STORE == IN_VECTORS>(o.n, out, j, sum);
    }
    __syncthreads();
}

/* Block (x, y) computes tile x in passes y, y + gridDim.y, ... over the columns. */
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
    merge_wait_for_last(); /* This kernel must not end before the previous one, because
                              later kernels wait for this one only. */
}

/* A warp adds to one row of Y the carries of the tiles before the one that ended it.
   2^log_lanes lanes own columns; groups of these lanes take tiles in turn. */
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
