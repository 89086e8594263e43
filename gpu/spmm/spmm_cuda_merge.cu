/* gpu/spmm/spmm_cuda_merge.cu - SpMM on the GPU by merge path: equal work for any row
   lengths.

   The entries of A and the ends of its rows form one list. Thread blocks take equal tiles
   of the list (partition/format/merge.h), and groups of GPU lanes (threads) take equal
   shares of a tile (gpu/spmm/merge_matrix.cuh). Tiles and shares are cut at the same
   places as in the whole of A, so every run adds up a row in the same order, whatever the
   chunks are.

   One column of X has its own kernel (gpu/spmm/merge_vector.cuh) with the same tiles but
   no shares. There the order within a tile depends on where the chunk begins.

   Tail columns, up to 16 bytes that a wide row of X has beyond whole lines of 128 bytes,
   have their own launch with the same tiles. Inside the rows of X they would shift all
   rows off the boundaries of lines and cost one more pass over A. The order of additions
   within their shares differs from that of other columns.

   With paper=1 (hy_features.parameter) several columns of X are computed as in the paper:
   tiles have 128 items, rows are cut wherever tiles end, and a lane owns one column.

   Work memory on the device: one carried value for each tile and column, the sum so far
   of the row that the tile does not end. */
#include <type_traits>

#include "gpu/spmm/merge_matrix.cuh"
#include "gpu/spmm/merge_vector.cuh"

/* ---- launches ---- */

/* How a kernel is launched. OVERLAPPED: the kernel may begin once all blocks of the
   previous kernel have begun. The previous kernel must allow this
   (merge_let_next_begin()), and this kernel must wait for the previous one, at its end at
   the latest (merge_wait_for_last()): later kernels wait for this one only. */
enum launch_order { IN_ORDER, OVERLAPPED };

template <typename... P>
static hybrid_status launch_in(launch_order order, hy_lane *lane, void (*kernel)(P...),
                               dim3 grid, size_t room, std::type_identity_t<P>... args)
{
    const hy_backend *device = lane->backend;
    cudaFuncAttributes code  = {};
    if (order == OVERLAPPED)
        HY_CUDA(device, cudaFuncGetAttributes(&code, kernel));

    cudaLaunchAttribute overlap = {};
    overlap.id                  = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config                          = {};
    config.gridDim                                     = grid;
    config.blockDim                                    = dim3(HY_CUDA_THREADS);
    config.dynamicSmemBytes                            = room;
    config.stream                                      = hy_stream(lane);
    config.attrs                                       = &overlap;
    /* Code for older architectures than sm_90 does not wait for the previous kernel, so
       it must not be launched before that is over. */
    config.numAttrs = code.ptxVersion >= 90 ? 1 : 0;
    HY_CUDA(device, cudaLaunchKernelEx(&config, kernel, args...));
    return HYBRID_OK;
}

template <typename T>
static hybrid_status launch_fix(hy_lane *lane, const hy_spmm_operands<T> &o,
                                const hy_merge_view &view, const T *carry, int log_lanes)
{
    const dim3 grid(hy_blocks(view.pieces, HY_CUDA_THREADS / 32),
                    hy_blocks(o.ld, 1 << log_lanes, HY_MAX_PASSES));
    return launch_in(OVERLAPPED, lane, fix_kernel<T>, grid, 0, o, view.piece, view.pieces,
                     carry, log_lanes);
}

template <typename T, int VEC, merge_store STORE>
static hybrid_status launch_as(launch_order order, hy_lane *lane,
                               const hy_spmm_operands<T> &o, merge_path<T> p,
                               int64_t tiles)
{
    p.pass_columns = VEC << p.log_lanes;
    const dim3 grid(hy_blocks(tiles, 1), hy_blocks(o.n, p.pass_columns, HY_MAX_PASSES));
    return launch_in(order, lane, merge_kernel<T, VEC, STORE>, grid, merge_room(p), o, p);
}

/* Launches the kernel with the way to store that fits Y. Each way has its own kernel,
   because their register needs differ. */
template <typename T, int VEC>
static hybrid_status launch(launch_order order, hy_lane *lane,
                            const hy_spmm_operands<T> &o, const merge_path<T> &p,
                            int64_t tiles)
{
    if constexpr (VEC > 1)
        if (!o.whole)
            return p.log_lanes == 5
                       ? launch_as<T, VEC, TRANSPOSED>(order, lane, o, p, tiles)
                       : launch_as<T, VEC, IN_VALUES>(order, lane, o, p, tiles);
    return launch_as<T, VEC, IN_VECTORS>(order, lane, o, p, tiles);
}

