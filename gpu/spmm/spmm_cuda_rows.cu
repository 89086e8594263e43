/* gpu/spmm/spmm_cuda_rows.cu - SpMM on the GPU with a group of lanes for each row of A. A
   lane here is a GPU thread of a warp; spmm_lanes.cuh explains groups, tiles and passes.

   Wide X (rows of more than half a line of 128 bytes): the lanes of a group own columns.
   Each lane reads one entry of the row, and the group passes the entries round. Tail
   columns, up to 16 bytes that a row has beyond whole lines, are read by each lane for
   its own entries and summed over the group at the end.

   Narrow X, down to one column: a group of 2^group lanes shares a row. 2^log_lanes lanes
   own the columns; these subgroups take the entries in turn and are summed at the end, in
   the same order on every run.

   A long row delays its warp, so this variant suits rows of even length.

   With paper=1 (hy_features.parameter) the kernel is that of the paper: a warp for each
   row, whatever the width of X is, and one column of X for each lane. */
#include "gpu/spmm/rows_wide.cuh"

/* Computes Y for a narrow X. 2^group lanes share a row of A; 2^log_lanes of them lie side
   by side across the columns of X. */
template <typename T, int VEC>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    narrow_kernel(hy_spmm_operands<T> o, int log_lanes, int group)
{
    constexpr int IN_FLIGHT = HY_ROWS_IN_FLIGHT;
    const int64_t row =
        int64_t(blockIdx.x) * (HY_CUDA_THREADS >> group) + (threadIdx.x >> group);
    const int ways      = 1 << (group - log_lanes);
    const int way       = (threadIdx.x & ((1 << group) - 1)) >> log_lanes;
    const int64_t j     = int64_t(threadIdx.x & ((1 << log_lanes) - 1)) * VEC;
    const int64_t begin = row < o.rows && j < o.n ? o.row_ptr[row] : -1;
    const bool inside   = begin >= 0; /* false if there is no such row or column, or if
                                         the pack is void: then all offsets are -1
                                         (hy_variant.arrange) */
    int64_t k         = inside ? begin + way : 0;
    const int64_t end = inside ? o.row_ptr[row + 1] : 0;
    T sum[VEC]        = {};

    for (; k < end; k += IN_FLIGHT * ways) {
        hy_vec<T, VEC> x[IN_FLIGHT];
        int32_t c[IN_FLIGHT];
        T a[IN_FLIGHT];
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++) {
            const bool some = k + u * ways < end;
            c[u]            = some ? o.col[k + u * ways] : -1;
            a[u]            = some ? o.val[k + u * ways] : T(0);
        }
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++) {
            x[u] = {}; /* 0 instead of elements of X that do not belong to the row, which
                          may be infinities */
            if (c[u] >= 0)
                x[u] = hy_load_x<T, VEC>(o.x + j, c[u], o.pitch);
        }
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++)
            hy_add_x(sum, a[u], x[u]);
    }
    for (int apart = (1 << group) >> 1; apart >= 1 << log_lanes; apart >>= 1)
#pragma unroll
        for (int e = 0; e < VEC; e++)
            sum[e] += __shfl_xor_sync(ALL, sum[e], apart);
    if (inside && way == 0)
        store_y(o, row, j, sum);
}

/* Returns the number of GPU lanes (threads) that fill the device; with fewer it is partly
   idle. */
static int64_t device_lanes(const hy_rates *r)
{
    return int64_t(r->width) * HY_SPMM_RESIDENT;
}

/* Returns log2 of the number of subgroups of lanes that share the entries of a row; 0 for
   a wide X. The number is the greater of two, rounded up to a power of two: the mean
   entries of a row divided by HY_ROWS_LANE_NONZEROS, and the number with which all rows
   together fill the device. */
static int log_ways(int64_t rows, int64_t nnz, int64_t n, hybrid_type type,
                    const hy_rates *r)
{
    if (hy_spmm_is_wide(n, type))
        return 0;
    const int log_lanes = hy_log_lanes(double(n), 5);
    const double busy   = double(nnz) / double(rows) / double(HY_ROWS_LANE_NONZEROS);
    const double room   = double(device_lanes(r) >> log_lanes) / double(rows);
    return hy_log_lanes(busy > room ? busy : room, 5 - log_lanes);
}

