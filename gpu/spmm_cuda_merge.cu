/* gpu/spmm_cuda_merge.cu - SpMM on the GPU by merge path: equal work whatever the rows.

   The nonzeros of A and the ends of its rows form one list of nnz + rows items: row r
   ends at item row_ptr[r+1] + r. Blocks take equal tiles of that list, found by search
   in row_ptr, and groups of lanes equal shares of a tile. A group walks its share: X in
   flight across ends of rows, a sum stored wherever a row ends. What is left of the last
   row is carried: a share that ends a row which began in earlier shares adds theirs to
   it, in order, and so does a second kernel for rows that began in earlier tiles.

   Tiles and shares are cut where they would be cut in the whole of A: a row is added up
   in the same order on every run, whatever the chunks.

   Work on the device: one note and n carried values for each tile. */
#include "gpu/merge_tile.cuh"

/* Walk one share of a tile. y: the row of Y that it begins in. */
template <typename T, int VEC, int TILES>
static __device__ void walk(const hy_spmm_operands<T> &o, const merge_tile<T> &m,
                            int share, int tile, int64_t first, int column)
{
    constexpr int AHEAD    = HY_MERGE_AHEAD / TILES;
    const merge_split from = m.split[share], to = m.split[share + 1];
    const int64_t j   = first + column;
    T *y              = o.y + (m.row + from.rows) * o.n;
    int row           = from.rows;
    int end           = row < to.rows ? m.end[row] : MERGE_NEVER;
    T sum[TILES][VEC] = {};
    const auto flush  = [&] {
        hy_store_y<T, VEC, TILES>(y, o.n, j, tile, sum);
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int e = 0; e < VEC; e++)
                sum[t][e] = T(0);
        y += o.n;
        end = ++row < to.rows ? m.end[row] : MERGE_NEVER;
    };

    for (int k = from.entries; k < to.entries; k += AHEAD) {
        hy_vec<T, VEC> x[AHEAD][TILES];
        T a[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const bool some = k + u < to.entries;
            a[u]            = some ? m.val[k + u] : T(0);
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                x[u][t] = {}; /* not X, which may hold infinities */
                if (some && j + t * tile < o.n)
                    x[u][t] = hy_load_x<T, VEC>(o, m.col[k + u], j + t * tile);
            }
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            while (k + u == end)
                flush();
#pragma unroll
            for (int t = 0; t < TILES; t++)
#pragma unroll
                for (int e = 0; e < VEC; e++)
                    sum[t][e] += a[u] * x[u][t].x[e];
        }
    }
    while (row < to.rows)
        flush();
    hy_store_y<T, VEC, TILES>(m.carry + share * m.pass_columns, m.pass_columns, column,
                              tile, sum);
}

/* Add to row `row` of the tile what the shares before `share` carry of it. `out` is
   the row of Y, or where the tile's own carry goes. */
template <typename T>
static __device__ void add_carried(const merge_tile<T> &m, int row, int share, T *out,
                                   bool fresh, int column)
{
    T sum = T(0);
    for (int s = m.first_share(row); s < share; s++)
        sum += m.carry[s * m.pass_columns + column];
    *out = fresh ? sum : sum + *out;
}

/* All shares of a tile in one pass over the columns. */
template <typename T, int VEC, int TILES>
static __device__ void pass_over(const hy_spmm_operands<T> &o, const merge_tile<T> &m,
                                 const merge_shape &shape, T *carry, int64_t first)
{
    const int lanes  = 1 << shape.columns.log_lanes;
    const int groups = HY_CUDA_THREADS / lanes;
    const int group = int(threadIdx.x) / lanes, lane = int(threadIdx.x) & (lanes - 1);
    const int tile = lanes * VEC;

    for (int s = group; s < shape.shares; s += groups)
        walk<T, VEC, TILES>(o, m, s, tile, first, lane * VEC);
    __syncthreads();
    for (int s = group; s <= shape.shares; s += groups) {
        const bool last = s == shape.shares; /* stands for the tiles that follow */
        const int row   = last ? m.rows : m.split[s].rows;
        const bool ends = last || m.split[s + 1].rows > row;
        if (!ends || (last ? m.entries : m.split[s].entries) <= m.begin(row))
            continue;
        T *out = last ? carry : o.y + (m.row + row) * o.n;
        for (int e = 0; e < VEC * TILES; e++) {
            const int column = (e / VEC) * tile + lane * VEC + e % VEC;
            if (first + column < o.n)
                add_carried<T>(m, row, s, out + first + column, last, column);
        }
    }
    __syncthreads();
}

