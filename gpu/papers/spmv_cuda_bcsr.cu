/* gpu/papers/spmv_cuda_bcsr.cu - SpMV on the GPU with a group of lanes (GPU threads) for
   each row of blocks.

       y(r I .. r I + r - 1) = sum of A_b x(j_b .. j_b + c - 1) over the blocks b

   of block row I. A is cut into blocks of r x c (Choi, Singh and Vuduc 2010, section 4),
   which are stored dense, including zeros. c + r numbers are loaded and kept in registers
   for r c scalar products, and one column index serves r c entries. 2^log_group lanes
   share a block row and take one block each at a time. Word e of the blocks in one step
   is stored side by side:

       blocks  | A | B | C | D |  E | F |        lanes 0 1 2 3, then 0 1
       words   A0 B0 C0 D0  A1 B1 C1 D1 ...  E0 F0  E1 F1 ...
                                                 (partition/format/pack_bcsr.c)

   Lanes are summed by shuffles at the end, always in the same order. Each row of y is
   written once. Lower bound in bytes, for N blocks of k = r c elements and values of s
   bytes:

       N (4 + s k) + 4 rows / r + s rows + s cols

   In the form of the paper (paper=1) a group is a warp, a thread block has R threads, and
   rows are padded.

   CSR moves nnz (4 + s) + 8 rows for A instead. One group walks a block row, so a long
   row delays its warp. */
#include "gpu/papers/spmv_blocks.cuh"
#include "gpu/papers/spmv_dense.cuh"

namespace
{

template <typename T> struct operands {
    int64_t rows; /* number of elements of y in the chunk */
    int64_t block_rows;
    const int32_t *row_ptr, *col;
    const T *val, *x;
    T *y;
    int before, log_group;
};

template <typename T, int ROWS, int COLS>
__global__ void __launch_bounds__(HY_CUDA_THREADS) bcsr_kernel(const operands<T> o)
{
    const int group   = 1 << o.log_group;
    const int lane    = threadIdx.x & (group - 1);
    const int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) >> o.log_group;
    const bool real   = row < o.block_rows;
    const int end     = real ? o.row_ptr[row + 1] : 0;
    T sum[ROWS]       = {};

    for (int64_t k = real ? o.row_ptr[row] : 0; k < end; k += group) {
        const int width = int(min(int64_t(group), end - k));
        if (lane < width)
            blocks::add_block<T, ROWS, COLS>(o.val + k * (ROWS * COLS) + lane, width,
                                             o.x + o.col[k + lane], sum);
    }
    blocks::add_lanes<T, ROWS>(o.log_group, sum);
    if (real)
        blocks::store_rows<T, ROWS>(o.y, o.rows, row, o.before, lane, group, sum);
}

/* ---- dense matrices, for measurements ---- */

constexpr int WARP = 32, LOG_WARP = 5;

/* Returns the number of block rows: there is one for each warp. */
int64_t dense_rows(const hy_dense_blocks *d)
{
    return d->thread_blocks * (d->threads / WARP);
}

size_t dense_index_bytes(const hy_dense_blocks *d)
{
    return size_t(dense_rows(d) + 1) * sizeof(int32_t);
}

/* Writes the index arrays of a dense matrix in this format. A warp writes one block
   row. */
__global__ void fill_kernel(int32_t *row_ptr, int32_t *col, int64_t rows, int32_t steps,
                            int32_t width)
{
    const int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / WARP;
    const int lane    = int(threadIdx.x) % WARP;
    const int64_t at  = row * steps * WARP;
    if (lane == 0)
        row_ptr[row] = int32_t(at);
    if (lane == 0 && row == rows - 1)
        row_ptr[rows] = int32_t(at + steps * WARP);
    for (int32_t step = 0; step < steps; step++)
        col[at + step * WARP + lane] = (step * WARP + lane) * width;
}

hybrid_status fill_dense(hy_lane *lane, const hy_dense_blocks *d)
{
    fill_kernel<<<unsigned(d->thread_blocks), unsigned(d->threads), 0, hy_stream(lane)>>>(
        static_cast<int32_t *>(d->index), d->col, dense_rows(d), int32_t(d->steps),
        d->shape.cols);
    return hy_launched(lane, "spmv.cuda.bcsr fill");
}

