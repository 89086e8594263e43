/* gpu/papers/spmm_cuda_tiled.cu - SpMM with column-major X and Y and rows of X staged in
   tiles.

       y[i, j] = sum over the entries (i, c) of a[i, c] x[c, j],   R columns j at a time

   This is Tiled SpMM (sections 2.5 and 3). A block has a panel of 256 portions, one for
   each thread, and R columns of X. A portion is a row of A or a segment of a long row.
   The rows of X that the panel touches are copied to shared memory in tiles of up to 768
   rows, and each entry finds its row by a 16-bit index. While a tile is used, the next
   one is copied.

       tile, R = 8, f32:     group 0: columns j0 .. j0+3       group 1: j0+4 .. j0+7
           row map[0]        x x x x                            x x x x
           row map[1]        x x x x  <- 16 bytes, one load     x x x x
           ...               consecutive lanes store consecutive words: no bank conflict

       slice of a warp, counts 3 1 2 ... :  step 0: a0 b0 c0 ...  step 1: a1 c1 ...
                                            step 2: a2 ...        without padding

   Lower bound on device-memory traffic: X and Y once, (k + m) n s bytes, where s is the
   bytes of a value. In addition, the L2 moves:

       for each R columns, A: nnz (s + 2) bytes (B_T + B_IS of Eq. 3 with Z = 1);
       for each column, the staged rows: nnz s Gamma / rho bytes.

   rho is the number of entries of a panel that use a staged row, 1 without tiles. Gamma
   is up to 32 / s if rows are staged alone, because memory moves sectors of 32 bytes.

   Shared memory delivers n s bytes for each entry, about seven times faster than device
   memory.

   Blocks of one group of columns are neighbours, so that these R columns of X stay in the
   L2 while all panels use them. A of a chunk stays there too.

   Cutting rows (section 4.1, Eq. 5): with U, the blocks per multiprocessor, below 0.65,
   rows are cut into segments of U mu entries; otherwise, with sigma / mu above 1, into
   segments of mu; otherwise only very long rows are cut. A second kernel adds the partial
   sums of a row in a fixed order. */
#include "base/data/csr.h"
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/papers/tiled_stage.cuh"

using namespace tiled;

constexpr int STAGES = 2, MAX_ROUNDS = 65535; /* STAGES: tiles in shared memory that a
                                                 thread block uses in turn; MAX_ROUNDS:
                                                 maximum gridDim.y */

template <typename T, int R>
__device__ void store_sums(const operands<T> &o, int out, int64_t j, int64_t end,
                           const T *sum)
{
    const bool whole = out >= 0;
    const int64_t ld = whole ? o.rows : o.a.head.partials;
    T *to            = whole ? o.y + out : o.partials + (-1 - out);
    if (out == HY_TILED_NONE)
        return;
#pragma unroll
    for (int r = 0; r < R; r++)
        if (j + r < end)
            to[(j + r) * ld] = sum[r];
}

/* Block (x, y) computes panel x in columns [begin, end), groups y, y + gridDim.y, ... of
   R columns. */
template <typename T, int R>
__global__ void __launch_bounds__(THREADS)
    tiled_kernel(const operands<T> o, int64_t begin, int64_t end)
{
    extern __shared__ __align__(16) char memory[];
    tile<T, R> *tiles   = reinterpret_cast<tile<T, R> *>(memory);
    const int first     = o.a.start[blockIdx.x];
    const int last      = o.a.start[blockIdx.x + 1];
    const int out       = o.a.out[int64_t(blockIdx.x) * THREADS + threadIdx.x];
    const int64_t round = int64_t(gridDim.y) * R;
    for (int64_t j = begin + int64_t(blockIdx.y) * R; j < end; j += round) {
        T sum[R] = {};
        if (first < last)
            stage_tile<T, R>(o, o.a.stage[first], j, end, &tiles[0]);
        __pipeline_commit();
        for (int s = first; s < last; s++) {
            if (s + 1 < last)
                stage_tile<T, R>(o, o.a.stage[s + 1], j, end,
                                 &tiles[(s + 1 - first) % STAGES]);
            __pipeline_commit(); /* there may be no copies to commit */
            const steps mine = steps_of(o, s);
            __pipeline_wait_prior(STAGES - 1);
            __syncthreads(); /* the copies of all threads for this tile have arrived */
            add_stage<T, R>(o, mine, tiles[(s - first) % STAGES], sum);
            __syncthreads(); /* all threads have used the tile, which may now be
                                overwritten */
        }
        store_sums<T, R>(o, out, j, end, sum);
    }
}