/* Returns true if groups of `lanes` lanes, one for each row, leave the device partly
   idle. */
static bool is_small(int64_t rows, int lanes, const hy_rates *r)
{
    return rows * lanes < device_lanes(r);
}

/* Returns the maximum number of tiles in a pass: 1 or HY_SPMM_TILES. More passes read A
   again. They pay if rows of A share nothing and X exceeds the L2 cache, because more of
   a narrow slab of whole lines stays in the cache. They also pay if there are too few
   rows for the device and groups cannot be wider (spread_of()). */
template <typename T, int VEC>
static int tiles_of_pass(const hy_spmm_operands<T> &o, const hy_job *job)
{
    const double x_bytes = double(job->problem->X->rows) * double(o.pitch);
    const bool scattered =
        hy_is_scattered(job->chunk->features.tile_fill, x_bytes, job->rates);

    if (VEC * sizeof(T) < 16 && is_small(o.rows, hy_tile_lanes<T, VEC>, job->rates))
        return 1;
    return scattered && o.pitch % HY_SPMM_LINE == 0 ? 1 : HY_SPMM_TILES;
}

template <typename T, int VEC, int LANES, int MOST, int REST>
static void launch_lanes(hy_lane *lane, const hy_spmm_operands<T> &o,
                         const hy_spmm_columns &c)
{
    const dim3 grid(hy_blocks(o.rows, HY_ROWS_THREADS / LANES),
                    hy_blocks(c.passes, 1, HY_MAX_PASSES));
    wide_kernel<T, VEC, LANES, MOST, REST>
        <<<grid, HY_ROWS_THREADS, 0, hy_stream(lane)>>>(o, c);
}

/* Returns 1, 2 or 4: over how many tiles side by side a group is spread, if a lane loads
   vectors of 16 bytes. With long rows, wider groups wait less for each other's rows to
   end. A warp for each row does not wait at all but finds less of X in the L1 cache; it
   is better if rows are uneven or few. Few rows need wider groups to make more threads.
   Spreading that leaves lanes idle does not pay. */
static int spread_of(const hy_features *f, int64_t tiles, const hy_rates *r)
{
    const int lanes     = HY_SPMM_LINE / 16;
    const bool are_long = f->row_mean >= double(HY_ROWS_LONG);
    const bool are_few  = is_small(f->rows, lanes, r);
    const bool alone    = are_long && (are_few || f->row_cv > HY_ROWS_EVEN_CV);

    if (tiles % 4 == 0 && (alone || is_small(f->rows, 4 * lanes, r)))
        return 4;
    return are_long || are_few ? 2 : 1;
}

template <typename T, int VEC, int LANES, int MOST, int REST>
static void launch_spread(hy_lane *lane, const hy_spmm_operands<T> &o,
                          const hy_spmm_columns &c, int log_spread)
{
    const int64_t tiles = (c.tiles + (1 << log_spread) - 1) >> log_spread;
    launch_lanes<T, VEC, LANES, MOST, REST>(
        lane, o, {c.log_lanes + log_spread, tiles, (tiles + MOST - 1) / MOST});
}

/* Launches the kernel for a wide X. REST: values in a row of the tail columns; 0 without
   tail columns. */
template <typename T, int VEC, int REST>
static void launch_wide(hy_lane *lane, const hy_spmm_operands<T> &o,
                        const hy_spmm_columns &c, const hy_job *job)
{
    constexpr int lanes = hy_tile_lanes<T, VEC>;

    if (c.tiles == c.passes)
        return launch_lanes<T, VEC, lanes, 1, REST>(lane, o, c);
    if constexpr (VEC * sizeof(T) == 16) {
        const int spread = spread_of(&job->chunk->features, c.tiles, job->rates);
        if (spread == 4)
            return launch_spread<T, VEC, 4 * lanes, 1, REST>(lane, o, c, 2);
        if (spread == 2)
            return launch_spread<T, VEC, 2 * lanes, 2, REST>(lane, o, c, 1);
    }
    launch_lanes<T, VEC, lanes, HY_SPMM_TILES, REST>(lane, o, c);
}