template <typename T>
static hybrid_status launch_fitting(launch_order order, hy_lane *lane,
                                    hy_spmm_operands<T> o, const merge_path<T> &p,
                                    int64_t tiles)
{
    if (p.paper) {
        hy_vectors_fit(&o, 1);
        return launch<T, 1>(order, lane, o, p, tiles);
    }
    if (sizeof(T) == 4 && hy_vectors_fit(&o, 4))
        return launch<T, 16 / sizeof(T)>(order, lane, o, p, tiles);
    if (hy_vectors_fit(&o, 2))
        return launch<T, 2>(order, lane, o, p, tiles);
    hy_vectors_fit(&o, 1);
    return launch<T, 1>(order, lane, o, p, tiles);
}

/* Launches the kernel of the tail columns first, which leaves A in the L2 cache. The
   second launch may overlap the first, because they write different columns of Y and of
   `carry`. */
template <typename T>
static hybrid_status launch_matrix(hy_lane *lane, const hy_spmm_operands<T> &o,
                                   const merge_path<T> &p, int64_t tiles)
{
    if (o.rest_n == 0)
        return launch_fitting(IN_ORDER, lane, o, p, tiles);
    HY_TRY(
        launch_fitting(IN_ORDER, lane, hy_spmm_rest_of(o), merge_rest_of(p, o.n), tiles));
    return launch_fitting(OVERLAPPED, lane, o, p, tiles);
}

template <typename T>
static void launch_vector(hy_lane *lane, const hy_spmm_operands<T> &o,
                          const hy_merge_view &view, int items, T *carry)
{
    const vector_path<T> p = {view.cut, view.join, view.last, view.arrived, carry};
    const int blocks       = hy_blocks(view.tiles, 1);
    if (items > vector_room<VECTOR_EACH>)
        vector_kernel<T, 2 * VECTOR_EACH>
            <<<blocks, HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o, p);
    else
        vector_kernel<T, VECTOR_EACH>
            <<<blocks, HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o, p);
}

static hy_merge_shape shape_of(const hy_job *job)
{
    return merge_shape_of(*job->problem, job->chunk->features, job->rates);
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const int64_t cols          = job->problem->X->cols;
    const hy_spmm_operands<T> o = hy_spmm_operands_of<T>(job);
    if (o.rows == 0 || o.n == 0)
        return HYBRID_OK;
    const hy_merge_shape shape = shape_of(job);
    const hy_merge_view view   = hy_packed_merge(job, shape);
    /* maximum number of items of a tile: the cut at its end may move forward by a row,
       which has up to shape.longest entries */
    const int items = shape.items + shape.longest;
    T *carry        = static_cast<T *>(job->work.ptr);
    if (shape.vector) {
        launch_vector<T>(lane, o, view, items, carry);
        return hy_launched(lane, "spmm.cuda.merge");
    }

    merge_path<T> p = {};
    p.items         = items;
    p.shares        = shape.shares;
    p.log_lanes     = hy_log_lanes(HY_CUDA_THREADS / shape.shares, 5);
    p.cut           = view.cut;
    p.carry         = carry;
    p.paper         = job->chunk->features.parameter[0] != 0;
    HY_TRY(launch_matrix(lane, o, p, view.tiles));
    if (view.pieces == 0)
        return HYBRID_OK;
    return launch_fix<T>(lane, o, view, carry,
                         hy_log_lanes(double(cols), HY_MERGE_LOG_FIX));
}

/* ---- the variant ---- */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return hy_spmm_refuse_width(f);
}

/* Returns an upper bound on the tiles of a chunk, for every problem that the chunk may
   belong to: the number of columns of one column block does not determine the problem's
   shape (hy_merge_shape). The smallest tiles give the most tiles. But if tiles have less
   than half of HY_MERGE_WIDE_ITEMS items, all tiles of A fill the device only once, so
   there are at most about merge_blocks(). */
static int64_t max_tiles(const hy_features *f, const hy_rates *r)
{
    const auto tiles_of = [&](int items) {
        return hy_merge_max_tiles(f, {items, 1, 0, 0});
    };

    if (f->parameter[0])
        return tiles_of(HY_MERGE_PAPER_ITEMS);
    return hy_min(tiles_of(HY_MERGE_LEAST_WIDE),
                  hy_max(tiles_of(HY_MERGE_WIDE_ITEMS / 2), merge_blocks(r) + 2));
}

