/* gpu/papers/spmm_cuda_hrpb.cu - SpMM on tensor cores with a warp for each row panel of
   16 rows.

   The CPU has compacted the columns of each panel (partition/format/pack_hrpb.c), so that
   a row of X is read once for 16 rows of A, and cut them into bricks of 16 x 4, the
   operands of tensor cores. A warp computes 16 rows of 8 to 64 columns of Y. In each
   block of 16 columns of A, a lane (thread) finds its elements by counting the bits below
   its own in the patterns.

   A warp computes Y in tiles of 8 columns, and the columns of X may go to the tiles in
   any order. Column g 8 VEC + l VEC + v is column l of tile g VEC + v, so that a lane's
   elements of X are neighbours in a row. No two warps of a panel need the same element of
   X, so X is loaded to registers directly. Warps that share a panel are neighbours in a
   thread block.

   Heavy panels, which have many blocks, are cut into parts; a second kernel adds their
   results in order. A zero in a brick times an infinity in X gives NaN although the row
   has no entry there. A warp with such results computes its rows again without bricks. */
#include "base/data/csr.h"
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_tuning.h"
#include "gpu/papers/hrpb_mma.cuh"
#include "gpu/papers/hrpb_model.cuh"
#include "gpu/papers/hrpb_rows.cuh"
#include "gpu/papers/hrpb_shared.cuh"

using namespace hrpb;

/* Loads the lane's elements of bricks b and b + 1, of which the first value has index
   `at`, and returns the index after their last value. Elements that are no entries load a
   zero from memory, so that every register is written by a load. */
template <typename T, int TILES>
__device__ int load_a(const operands<T> &o, int word, int b, int at,
                      brick_pair<T, TILES> *p)
{
    const unsigned own = 1u << (threadIdx.x % WARP);
    p->any             = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned bits = shuffle(word, BITS + 2 * b + i);
        const int mine      = at + __popc(bits & (own - 1));
        p->a[i]             = o.val[bits & own ? mine : o.zero];
        p->any |= bits;
        at += __popc(bits);
    }
    return at;
}

/* The lane's columns of X: VEC of each 8 VEC columns. `last` is the distance in bytes
   from `first` to the last column that may be read. The lane reads that column instead of
   columns beyond the end of a row, and does not store their sums. */
struct column_range {
    const char *first; /* address in row 0 of X of the first of the lane's columns */
    unsigned last;
};

template <typename T, int VEC, int TILES>
__device__ column_range columns_of(const operands<T> &o, int64_t j0)
{
    const int64_t j    = j0 + threadIdx.x % WARP / 4 * VEC;
    const int64_t most = o.n - VEC;
    const int64_t left = j < most ? min(most - j, int64_t(8 * TILES)) : 0;
    return {reinterpret_cast<const char *>(o.x + min(j, most)),
            unsigned(left * sizeof(T))};
}

template <typename T, int VEC, int TILES>
__device__ void load_x(const operands<T> &o, int word, int b, const column_range &c,
                       brick_pair<T, TILES> *p)
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int lane     = HY_HRPB_BRICK * (b + i) + threadIdx.x % HY_HRPB_BRICK;
        const uint32_t row = shuffle(word, lane);
        const char *from   = c.first + uint64_t(row) * o.x_bytes;
#pragma unroll
        for (int g = 0; g < TILES / VEC; g++) {
            const unsigned further =
                g == 0 ? 0 : min(unsigned(g * 8 * VEC * sizeof(T)), c.last);
            const auto x = *reinterpret_cast<const pack_of<T, VEC> *>(from + further);
#pragma unroll
            for (int v = 0; v < VEC; v++)
                p->x[g * VEC + v][i] = x.x[v];
        }
    }
}

/* Adds the unit's rows of A times the columns of X from j0 on to sum[tile]. While two
   bricks are multiplied, the next two are loaded. Each load has its own registers, which
   need not be copied. */
template <typename T, int VEC, int TILES, bool TF32>
__device__ void add_bricks(const operands<T> &o, const hy_hrpb_unit &u, int64_t j0,
                           T (*sum)[4])
{
    if (u.begin == u.end)
        return;
    const column_range c = columns_of<T, VEC, TILES>(o, j0);
    brick_pair<T, TILES> first, second;
    int word   = load_words(o, u.begin);
    second.any = 0;
    for (int b = u.begin; b < u.end; b++) {
        load_x<T, VEC, TILES>(o, word, 0, c, &first);
        const int at = load_a(o, word, 0, shuffle(word, FIRST), &first);
        if (second.any)
            add_product<TF32>(second, sum);
        load_x<T, VEC, TILES>(o, word, 2, c, &second);
        load_a(o, word, 2, at, &second);
        word = load_words(o, min(b + 1, u.end - 1));
        if (first.any)
            add_product<TF32>(first, sum);
    }
    if (second.any)
        add_product<TF32>(second, sum);
}