/* Block (x, y): tile x; passes y, y + gridDim.y, ... over the columns. */
template <typename T, int VEC>
static __global__ void __launch_bounds__(HY_CUDA_THREADS, 4)
    merge_kernel(hy_spmm_operands<T> o, merge_shape shape, merge_carries<T> carries)
{
    extern __shared__ double room[];
    const merge_tile<T> m = merge_open<T, false>(o, shape, carries.notes, room);
    T *carry              = carries.values + blockIdx.x * o.n;
    const int64_t tile    = int64_t(VEC) << shape.columns.log_lanes;

    for (int64_t pass = blockIdx.y; pass < shape.columns.passes; pass += gridDim.y)
        if (pass + 1 == shape.columns.passes && (pass + 1) * tile < o.n)
            pass_over<T, VEC, 2>(o, m, shape, carry, pass * tile);
        else
            pass_over<T, VEC, 1>(o, m, shape, carry, pass * tile);
}

/* One column: products are made when the tile is read, and a thread walks a share. */
template <typename T>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    vector_kernel(hy_spmm_operands<T> o, merge_shape shape, merge_carries<T> carries)
{
    extern __shared__ double room[];
    const merge_tile<T> m  = merge_open<T, true>(o, shape, carries.notes, room);
    const int share        = int(threadIdx.x);
    const merge_split from = m.split[share], to = m.split[share + 1];
    int k = from.entries;
    T sum = T(0);

    for (int row = from.rows; row < to.rows; row++) {
        for (; k < m.end[row]; k++)
            sum += m.val[k];
        o.y[m.row + row] = sum;
        sum              = T(0);
    }
    for (; k < to.entries; k++)
        sum += m.val[k];
    m.carry[share] = sum;
    __syncthreads();
    if (from.rows < to.rows && from.entries > m.begin(from.rows))
        add_carried<T>(m, from.rows, share, o.y + m.row + from.rows, false, 0);
    if (share == 0 && m.entries > m.begin(m.rows))
        add_carried<T>(m, m.rows, shape.shares, carries.values + blockIdx.x, true, 0);
}

/* Warp w adds to the row that tile w ends what the tiles before carry of it. 2^log_lanes
   lanes own columns, the others take tiles in turn. */
template <typename T>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    fix_kernel(hy_spmm_operands<T> o, merge_carries<T> carries, int64_t tiles,
               int log_lanes)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    const int lane = int(threadIdx.x) % 32, lanes = 1 << log_lanes;
    const int64_t w = (int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x) / 32;
    if (w >= tiles || carries.notes[w].row < 0)
        return;
    const merge_note note = carries.notes[w];

    for (int64_t first = int64_t(blockIdx.y) * lanes; first < o.n;
         first += int64_t(gridDim.y) * lanes) {
        const int64_t j = first + (lane & (lanes - 1));
        T sum           = T(0);
#pragma unroll 4
        for (int64_t t = note.tile + (lane >> log_lanes); t < w; t += 32 / lanes)
            sum += j < o.n ? carries.values[t * o.n + j] : T(0);
        for (int apart = 16; apart >= lanes; apart >>= 1)
            sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        if (j < o.n && lane < lanes)
            o.y[note.row * o.n + j] += sum;
    }
}

/* ---- launches ---- */

/* The second kernel may be sent out while the first still runs; it waits by itself. */
template <typename T>
static hybrid_status launch_fix(hy_lane *lane, const hy_spmm_operands<T> &o,
                                const merge_carries<T> &carries, int64_t tiles,
                                int log_lanes)
{
    const dim3 grid(hy_blocks(tiles, HY_CUDA_THREADS / 32),
                    hy_blocks(o.n, 1 << log_lanes, HY_MOST_PASSES));
    hy_context *ctx = lane->backend->ctx;
    int device = 0, major = 0;
    HY_CUDA(ctx, cudaGetDevice(&device));
    HY_CUDA(ctx,
            cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));

    cudaLaunchAttribute early = {};
    early.id                  = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config                        = {};
    config.gridDim                                   = grid;
    config.blockDim                                  = dim3(HY_CUDA_THREADS);
    config.stream                                    = hy_stream(lane);
    config.attrs                                     = &early;
    config.numAttrs                                  = major >= 9 ? 1 : 0;
    HY_CUDA(ctx,
            cudaLaunchKernelEx(&config, fix_kernel<T>, o, carries, tiles, log_lanes));
    return HYBRID_OK;
}