template <typename T, int VEC>
static void launch_narrow(hy_lane *lane, const hy_spmm_operands<T> &o,
                          const hy_spmm_columns &c, const hy_job *job)
{
    const hybrid_csr *A = job->problem->A;
    /* the number of subgroups depends on the whole problem, not on the chunk, because it
       decides the order of additions */
    const int ways =
        log_ways(A->rows, A->nnz, job->problem->X->cols, A->type, job->rates);
    const int group       = c.log_lanes + ways;
    const unsigned blocks = hy_blocks(o.rows, HY_CUDA_THREADS >> group);
    narrow_kernel<T, VEC>
        <<<blocks, HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o, c.log_lanes, group);
}

/* Returns true if rows are so short, and X so narrow, that groups of the wide kernel
   would mostly wait for loads. */
static bool is_brief(const hybrid_csr *A, const hy_spmm_columns &c)
{
    return A->nnz < HY_ROWS_BRIEF * A->rows && c.tiles == 1;
}

template <typename T, int VEC>
static void launch(hy_lane *lane, const hy_spmm_operands<T> &o, const hy_job *job)
{
    const hybrid_csr *A     = job->problem->A;
    const hy_spmm_columns c = hy_columns_of<T, VEC>(o.n, tiles_of_pass<T, VEC>(o, job));
    if (hy_spmm_is_wide(o.n, A->type) && !is_brief(A, c))
        launch_wide<T, VEC, 0>(lane, o, c, job);
    else
        launch_narrow<T, VEC>(lane, o, c, job);
}

/* Launches the kernel that fits, for the columns of `o` except its tail columns. The
   caller launches the tail columns, if there are any (launch_with_rest()). */
template <typename T>
static void launch_fitting(hy_lane *lane, hy_spmm_operands<T> o, const hy_job *job)
{
    if (sizeof(T) == 4 && hy_vectors_fit(&o, 4))
        launch<T, 16 / sizeof(T)>(lane, o, job);
    else if (hy_vectors_fit(&o, 2))
        launch<T, 2>(lane, o, job);
    else if (hy_vectors_fit(&o, 1))
        launch<T, 1>(lane, o, job);
}

/* Launches the paper's kernel: a warp for each row, and passes of 32 columns. */
template <typename T>
static void launch_paper(hy_lane *lane, const hy_spmm_operands<T> &o)
{
    const int64_t passes = (o.n + 31) / 32;
    launch_lanes<T, 1, 32, 1, 0>(lane, o, {5, passes, passes});
}

/* Computes first all columns except the tail columns, then the tail columns as a product
   of their own, which reads A again. */
template <typename T>
static void launch_twice(hy_lane *lane, hy_spmm_operands<T> o, const hy_job *job)
{
    const hy_spmm_operands<T> rest = hy_spmm_rest_of(o);

    o.rest_n = 0;
    launch_fitting(lane, o, job);
    launch_fitting(lane, rest, job);
}

/* Computes a product with tail columns. One launch of the wide kernel computes all
   columns, if that kernel is used for the other columns and the tail columns are aligned
   to their pitch. Else there are two launches (launch_twice()). */
template <typename T>
static void launch_with_rest(hy_lane *lane, hy_spmm_operands<T> o, const hy_job *job)
{
    constexpr int VEC       = 16 / int(sizeof(T));
    const hybrid_csr *A     = job->problem->A;
    const hy_spmm_columns c = hy_columns_of<T, VEC>(o.n, tiles_of_pass<T, VEC>(o, job));
    const bool wide         = hy_spmm_is_wide(o.n, A->type) && !is_brief(A, c);

    if (!hy_vectors_fit(&o, VEC) || !wide || uintptr_t(o.rest) % o.rest_pitch != 0)
        launch_twice(lane, o, job);
    else if (o.rest_pitch == sizeof(T))
        launch_wide<T, VEC, 1>(lane, o, c, job);
    else if (o.rest_pitch == 2 * sizeof(T))
        launch_wide<T, VEC, 2>(lane, o, c, job);
    else
        launch_wide<T, VEC, VEC>(lane, o, c, job);
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const hy_spmm_operands<T> o = hy_spmm_operands_of<T>(job);
    if (o.rows == 0 || o.n == 0)
        return HYBRID_OK;
    if (job->chunk->features.parameter[0]) {
        hy_spmm_operands<T> lines = o;
        lines.rest_n              = 0;
        launch_paper(lane, lines);
        if (o.rest_n > 0)
            launch_paper(lane, hy_spmm_rest_of(o));
    } else if (o.rest_n > 0)
        launch_with_rest(lane, o, job);
    else
        launch_fitting(lane, o, job);
    return hy_launched(lane, "spmm.cuda.rows");
}

