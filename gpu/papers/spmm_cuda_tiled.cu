/* gpu/papers/spmm_cuda_tiled.cu - SpMM with column-major X and Y and rows of X staged in
   tiles.

       y[i, j] = sum over the entries (i, c) of a[i, c] x[c, j],   R columns j at a time

   This is Tiled SpMM (sections 2.5 and 3). A block has a panel of 256 strips, one for
   each thread, and R columns of X. A strip is a row of A or a segment of a long row.
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
   sums of a row in a fixed order.

   The parameters (partition/tiled/tiled_rules.h) force R, cutting and sorting. With
   paper=1 the kernel is the paper's: R is 16, slices are padded, the only tile is filled
   before it is used, and the last columns are computed R at a time, too. */
#include "base/data/csr.h"
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/papers/tiled_stage.cuh"

using namespace tiled;

constexpr int MAX_ROUNDS = 65535; /* maximum gridDim.y: thread blocks side by side over
                                     the columns of X */

/* Number of tiles in shared memory that a thread block uses in turn. */
template <bool PAPER> constexpr int TILES = PAPER ? 1 : 2;

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
template <typename T, int R, bool PAPER>
__global__ void __launch_bounds__(THREADS)
    tiled_kernel(const operands<T> o, int64_t begin, int64_t end)
{
    constexpr int AHEAD = TILES<PAPER> - 1;
    extern __shared__ __align__(16) char memory[];
    tile<T, R> *tiles   = reinterpret_cast<tile<T, R> *>(memory);
    const int first     = o.a.start[blockIdx.x];
    const int last      = o.a.start[blockIdx.x + 1];
    const int out       = o.a.out[int64_t(blockIdx.x) * THREADS + threadIdx.x];
    const int64_t round = int64_t(gridDim.y) * R;
    for (int64_t j = begin + int64_t(blockIdx.y) * R; j < end; j += round) {
        T sum[R] = {};
        if (AHEAD > 0 && first < last)
            stage_tile<T, R>(o, o.a.stage[first], j, end, &tiles[0]);
        __pipeline_commit();
        for (int s = first; s < last; s++) {
            if (s + AHEAD < last)
                stage_tile<T, R>(o, o.a.stage[s + AHEAD], j, end,
                                 &tiles[(s + AHEAD - first) % TILES<PAPER>]);
            __pipeline_commit(); /* is called even without copies, so that the wait below
                                    counts the same number of commits in each step */
            const steps mine = steps_of(o, s);
            __pipeline_wait_prior(AHEAD);
            __syncthreads(); /* the copies of all threads for this tile have arrived */
            add_stage<T, R, PAPER>(o, mine, tiles[(s - first) % TILES<PAPER>], sum);
            __syncthreads(); /* all threads have used the tile, which may now be
                                overwritten */
        }
        store_sums<T, R>(o, out, j, end, sum);
    }
}

/* Sums a row's partials, the sums of its segments, and stores the sums to Y. Thread block
   (x, y) has a warp for each row that was cut into segments, and takes columns y, y +
   gridDim.y, ... */
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

/* Raises the limit on the shared memory of a thread block to `room` bytes; 48 KB need no
   call. The limit belongs to the kernel, and all its launches ask for the same. */
template <typename K>
static hybrid_status allow_shared(hy_lane *lane, K *kernel, size_t room)
{
    if (room > 48 << 10)
        HY_CUDA(lane->backend,
                cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     int(room)));
    return HYBRID_OK;
}

template <typename T, int R, bool PAPER>
static hybrid_status launch(hy_lane *lane, const operands<T> &o, int64_t begin,
                            int64_t end)
{
    constexpr size_t room = TILES<PAPER> * sizeof(tile<T, R>);
    const dim3 grid(unsigned(o.a.head.panels), hy_blocks(end - begin, R, MAX_ROUNDS));
    if (begin >= end)
        return HYBRID_OK;
    HY_TRY(allow_shared(lane, tiled_kernel<T, R, PAPER>, room));
    tiled_kernel<T, R, PAPER><<<grid, THREADS, room, hy_stream(lane)>>>(o, begin, end);
    return hy_launched(lane, "spmm.cuda.tiled");
}

/* Computes the last columns, from `begin` on and at most R, with the smallest kernel that
   holds them. */
template <typename T, int R>
static hybrid_status launch_rest(hy_lane *lane, const operands<T> &o, int64_t begin,
                                 int64_t end)
{
    if constexpr (R > 1)
        if (end - begin <= R / 2)
            return launch_rest<T, R / 2>(lane, o, begin, end);
    return launch<T, R, false>(lane, o, begin, end);
}