/* ---- launches ---- */

template <typename T> struct launcher {
    hy_lane *lane;
    int threads; /* threads of a thread block */
    operands<T> o;

    static launcher of_dense(hy_lane *lane, const hy_dense_blocks *d)
    {
        return {lane,
                d->threads,
                {dense_rows(d) * d->shape.rows, dense_rows(d),
                 static_cast<const int32_t *>(d->index), d->col,
                 static_cast<const T *>(d->val), static_cast<const T *>(d->x),
                 static_cast<T *>(d->y), 0, LOG_WARP}};
    }

    template <int ROWS, int COLS> static auto kernel()
    {
        return bcsr_kernel<T, ROWS, COLS>;
    }

    template <int ROWS, int COLS> void run() const
    {
        const unsigned blocks = hy_blocks(o.block_rows, threads >> o.log_group);
        kernel<ROWS, COLS>()<<<blocks, unsigned(threads), 0, hy_stream(lane)>>>(o);
    }
};

template <typename T> hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const hy_bcsr_view a = hy_packed_bcsr(job);
    const launcher<T> l  = {
         lane,
         blocks::threads_of(&job->chunk->features),
         {job->chunk->features.rows, a.head.rows, a.row_ptr, a.col,
          static_cast<const T *>(a.val), static_cast<const T *>(hy_packed_x(job).x),
          static_cast<T *>(job->out.val), a.head.before, a.head.log_group}};
    blocks::with_shape(a.head.shape, l);
    return hy_launched(lane, "spmv.cuda.bcsr");
}

/* ---- the variant ---- */

/* Returns NULL or the reason against the variant. The parameter R is refused without
   paper=1, because only in the form of the paper has a thread block R threads. */
const char *refuse(const hy_features *f, const hy_rates *r)
{
    if (f->parameter[HY_BLOCK_LANES] > 0 && !f->parameter[HY_BLOCK_PAPER])
        return "R is the threads of a thread block, which only paper=1 sets";
    return blocks::refuse(f, r);
}

void choose(hy_features *f, const hy_rates *r)
{
    hy_block_choose(f, r, HY_CHOI_BCSR);
}

/* Predicts the cost. The time is at least that of the longest row of A; a group takes up
   to 32 blocks of the row at a time. */
hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const double longest = double(f->row_max) / (32.0 * max(1, f->block_cols));
    const double stream  = blocks::bytes_moved(f, 0) / (HY_BCSR_RATE * r->mem_Bps);
    hy_cost c            = blocks::cost_of(f, 0);
    c.pack_bytes         = hy_pack_bcsr_bytes(f);
    c.multiply_s         = f->parameter[HY_BLOCK_PAPER]
                               ? hy_block_model_s(f, r, HY_CHOI_BCSR, blocks::threads_of(f))
                               : r->launch_s + max(stream, longest * HY_BLOCKS_STEP_S);
    return c;
}

hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->problem->A->type, multiply_as, lane, job);
}

} // namespace

const hy_dense_kernel hy_bcsr_dense = {HY_CHOI_BCSR, dense_index_bytes, fill_dense,
                                       dense::launch<launcher>,
                                       dense::registers<launcher>};

extern "C" const hy_variant hy_spmv_cuda_bcsr = {
    .name       = "spmv.cuda.bcsr",
    .summary    = "SpMV in blocks of up to 8 x 8, a group of lanes to each row of blocks",
    .source     = "BCSR of Choi, Singh and Vuduc, PPoPP 2010",
    .parameters = HY_BLOCK_PARAMETERS,
    .op         = HY_SPMM,
    .form       = HY_FORM_ROWS,
    .in_place   = 0,
    .by_name    = 1,
    .choose     = choose,
    .refuse     = refuse,
    .cost       = cost,
    .prepare    = hy_pack_bcsr,
    .multiply   = multiply,
    .finish     = nullptr,
};
