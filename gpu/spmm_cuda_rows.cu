/* gpu/spmm_cuda_rows.cu - SpMM on the GPU, a warp or less to each row of A.

   X with many columns: a warp walks a row of A; its lanes own columns of X, so that
   loads of X coalesce, and nonzeros are read 32 at a time and passed round.
   Few columns, down to one: a group of 2^group lanes shares a row. 2^lanes of them
   own the columns, and the groups of 2^lanes take the nonzeros in turn and add up at
   the end, in the same order on every run.
   The work is a row's, so one long row holds up its warp: good when rows are even. */
#include "base/csr.h"
#include "gpu/cuda_lane.cuh"
#include "gpu/cuda_tuning.h"
#include "partition/pack.h"

enum { WARP = 32, WARPS = HY_CUDA_THREADS / WARP, MOST_TILES = 65535 };

/* ELEMS neighbours, loaded and stored at once. */
template <typename T, int ELEMS> struct alignas(sizeof(T) * ELEMS) pack_of {
    T x[ELEMS];
};

/* What both kernels read and write. */
template <typename T> struct operands {
    int64_t rows, n; /* n columns of X */
    const int64_t *row_ptr;
    const int32_t *col;
    const T *val;
    const T *x;
    int64_t ld; /* of X */
    T *y;       /* rows x n, row-major */
};

template <typename T, int ELEMS>
__device__ pack_of<T, ELEMS> load_x(const operands<T> &o, int col, int64_t j)
{
    return *reinterpret_cast<const pack_of<T, ELEMS> *>(o.x + col * o.ld + j);
}

template <typename T, int ELEMS>
__device__ void store_y(const operands<T> &o, int64_t row, int64_t j, const T *sum)
{
    pack_of<T, ELEMS> out;
    for (int e = 0; e < ELEMS; e++)
        out.x[e] = sum[e];
    *reinterpret_cast<pack_of<T, ELEMS> *>(o.y + row * o.n + j) = out;
}

/* Block (x, y): WARPS rows; tiles y, y + gridDim.y, ... of WARP * ELEMS columns. */
template <typename T, int ELEMS>
__global__ void __launch_bounds__(HY_CUDA_THREADS, 1) wide_kernel(operands<T> o)
{
    constexpr unsigned ALL = 0xffffffffu;
    constexpr int AHEAD    = HY_ROWS_WIDE_AHEAD;
    const int lane         = threadIdx.x % WARP;
    const int64_t row      = int64_t(blockIdx.x) * WARPS + threadIdx.x / WARP;
    if (row >= o.rows)
        return;
    const int64_t begin = o.row_ptr[row], end = o.row_ptr[row + 1];

    for (int64_t tile = blockIdx.y; tile * WARP * ELEMS < o.n; tile += gridDim.y) {
        const int64_t j   = (tile * WARP + lane) * ELEMS;
        const bool inside = j < o.n;
        T sum[ELEMS]      = {};
        for (int64_t k = begin; k < end; k += WARP) {
            const int left  = int(min(end - k, int64_t(WARP)));
            const bool some = lane < left;
            const int c     = some ? o.col[k + lane] : 0;
            const T a       = some ? o.val[k + lane] : T(0);
            for (int s = 0; s < left; s += AHEAD) {
                pack_of<T, ELEMS> x[AHEAD];
                T as[AHEAD];
#pragma unroll
                for (int u = 0; u < AHEAD; u++) {
                    const int cs = __shfl_sync(ALL, c, s + u);
                    as[u]        = __shfl_sync(ALL, a, s + u);
                    x[u]         = {}; /* not X, which may hold infinities */
                    if (inside && s + u < left)
                        x[u] = load_x<T, ELEMS>(o, cs, j);
                }
#pragma unroll
                for (int u = 0; u < AHEAD; u++)
                    for (int e = 0; e < ELEMS; e++)
                        sum[e] += as[u] * x[u].x[e];
            }
        }
        if (inside)
            store_y<T, ELEMS>(o, row, j, sum);
    }
}