/* Sums a row's partials, the sums of its segments, and stores the sums to Y. Block (x, y)
   has a warp for each row in segments and takes columns y, y + gridDim.y, ... */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    combine_kernel(const operands<T> o, int64_t n)
{
    const int64_t k = int64_t(blockIdx.x) * (HY_CUDA_THREADS / WARP) + threadIdx.x / WARP;
    const int lane  = threadIdx.x % WARP;
    if (k >= o.a.head.splits)
        return;
    const hy_tiled_split s = o.a.split[k];
    for (int64_t j = blockIdx.y; j < n; j += gridDim.y) {
        const T *from = o.partials + j * o.a.head.partials + s.partial;
        T sum         = 0;
        for (int i = lane; i < s.parts; i += WARP)
            sum += from[i];
#pragma unroll
        for (int apart = WARP / 2; apart > 0; apart /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        if (lane == 0)
            o.y[j * o.rows + s.row] = sum;
    }
}

/* ---- launches ---- */

static constexpr int columns_at_once(size_t size)
{
    return size == 8 ? HY_TILED_R_F64 : HY_TILED_R_F32;
}

template <typename T, int R>
static hybrid_status launch(hy_lane *lane, const operands<T> &o, int64_t begin,
                            int64_t end)
{
    constexpr size_t room = STAGES * sizeof(tile<T, R>);
    static_assert(room <= 48 << 10, "more has to be asked for");
    const dim3 grid(unsigned(o.a.head.panels), hy_blocks(end - begin, R, MAX_ROUNDS));
    if (begin >= end)
        return HYBRID_OK;
    tiled_kernel<T, R><<<grid, THREADS, room, hy_stream(lane)>>>(o, begin, end);
    return hy_launched(lane, "spmm.cuda.tiled");
}

/* Computes whole groups of R columns, then the remaining columns with the smallest R that
   holds them. */
template <typename T>
static hybrid_status launch_all(hy_lane *lane, const operands<T> &o, int64_t n)
{
    constexpr int R     = columns_at_once(sizeof(T));
    const int64_t whole = n / R * R, rest = n - whole;
    if (rest > R / 2)
        return launch<T, R>(lane, o, 0, n);
    HY_TRY((launch<T, R>(lane, o, 0, whole)));
    if (rest > 2)
        return launch<T, 4>(lane, o, whole, n);
    if (rest > 1)
        return launch<T, 2>(lane, o, whole, n);
    return launch<T, 1>(lane, o, whole, n);
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const int64_t n     = job->chunk->col_end - job->chunk->col_begin;
    const operands<T> o = {hy_packed_tiled(job), hy_packed_x_cols(job),
                           job->chunk->features.rows, static_cast<T *>(job->out.val),
                           static_cast<T *>(job->work.ptr)};
    if (o.rows == 0 || n == 0)
        return HYBRID_OK;
    HY_TRY(launch_all(lane, o, n));
    if (o.a.head.splits == 0)
        return HYBRID_OK;
    const dim3 grid(hy_blocks(o.a.head.splits, HY_CUDA_THREADS / WARP),
                    hy_blocks(n, 1, MAX_ROUNDS));
    combine_kernel<T><<<grid, HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o, n);
    return hy_launched(lane, "adding the parts of rows");
}

/* ---- the variant ---- */

