/* gpu/spmm_cuda_hrpb.cu - SpMM on tensor cores, a warp to a panel of 16 rows of A.

   The CPU has moved the columns of each panel together (partition/pack_hrpb.c), so that
   a row of X is read once for 16 rows of A, and cut them into bricks, the operands of
   tensor cores. A warp computes 16 rows of 8 to 64 columns of Y: of each block of 16
   columns of A a lane finds its elements by counting the bits below its own in the
   patterns, and its elements of X are neighbours in a row, since the columns of X may go
   to the 8-column tiles in any order: column g 8 VEC + l VEC + v belongs to tile g VEC +
   v as its column l. No element of X is of use to two warps of a panel, so X goes
   straight to registers. Warps that share a panel are neighbours in a thread block.

   Heavy panels are cut into parts, whose results are added in order by a second kernel.
   A zero in a brick times an infinity in X is no number, though the row has no entry
   there: a warp that ends with such results computes its rows again without bricks. */
#include "base/csr.h"
#include "gpu/cuda_lane.cuh"
#include "gpu/cuda_tuning.h"
#include "gpu/hrpb_mma.cuh"
#include "gpu/hrpb_rows.cuh"

using namespace hrpb;

constexpr int WARPS = HY_HRPB_THREADS / WARP, MOST_ROUNDS = 65535;

/* Neighbours in a row, loaded and stored at once. */
template <typename T, int VEC> struct alignas(sizeof(T) * VEC) pack_of {
    T x[VEC];
};

/* The lane's elements of the four bricks. */
template <typename T>
__device__ void load_a(const operands<T> &o, int word, block_a<T> *out)
{
    const int lane       = threadIdx.x % WARP;
    const unsigned below = (1u << lane) - 1;
    int at               = shuffle(word, FIRST);
    T a[2 * HY_HRPB_BRICKS];
#pragma unroll
    for (int i = 0; i < 2 * HY_HRPB_BRICKS; i++) {
        const unsigned bits = shuffle(word, BITS + i);
        a[i]                = T(0);
        if (bits >> lane & 1)
            a[i] = o.val[at + __popc(bits & below)];
        at += __popc(bits);
    }
    as_operand(a, out);
}

/* Its row of X in brick b, in all tiles; j: its first column. */
template <typename T, int VEC, int TILES>
__device__ void load_x(const operands<T> &o, int word, int b, int64_t j, T (*x)[4])
{
    const int col = shuffle(word, HY_HRPB_BRICK * b + threadIdx.x % HY_HRPB_BRICK);
    const T *from = o.x + col * o.ld + j;
#pragma unroll
    for (int g = 0; g < TILES / VEC; g++) {
        pack_of<T, VEC> loaded = {};
        if (j + g * 8 * VEC < o.n)
            loaded = *reinterpret_cast<const pack_of<T, VEC> *>(from + g * 8 * VEC);
#pragma unroll
        for (int v = 0; v < VEC; v++)
            x[g * VEC + v][b] = loaded.x[v];
    }
}

/* sum[tile] = the unit's rows times columns j0, ... of X. */
template <typename T, int VEC, int TILES>
__device__ void add_bricks(const operands<T> &o, const hy_hrpb_unit &u, int64_t j0,
                           T (*sum)[4])
{
    const int64_t j = j0 + threadIdx.x % WARP / 4 * VEC;
    int word        = u.begin < u.end ? load_words(o, u.begin) : 0;
    for (int64_t b = u.begin; b < u.end; b++) {
        const int next  = b + 1 < u.end ? load_words(o, b + 1) : 0;
        const bool both = (shuffle(word, BITS + 4) | shuffle(word, BITS + 5)) != 0;
        T x[TILES][4]   = {};
        block_a<T> a;
        load_x<T, VEC, TILES>(o, word, 0, j, x);
        load_x<T, VEC, TILES>(o, word, 1, j, x);
        if (both) {
            load_x<T, VEC, TILES>(o, word, 2, j, x);
            load_x<T, VEC, TILES>(o, word, 3, j, x);
        }
        load_a(o, word, &a);
#pragma unroll
        for (int t = 0; t < TILES; t++)
            add_product(sum[t], a, x[t], both);
        word = next;
    }
}