template <typename T, int VEC>
static void launch(hy_lane *lane, const hy_spmm_operands<T> &o, merge_shape shape,
                   const merge_carries<T> &carries, int64_t tiles)
{
    shape.columns      = hy_columns_of<T, VEC>(o.n);
    shape.pass_columns = VEC << shape.columns.log_lanes;
    if (shape.pass_columns < o.n && o.n % shape.pass_columns != 0)
        shape.pass_columns *= 2;
    const dim3 grid(hy_blocks(tiles, 1), 1);
    merge_kernel<T, VEC>
        <<<grid, HY_CUDA_THREADS, merge_room<T>(shape), hy_stream(lane)>>>(o, shape,
                                                                           carries);
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const hy_problem *p         = job->problem;
    const hy_spmm_operands<T> o = hy_spmm_operands_of<T>(job);
    if (o.rows == 0 || o.n == 0)
        return HYBRID_OK;
    merge_shape shape   = merge_shape_of<T>(p->X->cols);
    const int64_t first = job->chunk->row_begin;
    shape.skew          = int((first + hy_offset(p->A, first)) % shape.items());
    shape.nnz           = job->chunk->features.nnz;

    const int64_t tiles = (shape.skew + o.rows + shape.nnz - 1) / shape.items() + 1;
    merge_carries<T> carries;
    carries.notes  = static_cast<merge_note *>(job->work.ptr);
    carries.values = reinterpret_cast<T *>(carries.notes + tiles);
    if (p->X->cols == 1)
        vector_kernel<T><<<hy_blocks(tiles, 1), HY_CUDA_THREADS, merge_room<T>(shape),
                           hy_stream(lane)>>>(o, shape, carries);
    else if (sizeof(T) == 4 && hy_vectors_fit(o, 4))
        launch<T, 16 / sizeof(T)>(lane, o, shape, carries, tiles);
    else if (hy_vectors_fit(o, 2))
        launch<T, 2>(lane, o, shape, carries, tiles);
    else
        launch<T, 1>(lane, o, shape, carries, tiles);
    HY_TRY(hy_launched(lane, "spmm.cuda.merge"));
    return launch_fix(lane, o, carries, tiles, hy_log_lanes(double(p->X->cols), 5));
}

/* ---- the variant ---- */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)f, (void)r;
    return nullptr;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const double size  = double(hy_value_size(f->type));
    const double n     = double(f->out_cols);
    const double bytes = double(f->nnz) * (4 + size) /* A */
                         + double(f->nnz) * size * n /* rows of X */
                         + double(f->rows) * (8 + size * n);
    const size_t tiles = size_t(f->nnz + f->rows) / MERGE_LEAST_ITEMS + 2;
    hy_cost c          = {};
    c.pack_bytes       = hy_pack_csr_bytes(HY_SPMM, f);
    c.out_bytes        = hy_rows_bytes(HY_SPMM, f, 0);
    c.work_bytes =
        tiles * (sizeof(merge_note) + size_t(f->out_cols) * hy_value_size(f->type));
    c.prepare_s  = double(c.pack_bytes) / HY_PACK_BPS;
    c.multiply_s = 2 * r->launch_s + bytes / r->mem_Bps;
    return c;
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return job->problem->A->type == HYBRID_F64 ? multiply_as<double>(lane, job)
                                               : multiply_as<float>(lane, job);
}

extern "C" const hy_variant hy_spmm_cuda_merge = {
    .name     = "spmm.cuda.merge",
    .summary  = "CSR, equal shares of nonzeros and rows, carries added in order",
    .source   = "merge path of Yang, Buluc and Owens, Euro-Par 2018",
    .op       = HY_SPMM,
    .in_place = 0,
    .refuse   = refuse,
    .cost     = cost,
    .prepare  = hy_pack_csr,
    .multiply = multiply,
    .finish   = nullptr,
};