static int64_t ceil_of(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Returns how rows are cut. It follows the decision chart of the paper (Fig. 6). A row of
   e entries in segments of at most g has less than 2 e / g segments. The bound on
   partials (hy_tiled_rules) covers both ways to cut, so that it does not fall where the
   chart changes its choice. */
static hy_tiled_rules rules_for(const hy_features *f, const hy_rates *r)
{
    const int64_t groups = ceil_of(f->out_cols, columns_at_once(hy_value_size(f->type)));
    const int64_t least = HY_TILED_LEAST, longest = HY_TILED_LONG;
    const int64_t mean = min(max(int64_t(f->row_mean) + 1, least), longest);
    const int64_t even = f->row_cv > 1 ? mean : longest;
    const int64_t wave = ceil_of(int64_t(THREADS) * r->width, max(groups, int64_t(1)));
    /* U mu of Eq. 5, the entries of a segment */
    const int64_t spread = max(ceil_of(f->nnz, wave), least);
    const bool idle      = double(f->rows) < HY_TILED_IDLE * double(wave);
    const int64_t most   = min(2 * f->nnz / least, 2 * wave);
    return {idle ? min(even, spread) : even, 2 * f->nnz / even + most};
}

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)f, (void)r;
    return nullptr;
}

/* Returns a lower bound on how many entries of a panel use a staged row of X: the mean
   for 16 rows of A, while a panel has 256. */
static double reuse_of(const hy_features *f)
{
    const double reuse = f->tile_fill * 16.0;
    return reuse > 1 ? reuse : 1;
}

/* Predicts the cost from bytes through the L2, bytes from shared memory and bytes of Y.
   The first two are moved at the same time, so the slower one counts. */
static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const hy_tiled_rules rules = rules_for(f, r);
    const double size          = double(hy_value_size(f->type));
    const double n             = double(f->out_cols);
    const double nnz           = double(f->nnz);
    const double passes = double(ceil_of(f->out_cols, columns_at_once(size_t(size))));
    const double reuse  = reuse_of(f);
    /* Gamma of the head comment: rows of A that share no columns have scattered columns,
       too. */
    const double gamma   = 1 + (32 / size - 1) / reuse;
    const double through = nnz * (size + 2) * passes + nnz * n * size * gamma / reuse;
    const double shared  = nnz * n * size / HY_TILED_SHARED_RATE;
    const double cached  = through / HY_TILED_L2_RATE;
    const double y       = double(f->rows) * n * size;
    hy_cost c            = {};
    c.pack_bytes         = hy_pack_tiled_bytes(f, &rules);
    c.work_bytes = size_t(rules.partials) * size_t(f->out_cols) * hy_value_size(f->type);
    c.out_bytes  = hy_rows_bytes(HY_SPMM, f, 0);
    c.prepare_s  = nnz * HY_TILED_PACK_ENTRY_S + nnz / reuse * HY_TILED_PACK_COLUMN_S;
    const double bytes = y + (shared > cached ? shared : cached);
    c.multiply_s =
        2 * r->launch_s + (passes > 1 ? 1 : HY_TILED_ALONE) * bytes / r->mem_Bps;
    return c;
}

static hybrid_status prepare(hy_job *job)
{
    const hy_tiled_rules rules = rules_for(&job->chunk->features, job->rates);
    return hy_pack_tiled(job, &rules);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return job->problem->A->type == HYBRID_F64 ? multiply_as<double>(lane, job)
                                               : multiply_as<float>(lane, job);
}

extern "C" const hy_variant hy_spmm_cuda_tiled = {
    .name     = "spmm.cuda.tiled",
    .summary  = "X and Y in columns, rows of X staged in shared memory for 256 rows of A",
    .source   = "Tiled SpMM of Hidayetoglu et al.",
    .op       = HY_SPMM,
    .form     = HY_FORM_SLABS,
    .in_place = 0,
    .by_name  = 1,
    .refuse   = refuse,
    .cost     = cost,
    .prepare  = prepare,
    .multiply = multiply,
    .finish   = nullptr,
};
