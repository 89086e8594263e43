/* gpu/spmm_cuda_rows.cu - SpMM on the GPU, a group of lanes to each row of A.

   X with rows of 128 bytes or more: the group's lanes own columns, and read the row's
   nonzeros one a lane and pass them round.
   Fewer columns, down to one: a group of 2^group lanes shares a row. 2^log_lanes of them
   own the columns, and the groups of 2^log_lanes take the nonzeros in turn and add up at
   the end, in the same order on every run.
   The work is a row's, so one long row holds up its warp: good when rows are even. */
#include "gpu/spmm_lanes.cuh"

static constexpr unsigned ALL = 0xffffffffu;

/* The dot products of one row with this lane's columns. Warps stay together: groups
   whose row has ended wait for the others. */
template <typename T, int VEC, int TILES>
static __device__ void walk(const hy_spmm_operands<T> &o, int64_t row, int lanes,
                            int64_t j)
{
    constexpr int AHEAD = HY_ROWS_WIDE_AHEAD / TILES;
    const int tile      = lanes * VEC;
    const int lane      = int(threadIdx.x) & (lanes - 1);
    const bool real     = row < o.rows;
    int64_t k           = real ? o.row_ptr[row] : 0;
    const int64_t end   = real ? o.row_ptr[row + 1] : 0;
    T sum[TILES][VEC]   = {};
    int32_t c           = k + lane < end ? o.col[k + lane] : 0;
    T a                 = k + lane < end ? o.val[k + lane] : T(0);

    while (__any_sync(ALL, k < end)) {
        const int left        = int(min(end - k, int64_t(lanes)));
        const int64_t next    = k + lanes + lane;
        const int32_t c_after = next < end ? o.col[next] : 0;
        const T a_after       = next < end ? o.val[next] : T(0);
        for (int s = 0; s < lanes && __any_sync(ALL, s < left); s += AHEAD) {
            hy_vec<T, VEC> x[AHEAD][TILES];
            T as[AHEAD];
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                const int32_t cs = __shfl_sync(ALL, c, s + u, lanes);
                as[u]            = __shfl_sync(ALL, a, s + u, lanes);
#pragma unroll
                for (int t = 0; t < TILES; t++) {
                    x[u][t] = {}; /* not X, which may hold infinities */
                    if (s + u < left && j + t * tile < o.n)
                        x[u][t] = hy_load_x<T, VEC>(o, cs, j + t * tile);
                }
            }
#pragma unroll
            for (int u = 0; u < AHEAD; u++)
#pragma unroll
                for (int t = 0; t < TILES; t++)
#pragma unroll
                    for (int e = 0; e < VEC; e++)
                        sum[t][e] += as[u] * x[u][t].x[e];
        }
        c = c_after;
        a = a_after;
        k += lanes;
    }
    if (real)
        hy_store_y<T, VEC, TILES>(o.y + row * o.n, o.n, j, tile, sum);
}

/* Block (x, y): HY_ROWS_THREADS >> log_lanes rows; passes y, y + gridDim.y, ... */
template <typename T, int VEC>
static __global__ void __launch_bounds__(HY_ROWS_THREADS, 1024 / HY_ROWS_THREADS)
    wide_kernel(hy_spmm_operands<T> o, hy_spmm_columns columns)
{
    const int lanes = 1 << columns.log_lanes;
    const int64_t row =
        (int64_t(blockIdx.x) * HY_ROWS_THREADS + threadIdx.x) >> columns.log_lanes;
    for (int64_t pass = blockIdx.y; pass < columns.passes; pass += gridDim.y) {
        const int64_t j = (pass * lanes + (threadIdx.x & (lanes - 1))) * VEC;
        if (pass + 1 == columns.passes && (pass + 1) * lanes * VEC < o.n)
            walk<T, VEC, 2>(o, row, lanes, j);
        else
            walk<T, VEC, 1>(o, row, lanes, j);
    }
}