static double vector_s(const hy_features *f, const hy_rates *r)
{
    const double merge = HY_BY_TYPE(f->type, HY_VECTOR_MERGE);
    return r->launch_s + merge * hy_vector_s(f, r) +
           HY_VECTOR_MERGE_ROW * double(f->rows) * hy_spmm_nonzero_s(f, r);
}

/* Costs of an entry and of a row, in the unit of cuda_tuning.h. They depend on the width
   of a row of X: one load of 16 bytes, half a line of 128 bytes, a line, or more. */
struct merge_prices {
    double nonzero, row;
};

static merge_prices prices_of(const hy_features *f, int64_t row_bytes)
{
    if (row_bytes <= 16)
        return {HY_MERGE_NONZERO_NARROW, HY_MERGE_ROW_NARROW};
    if (row_bytes <= HY_SPMM_LINE / 2)
        return {HY_MERGE_NONZERO_HALF, HY_MERGE_ROW_HALF};
    if (row_bytes <= HY_SPMM_LINE)
        return {hy_spmm_near(f, HY_MERGE_NEAR_LINE) * HY_MERGE_NONZERO_LINE,
                HY_MERGE_ROW_LINE};
    return {hy_spmm_near(f, HY_MERGE_NEAR) * HY_MERGE_NONZERO, HY_MERGE_ROW};
}

/* Returns the number of columns that determines the time. More columns than one load of
   16 bytes are walked as a whole line, more than a line as a multiple of two lines.
   HY_MERGE_MISSING columns that the row lacks to a full line save the time of one. */
static int64_t walked_columns(int64_t n, int64_t size)
{
    const int64_t line = HY_SPMM_LINE / size;
    if (n * size <= 16)
        return n;
    return n <= line ? line - (line - n) / HY_MERGE_MISSING
                     : (n + 2 * line - 1) / (2 * line) * (2 * line);
}

static double matrix_s(const hy_features *f, const hy_rates *r)
{
    const int64_t size    = int64_t(hy_value_size(f->type));
    const merge_prices at = prices_of(f, f->out_cols * size);
    hy_features walked    = *f;
    walked.out_cols       = walked_columns(f->out_cols, size);
    return r->launch_s + (at.nonzero * double(f->nnz) + at.row * double(f->rows)) *
                             hy_spmm_nonzero_s(&walked, r);
}

/* Returns the predicted seconds of the product. Tail columns count as a product of their
   own. */
static double product_s(const hy_features *f, const hy_rates *r)
{
    hy_features lines = *f, rest = *f;

    if (f->out_cols == 1)
        return vector_s(f, r);
    rest.out_cols = hy_tail_cols(HY_MERGE_LINES, f->type, f->out_cols);
    lines.out_cols -= rest.out_cols;
    return matrix_s(&lines, r) + (rest.out_cols > 0 ? matrix_s(&rest, r) : 0);
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const hy_merge_shape shape = {.vector = f->out_cols == 1};
    const int64_t tiles        = max_tiles(f, r);
    hy_cost c                  = {};
    c.pack_bytes               = hy_pack_merge_bytes(f, shape, tiles);
    c.work_bytes = size_t(tiles) * size_t(f->out_cols) * hy_value_size(f->type);
    c.out_bytes  = hy_rows_bytes(HY_SPMM, f, 0);
    c.prepare_s  = double(c.pack_bytes) / HY_PACK_BPS;
    c.multiply_s = product_s(f, r);
    return c;
}

static hybrid_status prepare(hy_job *job)
{
    return hy_pack_merge(job, shape_of(job));
}

static hybrid_status arrange(hy_lane *lane, hy_job *job)
{
    return hy_arrange_merge(lane, job, shape_of(job));
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->problem->A->type, multiply_as, lane, job);
}

extern "C" const hy_variant hy_spmm_cuda_merge = {
    .name       = "spmm.cuda.merge",
    .summary    = "CSR, equal shares of nonzeros and rows, carries added in order",
    .source     = "merge path of Yang, Buluc and Owens, Euro-Par 2018",
    .parameters = "paper=1",
    .op         = HY_SPMM,
    .form       = HY_FORM_ROWS,
    .csr        = 1,
    .in_place   = 0,
    .tail_lines = HY_MERGE_LINES,
    .rings      = 1,
    .refuse     = refuse,
    .cost       = cost,
    .prepare    = prepare,
    .arrange    = arrange,
    .multiply   = multiply,
    .finish     = nullptr,
};