/* 2^group lanes a row, 2^lanes of them across the columns. */
template <typename T, int ELEMS>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    narrow_kernel(operands<T> o, int lanes, int group)
{
    constexpr int AHEAD = HY_ROWS_NARROW_AHEAD;
    const int64_t row =
        int64_t(blockIdx.x) * (HY_CUDA_THREADS >> group) + (threadIdx.x >> group);
    const int ways    = 1 << (group - lanes);
    const int way     = (threadIdx.x & ((1 << group) - 1)) >> lanes;
    const int64_t j   = int64_t(threadIdx.x & ((1 << lanes) - 1)) * ELEMS;
    const bool inside = row < o.rows && j < o.n;
    int64_t k         = inside ? o.row_ptr[row] + way : 0;
    const int64_t end = inside ? o.row_ptr[row + 1] : 0;
    T sum[ELEMS]      = {};

    for (; k < end; k += AHEAD * ways) {
        pack_of<T, ELEMS> x[AHEAD];
        T a[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const int64_t at = k + u * ways;
            const bool some  = at < end;
            a[u]             = some ? o.val[at] : T(0);
            x[u]             = {};
            if (some)
                x[u] = load_x<T, ELEMS>(o, o.col[at], j);
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
            for (int e = 0; e < ELEMS; e++)
                sum[e] += a[u] * x[u].x[e];
    }
    for (int apart = (1 << group) >> 1; apart >= 1 << lanes; apart >>= 1)
        for (int e = 0; e < ELEMS; e++)
            sum[e] += __shfl_xor_sync(0xffffffffu, sum[e], apart);
    if (inside && way == 0)
        store_y<T, ELEMS>(o, row, j, sum);
}

/* The smallest s with 2^s >= n, at most 5: lanes of a warp. */
static int log_lanes(double n)
{
    int s = 0;
    while (s < 5 && (1 << s) < n)
        s++;
    return s;
}

/* How many lanes share the nonzeros of a row, as a power of two. A property of the
   problem, not of the chunk: it decides the order of additions. */
static int log_ways(const hy_problem *p)
{
    const int free = 5 - log_lanes(double(p->X->cols));
    const int used = log_lanes(double(p->A->nnz) / double(p->A->rows) / 2);
    return used < free ? used : free; /* two nonzeros a lane at least */
}

template <typename T, int ELEMS>
static void launch(hy_lane *lane, const operands<T> &o, int ways)
{
    const int64_t columns = (o.n + ELEMS - 1) / ELEMS;
    const int lanes       = log_lanes(double(columns));
    if (lanes == 5) {
        const dim3 grid(hy_blocks(o.rows, WARPS), hy_blocks(columns, WARP, MOST_TILES));
        wide_kernel<T, ELEMS><<<grid, HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o);
    } else {
        const int group = lanes + ways;
        narrow_kernel<T, ELEMS><<<hy_blocks(o.rows, HY_CUDA_THREADS >> group),
                                  HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o, lanes, group);
    }
}

/* Whether rows of X and Y can be read and written `elems` values at a time. */
template <typename T> static bool fits(const operands<T> &o, int elems)
{
    const uintptr_t ends =
        reinterpret_cast<uintptr_t>(o.x) | reinterpret_cast<uintptr_t>(o.y);
    return o.n % elems == 0 && o.ld % elems == 0 && ends % (elems * sizeof(T)) == 0;
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const hy_csr_view a   = hy_packed_a(job);
    const hy_dense_view x = hy_packed_x(job);
    const operands<T> o   = {a.rows,
                             job->chunk->col_end - job->chunk->col_begin,
                             a.row_ptr,
                             a.col,
                             static_cast<const T *>(a.val),
                             static_cast<const T *>(x.x),
                             x.ld,
                             static_cast<T *>(job->out.val)};
    if (o.rows == 0 || o.n == 0)
        return HYBRID_OK;
    const int ways = log_ways(job->problem);
    if (sizeof(T) == 4 && fits(o, 4))
        launch<T, 16 / sizeof(T)>(lane, o, ways);
    else if (fits(o, 2))
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
    .summary  = "CSR, a warp or less to each row, lanes across the columns of X",
    .source   = "row split of Yang, Buluc and Owens, Euro-Par 2018",
    .op       = HY_SPMM,
    .in_place = 0,
    .refuse   = refuse,
    .cost     = cost,
    .prepare  = hy_pack_csr,
    .multiply = multiply,
    .finish   = nullptr,
};