/* Computes whole groups of R columns, then the remaining columns. If these are more than
   half a group, one launch computes all. */
template <typename T, int R>
static hybrid_status launch_all(hy_lane *lane, const operands<T> &o, int64_t n,
                                bool paper)
{
    const int64_t whole = n / R * R, rest = n - whole;
    if (paper)
        return launch<T, R, true>(lane, o, 0, n);
    if (rest > R / 2)
        return launch<T, R, false>(lane, o, 0, n);
    HY_TRY((launch<T, R, false>(lane, o, 0, whole)));
    return launch_rest<T, R>(lane, o, whole, n);
}

template <typename T>
static hybrid_status launch_as(hy_lane *lane, const operands<T> &o, int64_t n,
                               const hy_tiled_rules &rules)
{
    const bool paper = rules.paper != 0;
    return rules.R == 16  ? launch_all<T, 16>(lane, o, n, paper)
           : rules.R == 8 ? launch_all<T, 8>(lane, o, n, paper)
                          : launch_all<T, 4>(lane, o, n, paper);
}

static hy_tiled_rules rules_of(const hy_job *job)
{
    return hy_tiled_rules_for(&job->chunk->features, job->rates);
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const int64_t n     = job->chunk->col_end - job->chunk->col_begin;
    const operands<T> o = {hy_packed_tiled(job), hy_packed_x_cols(job),
                           job->chunk->features.rows, static_cast<T *>(job->out.val),
                           static_cast<T *>(job->work.ptr)};
    if (o.rows == 0 || n == 0)
        return HYBRID_OK;
    HY_TRY(launch_as(lane, o, n, rules_of(job)));
    if (o.a.head.splits == 0)
        return HYBRID_OK;
    const dim3 grid(hy_blocks(o.a.head.splits, HY_CUDA_THREADS / WARP),
                    hy_blocks(n, 1, MAX_ROUNDS));
    combine_kernel<T><<<grid, HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o, n);
    return hy_launched(lane, "adding the parts of rows");
}

/* ---- the variant ---- */

/* Returns a lower bound on how many entries of a panel use a staged row of X: the mean
   number of entries in a column of 16 rows of A; a panel has 256 rows. */
static double reuse_of(const hy_features *f)
{
    const double reuse = f->tile_fill * 16.0;
    return reuse > 1 ? reuse : 1;
}

/* Predicts the cost from bytes through the L2, bytes from shared memory and bytes of Y.
   The first two are moved at the same time, so the slower one counts. */
static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const hy_tiled_rules rules = hy_tiled_rules_for(f, r);
    hy_tiled_rules unpadded    = rules;
    const double size          = double(hy_value_size(f->type));
    const double n             = double(f->out_cols);
    const double nnz           = double(f->nnz);
    const double passes        = double((f->out_cols + rules.R - 1) / rules.R);
    const double reuse         = reuse_of(f);
    /* Gamma of the head comment. It falls with `reuse`: rows of A that share no columns
       also have columns that lie far apart. */
    const double gamma   = 1 + (32 / size - 1) / reuse;
    const double through = nnz * (size + 2) * passes + nnz * n * size * gamma / reuse;
    const double shared  = nnz * n * size / HY_TILED_SHARED_RATE;
    const double cached  = through / HY_TILED_L2_RATE;
    const double y       = double(f->rows) * n * size;
    hy_cost c            = {};
    unpadded.paper       = 0;
    c.pack_bytes         = hy_pack_tiled_bytes(f, &rules);
    /* a lower bound on the bytes sent: those without padding */
    c.sent_bytes = double(hy_pack_tiled_bytes(f, &unpadded));
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
    const hy_tiled_rules rules = rules_of(job);
    return hy_pack_tiled(job, &rules);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->problem->A->type, multiply_as, lane, job);
}

extern "C" const hy_variant hy_spmm_cuda_tiled = {
    .name    = "spmm.cuda.tiled",
    .summary = "X and Y in columns, rows of X staged in shared memory for 256 rows of A",
    .source  = "Tiled SpMM of Hidayetoglu et al.",
    .parameters = "R=4|8|16 segment=off|on reorder=off|on paper=1",
    .op         = HY_SPMM,
    .form       = HY_FORM_SLABS,
    .in_place   = 0,
    .by_name    = 1,
    .refuse     = hy_tiled_refuse,
    .cost       = cost,
    .model      = hy_tiled_model,
    .prepare    = prepare,
    .multiply   = multiply,
    .finish     = nullptr,
};