/* 2^group lanes a row, 2^log_lanes of them across the columns. */
template <typename T, int VEC>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    narrow_kernel(hy_spmm_operands<T> o, int log_lanes, int group)
{
    constexpr int AHEAD = HY_ROWS_NARROW_AHEAD;
    const int64_t row =
        int64_t(blockIdx.x) * (HY_CUDA_THREADS >> group) + (threadIdx.x >> group);
    const int ways    = 1 << (group - log_lanes);
    const int way     = (threadIdx.x & ((1 << group) - 1)) >> log_lanes;
    const int64_t j   = int64_t(threadIdx.x & ((1 << log_lanes) - 1)) * VEC;
    const bool inside = row < o.rows && j < o.n;
    int64_t k         = inside ? o.row_ptr[row] + way : 0;
    const int64_t end = inside ? o.row_ptr[row + 1] : 0;
    T sum[1][VEC]     = {};

    for (; k < end; k += AHEAD * ways) {
        hy_vec<T, VEC> x[AHEAD];
        T a[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const int64_t at = k + u * ways;
            const bool some  = at < end;
            a[u]             = some ? o.val[at] : T(0);
            x[u]             = {};
            if (some)
                x[u] = hy_load_x<T, VEC>(o, o.col[at], j);
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
#pragma unroll
            for (int e = 0; e < VEC; e++)
                sum[0][e] += a[u] * x[u].x[e];
    }
    for (int apart = (1 << group) >> 1; apart >= 1 << log_lanes; apart >>= 1)
#pragma unroll
        for (int e = 0; e < VEC; e++)
            sum[0][e] += __shfl_xor_sync(ALL, sum[0][e], apart);
    if (inside && way == 0)
        hy_store_y<T, VEC, 1>(o.y + row * o.n, o.n, j, 0, sum);
}

/* Whether rows of X of n columns keep a group of lanes busy that reads whole lines. */
template <typename T> static bool is_wide(int64_t n)
{
    return n * int64_t(sizeof(T)) > HY_SPMM_LINE / 2;
}

/* How many lanes share the nonzeros of a row, as a power of two. A property of the
   problem, not of the chunk: it decides the order of additions. */
template <typename T> static int log_ways(const hy_problem *p)
{
    if (is_wide<T>(p->X->cols))
        return 0;
    const int free    = 5 - hy_log_lanes(double(p->X->cols), 5);
    const double mean = double(p->A->nnz) / double(p->A->rows);
    return hy_log_lanes(mean / double(HY_ROWS_LANE_NONZEROS), free);
}

template <typename T, int VEC>
static void launch(hy_lane *lane, const hy_spmm_operands<T> &o, int ways)
{
    const hy_spmm_columns c = hy_columns_of<T, VEC>(o.n);
    if (is_wide<T>(o.n)) {
        const dim3 grid(hy_blocks(o.rows, HY_ROWS_THREADS >> c.log_lanes),
                        hy_blocks(c.passes, 1, HY_MOST_PASSES));
        wide_kernel<T, VEC><<<grid, HY_ROWS_THREADS, 0, hy_stream(lane)>>>(o, c);
    } else {
        const int group       = c.log_lanes + ways;
        const unsigned blocks = hy_blocks(o.rows, HY_CUDA_THREADS >> group);
        narrow_kernel<T, VEC>
            <<<blocks, HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o, c.log_lanes, group);
    }
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const hy_spmm_operands<T> o = hy_spmm_operands_of<T>(job);
    if (o.rows == 0 || o.n == 0)
        return HYBRID_OK;
    const int ways = log_ways<T>(job->problem);
    if (sizeof(T) == 4 && hy_vectors_fit(o, 4))
        launch<T, 16 / sizeof(T)>(lane, o, ways);
    else if (hy_vectors_fit(o, 2))
        launch<T, 2>(lane, o, ways);
    else
        launch<T, 1>(lane, o, ways);
    return hy_launched(lane, "spmm.cuda.rows");
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
    hy_cost c    = {};
    c.pack_bytes = hy_pack_csr_bytes(HY_SPMM, f);
    c.out_bytes  = hy_rows_bytes(HY_SPMM, f, 0);
    c.prepare_s  = double(c.pack_bytes) / HY_PACK_BPS;
    c.multiply_s = r->launch_s + bytes / r->mem_Bps;
    return c;
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return job->problem->A->type == HYBRID_F64 ? multiply_as<double>(lane, job)
                                               : multiply_as<float>(lane, job);
}

extern "C" const hy_variant hy_spmm_cuda_rows = {
    .name     = "spmm.cuda.rows",
    .summary  = "CSR, a group of lanes to each row, lanes across the columns of X",
    .source   = "row split of Yang, Buluc and Owens, Euro-Par 2018",
    .op       = HY_SPMM,
    .in_place = 0,
    .refuse   = refuse,
    .cost     = cost,
    .prepare  = hy_pack_csr,
    .multiply = multiply,
    .finish   = nullptr,
};