/* Returns how many thread blocks a multiprocessor should hold at least. `bytes` is the
   size of a value times the number of tiles of a warp. */
constexpr int resident(size_t bytes)
{
    if (bytes > 8 * sizeof(float))
        return HY_HRPB_RESIDENT - 1;
    return bytes > 4 * sizeof(float) ? HY_HRPB_RESIDENT : HY_HRPB_RESIDENT + 1;
}

/* Block (x, y) computes WARPS / across units (partition/format/pack.h). `across` warps
   side by side take 8 TILES columns each, in rounds y, y + gridDim.y, ... over the
   columns. */
template <typename T, int VEC, int TILES, bool TF32>
__global__ void __launch_bounds__(HY_HRPB_THREADS, resident(TILES * sizeof(T)))
    panel_kernel(const operands<T> o, int across)
{
    constexpr int COLS = (8 * TILES + WARP - 1) / WARP;
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int64_t k = int64_t(blockIdx.x) * (WARPS / across) + warp / across;
    if (k >= o.units)
        return;
    const hy_hrpb_unit u = o.unit[k];
    int64_t j0           = (int64_t(blockIdx.y) * across + warp % across) * 8 * TILES;
    for (; j0 < o.n; j0 += int64_t(gridDim.y) * across * 8 * TILES) {
        T sum[TILES][4] = {};
        add_bricks<T, VEC, TILES, TF32>(o, u, j0, sum);
        if (all_finite<T, TILES>(sum))
            store_tiles<T, VEC, TILES>(o, u, j0, sum);
        else
            add_brick_rows<T, COLS>(o, u, j0 + lane, min(j0 + 8 * TILES, o.n));
    }
}

/* Sums a panel's partials, the results of its parts, in order and stores the sums to Y.
   Blocks (x, y) with the same x share a panel. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    combine_kernel(const operands<T> o, const hy_hrpb_split *splits)
{
    const hy_hrpb_split s = splits[blockIdx.x];
    const int64_t tile    = HY_HRPB_ROWS * o.n;
    const int64_t size    = min(tile, (o.rows - s.row) * o.n);
    const T *from         = o.partials + s.partial * tile;
    const int64_t step    = int64_t(gridDim.y) * HY_CUDA_THREADS;
    for (int64_t i = int64_t(blockIdx.y) * HY_CUDA_THREADS + threadIdx.x; i < size;
         i += step) {
        T sum = from[i];
        for (int part = 1; part < s.parts; part++)
            sum += from[part * tile + i];
        o.y[s.row * o.n + i] = sum;
    }
}

/* ---- launches ---- */

template <typename T, int VEC, int TILES, bool TF32>
static void launch(hy_lane *lane, const operands<T> &o)
{
    const int64_t warps  = (o.n + 8 * TILES - 1) / (8 * TILES);
    const int64_t rounds = (warps + WARPS - 1) / WARPS;
    const int across     = int((warps + rounds - 1) / rounds);
    /* every warp of a block has work: with across = 3 the block has 3 warps */
    const int threads = WARP * across * (WARPS / across);
    const dim3 grid(hy_blocks(o.units, WARPS / across),
                    hy_blocks(warps, across, MAX_ROUNDS));
    panel_kernel<T, VEC, TILES, TF32><<<grid, threads, 0, hy_stream(lane)>>>(o, across);
}

/* Returns true if rows of X and Y can be read and written `vec` values at a time. */
template <typename T> static bool fits(const operands<T> &o, int vec)
{
    const uintptr_t ends =
        reinterpret_cast<uintptr_t>(o.x) | reinterpret_cast<uintptr_t>(o.y);
    return o.n % vec == 0 && o.ld % vec == 0 && ends % (vec * sizeof(T)) == 0;
}

template <bool TF32> static void launch_for(hy_lane *lane, const operands<float> &o)
{
    const int tiles = tiles_for(HYBRID_F32, o.n, false);
    if (tiles == 8 && fits(o, 4))
        launch<float, 4, 8, TF32>(lane, o);
    else if (tiles == 8)
        launch<float, 1, 8, TF32>(lane, o);
    else if (tiles == 6)
        launch<float, 1, 6, TF32>(lane, o);
    else if (tiles == 5)
        launch<float, 1, 5, TF32>(lane, o);
    else if (tiles == 4 && fits(o, 4))
        launch<float, 4, 4, TF32>(lane, o);
    else if (tiles == 4)
        launch<float, 1, 4, TF32>(lane, o);
    else if (tiles == 2 && fits(o, 2))
        launch<float, 2, 2, TF32>(lane, o);
    else if (tiles == 2)
        launch<float, 1, 2, TF32>(lane, o);
    else
        launch<float, 1, 1, TF32>(lane, o);
}