/* Whether all sums of the warp are numbers. */
template <typename T, int TILES> __device__ bool all_finite(const T (*sum)[4])
{
    T zero = 0;
#pragma unroll
    for (int i = 0; i < 4 * TILES; i++)
        zero += sum[i / 4][i % 4] * T(0);
    return __any_sync(0xffffffffu, zero != T(0)) == 0;
}

template <typename T, int VEC, int TILES>
__device__ void store_tiles(const operands<T> &o, const hy_hrpb_unit &u, int64_t j0,
                            const T (*sum)[4])
{
    const output<T> out = output_of(o, u);
    const int lane      = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < 4 * (TILES / VEC); i++) {
        const int g = i / 4, h = i / 2 % 2, e = i % 2;
        const int row   = lane / 4 + 8 * h;
        const int64_t j = j0 + (8 * g + lane % 4 * 2 + e) * VEC;
        pack_of<T, VEC> result;
#pragma unroll
        for (int v = 0; v < VEC; v++)
            result.x[v] = sum[g * VEC + v][2 * h + e];
        if (row < out.rows && j < o.n)
            *reinterpret_cast<pack_of<T, VEC> *>(out.to + row * o.n + j) = result;
    }
}

/* Block (x, y): WARPS / across units; `across` warps side by side on 8 TILES columns
   each, in rounds y, y + gridDim.y, ... */
template <typename T, int VEC, int TILES>
__global__ void __launch_bounds__(HY_HRPB_THREADS)
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
        /* with fewer columns than lanes, the others have none */
        const int64_t j = lane < 8 * TILES ? j0 + lane : o.n;
        T sum[TILES][4] = {};
        if (u.entries) {
            add_entries<T, COLS>(o, u, j);
            continue;
        }
        add_bricks<T, VEC, TILES>(o, u, j0, sum);
        if (all_finite<T, TILES>(sum))
            store_tiles<T, VEC, TILES>(o, u, j0, sum);
        else
            add_brick_rows<T, COLS>(o, u, j);
    }
}

/* Y = the sum of a panel's partials, in order; a block (x, y) to a panel. */
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

/* 8-column tiles of a warp. */
static int tiles_for(hybrid_type type, int64_t n)
{
    const int most = type == HYBRID_F64 ? HY_HRPB_TILES_F64 : HY_HRPB_TILES_F32;
    int tiles      = 1;
    while (tiles < most && 8 * tiles < n)
        tiles *= 2;
    return tiles;
}

/* Warps that the columns of a panel take. */
static int64_t warps_across(hybrid_type type, int64_t n)
{
    const int columns = 8 * tiles_for(type, n);
    return n > columns ? (n + columns - 1) / columns : 1;
}

static hy_hrpb_rules rules_for(const hy_features *f)
{
    const int64_t wave = HY_HRPB_WAVE / warps_across(f->type, f->out_cols);
    return {HY_HRPB_FILL, wave > 1 ? wave : 1, HY_HRPB_LEAST};
}

template <typename T, int VEC, int TILES>
static void launch(hy_lane *lane, const operands<T> &o)
{
    const int64_t warps = (o.n + 8 * TILES - 1) / (8 * TILES);
    int across          = 1;
    while (across < WARPS && 2 * across <= warps)
        across *= 2;
    const dim3 grid(hy_blocks(o.units, WARPS / across),
                    hy_blocks(warps, across, MOST_ROUNDS));
    panel_kernel<T, VEC, TILES><<<grid, HY_HRPB_THREADS, 0, hy_stream(lane)>>>(o, across);
}

/* Whether rows of X and Y can be read and written `vec` values at a time. */
template <typename T> static bool fits(const operands<T> &o, int vec)
{
    const uintptr_t ends =
        reinterpret_cast<uintptr_t>(o.x) | reinterpret_cast<uintptr_t>(o.y);
    return o.n % vec == 0 && o.ld % vec == 0 && ends % (vec * sizeof(T)) == 0;
}

static void launch_for(hy_lane *lane, const operands<float> &o)
{
    const int tiles = tiles_for(HYBRID_F32, o.n);
    if (tiles == 8 && fits(o, 4))
        launch<float, 4, 8>(lane, o);
    else if (tiles == 8)
        launch<float, 1, 8>(lane, o);
    else if (tiles == 4 && fits(o, 4))
        launch<float, 4, 4>(lane, o);
    else if (tiles == 4)
        launch<float, 1, 4>(lane, o);
    else if (tiles == 2 && fits(o, 2))
        launch<float, 2, 2>(lane, o);
    else if (tiles == 2)
        launch<float, 1, 2>(lane, o);
    else
        launch<float, 1, 1>(lane, o);
}