/* ---- the variant ---- */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return hy_spmm_refuse_width(f);
}

/* Returns the predicted seconds for an X with one column. The lanes that share a row
   request several of its entries at once. */
static double vector_s(const hy_features *f, const hy_rates *r)
{
    const double at_once = HY_ROWS_IN_FLIGHT
                           << log_ways(f->rows, f->nnz, f->out_cols, f->type, r);
    return hy_vector_s(f, r) + double(f->row_max) / at_once * HY_VECTOR_ROUND_S;
}

static double wide_nonzero(const hy_features *f)
{
    const bool line   = f->out_cols * int64_t(hy_value_size(f->type)) <= HY_SPMM_LINE;
    const double near = hy_spmm_near(f, line ? HY_ROWS_NEAR_LINE : HY_ROWS_NEAR);
    const bool brief  = line && f->row_mean < double(HY_ROWS_BRIEF);
    return brief ? near * HY_ROWS_NONZERO_BRIEF : near;
}

/* Returns the factor, at least 1, by which groups of a warp are slowed down because they
   wait for the longest of their rows. */
static double uneven(const hy_features *f, int spread)
{
    const double cv = f->row_cv - HY_ROWS_EVEN_CV;
    return spread < 4 && cv > 0 ? 1 + cv : 1;
}

/* Returns the predicted seconds for several columns, the greater of two times. The first
   is that of all rows. The second is that of the longest row, which one group walks step
   by step; in a step it reads an entry's row of X in the columns of a pass. */
static double matrix_s(const hy_features *f, const hy_rates *r)
{
    const bool wide      = hy_spmm_is_wide(f->out_cols, f->type);
    const double nonzero = wide ? wide_nonzero(f) : HY_ROWS_NONZERO_NARROW;
    const double row     = wide ? HY_ROWS_ROW : HY_ROWS_ROW_NARROW;
    const int64_t tile   = HY_SPMM_LINE / int64_t(hy_value_size(f->type));
    const int64_t tiles  = (f->out_cols + tile - 1) / tile;
    const int spread     = tiles > 1 ? spread_of(f, tiles, r) : 1;
    const double even_s =
        (nonzero * double(f->nnz) + row * double(f->rows)) * hy_spmm_nonzero_s(f, r);
    const int64_t at_once = hy_max(f->out_cols / spread, hy_min(tile, f->out_cols));
    const double step_s   = HY_ROWS_STEP_S + HY_ROWS_STEP_COLUMN_S * double(at_once);
    const int ways        = 1 << log_ways(f->rows, f->nnz, f->out_cols, f->type, r);
    /* In the narrow kernel the lanes of a row share its entries. */
    const double shared  = wide ? 1 : HY_ROWS_STEP_NARROW / ways;
    const double chain_s = double(f->row_max) * shared * step_s;
    const double all_s   = even_s * uneven(f, spread);
    return all_s > chain_s ? all_s : chain_s;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    hy_cost c    = {};
    c.pack_bytes = hy_pack_csr_bytes(HY_SPMM, f);
    c.out_bytes  = hy_rows_bytes(HY_SPMM, f, 0);
    c.prepare_s  = double(c.pack_bytes) / HY_PACK_BPS;
    c.multiply_s = r->launch_s + (f->out_cols == 1 ? vector_s(f, r) : matrix_s(f, r));
    return c;
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->problem->A->type, multiply_as, lane, job);
}

extern "C" const hy_variant hy_spmm_cuda_rows = {
    .name       = "spmm.cuda.rows",
    .summary    = "CSR, a group of lanes to each row, lanes across the columns of X",
    .source     = "row split of Yang, Buluc and Owens, Euro-Par 2018",
    .parameters = "paper=1",
    .op         = HY_SPMM,
    .form       = HY_FORM_ROWS,
    .csr        = 1,
    .in_place   = 0,
    .tail_lines = 1,
    .rings      = 1,
    .refuse     = refuse,
    .cost       = cost,
    .prepare    = hy_pack_csr,
    .arrange    = hy_arrange_csr,
    .multiply   = multiply,
    .finish     = nullptr,
};