template <bool TF32> static void launch_for(hy_lane *lane, const operands<double> &o)
{
    const int tiles = tiles_for(HYBRID_F64, o.n, false);
    if (tiles == 5)
        launch<double, 1, 5, TF32>(lane, o);
    else if (tiles == 4 && fits(o, 2))
        launch<double, 2, 4, TF32>(lane, o);
    else if (tiles == 4)
        launch<double, 1, 4, TF32>(lane, o);
    else if (tiles == 3)
        launch<double, 1, 3, TF32>(lane, o);
    else if (tiles == 2 && fits(o, 2))
        launch<double, 2, 2, TF32>(lane, o);
    else if (tiles == 2)
        launch<double, 1, 2, TF32>(lane, o);
    else
        launch<double, 1, 1, TF32>(lane, o);
}

template <typename T, bool TF32>
static hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const hy_hrpb_view a  = hy_packed_hrpb(job);
    const hy_dense_view x = hy_packed_x(job);
    const operands<T> o   = {job->chunk->features.rows,
                             job->chunk->col_end - job->chunk->col_begin,
                             a.unit,
                             a.head.units,
                             reinterpret_cast<const int32_t *>(a.block),
                             static_cast<const T *>(a.val),
                             int(job->chunk->features.nnz),
                             static_cast<const T *>(x.x),
                             x.ld,
                             uint32_t(size_t(x.ld) * sizeof(T)),
                             static_cast<T *>(job->out.val),
                             static_cast<T *>(job->work.ptr)};
    if (o.rows == 0 || o.n == 0)
        return HYBRID_OK;
    if constexpr (TF32) {
        if (is_paper(&job->chunk->features))
            launch_paper(lane, o);
        else
            launch_for<TF32>(lane, o);
    } else {
        launch_for<TF32>(lane, o);
    }
    HY_TRY(hy_launched(lane, "spmm.cuda.hrpb"));
    if (a.head.splits == 0)
        return HYBRID_OK;
    const dim3 grid(unsigned(a.head.splits),
                    hy_blocks(HY_HRPB_ROWS * o.n, HY_CUDA_THREADS, MAX_ROUNDS));
    combine_kernel<T><<<grid, HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o, a.split);
    return hy_launched(lane, "adding the parts of panels");
}

/* ---- the variant ---- */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    if (r->sm < 80)
        return "needs tensor cores for f32 and f64, which sm_80 and later have";
    if (f->out_cols > int64_t((UINT32_MAX - 15) / hy_value_size(f->type)))
        return "a row of X has 4 GiB or more";
    if (is_paper(f) && (f->type == HYBRID_F64 || !f->allow_tf32))
        return "paper=1 rounds f32 operands to TF32, which options must allow";
    return nullptr;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const hy_hrpb_rules rules = rules_for(f, r);
    const double fill = f->tile_fill > 0 ? f->tile_fill : 1 / double(HY_HRPB_ROWS);
    hy_cost c         = {};
    c.pack_bytes      = hy_pack_hrpb_bytes(f, &rules);
    c.work_bytes      = size_t(hy_pack_hrpb_partials(f, &rules)) * HY_HRPB_ROWS *
                   size_t(f->out_cols) * hy_value_size(f->type);
    c.out_bytes  = hy_rows_bytes(HY_SPMM, f, 0);
    c.prepare_s  = double(f->nnz) * (HY_HRPB_PACK_S + HY_HRPB_PACK_COLUMN_S / fill);
    c.multiply_s = multiply_s(f, r);
    return c;
}

static hybrid_status model(hy_context *ctx, const hybrid_csr *A, const hy_features *f,
                           const hy_rates *r, char *text, size_t room)
{
    (void)ctx, (void)A;
    write_model(f, r, text, room);
    return HYBRID_OK;
}

static hybrid_status prepare(hy_job *job)
{
    const hy_hrpb_rules rules = rules_for(&job->chunk->features, job->rates);
    return hy_pack_hrpb(job, &rules);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    const hy_features *f = &job->chunk->features;
    if (f->type == HYBRID_F64)
        return multiply_as<double, false>(lane, job);
    return f->allow_tf32 ? multiply_as<float, true>(lane, job)
                         : multiply_as<float, false>(lane, job);
}

extern "C" const hy_variant hy_spmm_cuda_hrpb = {
    .name       = "spmm.cuda.hrpb",
    .summary    = "bricks of 16 x 4 on tensor cores, a warp to each panel of 16 rows",
    .source     = "cuTeSpMM of Xiang et al., 2025",
    .parameters = "paper=1",
    .op         = HY_SPMM,
    .form       = HY_FORM_ROWS,
    .in_place   = 0,
    .rings      = 1,
    .refuse     = refuse,
    .cost       = cost,
    .model      = model,
    .prepare    = prepare,
    .multiply   = multiply,
    .finish     = nullptr,
};