static void launch_for(hy_lane *lane, const operands<double> &o)
{
    const int tiles = tiles_for(HYBRID_F64, o.n);
    if (tiles == 4 && fits(o, 2))
        launch<double, 2, 4>(lane, o);
    else if (tiles == 4)
        launch<double, 1, 4>(lane, o);
    else if (tiles == 2 && fits(o, 2))
        launch<double, 2, 2>(lane, o);
    else if (tiles == 2)
        launch<double, 1, 2>(lane, o);
    else
        launch<double, 1, 1>(lane, o);
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const hy_hrpb_view a  = hy_packed_hrpb(job);
    const hy_dense_view x = hy_packed_x(job);
    const operands<T> o   = {job->chunk->features.rows,
                             job->chunk->col_end - job->chunk->col_begin,
                             a.unit,
                             a.head.units,
                             reinterpret_cast<const int32_t *>(a.block),
                             static_cast<const T *>(a.val),
                             static_cast<const T *>(x.x),
                             x.ld,
                             static_cast<T *>(job->out.val),
                             static_cast<T *>(job->work.ptr)};
    if (o.rows == 0 || o.n == 0)
        return HYBRID_OK;
    launch_for(lane, o);
    HY_TRY(hy_launched(lane, "spmm.cuda.hrpb"));
    if (a.head.splits == 0)
        return HYBRID_OK;
    const dim3 grid(unsigned(a.head.splits),
                    hy_blocks(HY_HRPB_ROWS * o.n, HY_CUDA_THREADS, MOST_ROUNDS));
    combine_kernel<T><<<grid, HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o, a.split);
    return hy_launched(lane, "adding the parts of panels");
}

/* ---- the variant ---- */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)f;
    return r->sm >= 80 ? nullptr : "needs tensor cores for f32 and f64, since sm_80";
}

/* Each column of a panel reads a row of X, whatever its fill, and is multiplied by 16. */
static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const hy_hrpb_rules rules = rules_for(f);
    const double size         = double(hy_value_size(f->type));
    const double n            = double(f->out_cols);
    const double fill    = f->tile_fill > 0 ? f->tile_fill : 1.0 / double(HY_HRPB_ROWS);
    const double columns = double(f->nnz) / (fill * double(HY_HRPB_ROWS));
    const double wide    = 8.0 * tiles_for(f->type, f->out_cols) *
                        double(warps_across(f->type, f->out_cols));
    const double stream = double(f->nnz) * size + columns * sizeof(hy_hrpb_block) / 16 +
                          double(f->rows) * size * n;
    hy_cost c    = {};
    c.pack_bytes = hy_pack_hrpb_bytes(f, &rules);
    c.work_bytes = size_t(hy_pack_hrpb_partials(f, &rules)) * HY_HRPB_ROWS *
                   size_t(f->out_cols) * hy_value_size(f->type);
    c.out_bytes = hy_rows_bytes(HY_SPMM, f, 0);
    c.prepare_s = double(f->nnz) * HY_HRPB_PACK_ENTRY_S + columns * HY_HRPB_PACK_COLUMN_S;
    c.multiply_s = r->launch_s + stream / r->mem_Bps +
                   columns * wide * size / (HY_HRPB_X_RATE * r->mem_Bps);
    return c;
}

static hybrid_status prepare(hy_job *job)
{
    const hy_hrpb_rules rules = rules_for(&job->chunk->features);
    return hy_pack_hrpb(job, &rules);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return job->problem->A->type == HYBRID_F64 ? multiply_as<double>(lane, job)
                                               : multiply_as<float>(lane, job);
}

extern "C" const hy_variant hy_spmm_cuda_hrpb = {
    .name     = "spmm.cuda.hrpb",
    .summary  = "bricks of 16 x 4 on tensor cores, a warp to each panel of 16 rows",
    .source   = "cuTeSpMM of Xiang et al., 2025",
    .op       = HY_SPMM,
    .in_place = 0,
    .refuse   = refuse,
    .cost     = cost,
    .prepare  = prepare,
    .multiply = multiply,
    .finish   = nullptr,
};
