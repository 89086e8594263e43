/* gpu/papers/spmv_cuda_bellpack.cu - SpMV on the GPU with a lane for each row of blocks.

       y(r I .. r I + r - 1) = sum of A_b x(j_b .. j_b + c - 1) over the blocks b

   of block row I. The format is blocked ELLPACK (Choi, Singh and Vuduc 2010, section 5).
   Blocks of r x c are stored dense. Rows of blocks are sorted by length within panels and
   cut into slices of R lanes, padded to their longest row. At each step all lanes of a
   slice read one block, word by word, and neighbouring lanes read neighbouring words:

                       lane  0   1   2  ..  R-1
       step 0, word 0        A0  B0  C0 ..  Z0      columns  jA jB jC .. jZ
               word 1        A1  B1  C1 ..  Z1
               ...
       step 1, word 0        ...                    (partition/format/pack_bellpack.c)

   Lanes are summed only if 2^log_ways of them share a long row, by shuffles in the same
   order on every run. In the form of the paper (paper=1) no lanes share a row, all rows
   are one panel, and a thread block has the R threads of one slice. Each row of y is
   written once, in its original position. Lower bound in bytes, for N blocks of k = r c
   elements, a fraction p of padding, and values of s bytes:

       N (1 + p) (4 + s k) + 4 rows / r + 24 slices + s rows + s cols */
#include "gpu/papers/spmv_blocks.cuh"
#include "gpu/papers/spmv_dense.cuh"

namespace
{

template <typename T> struct operands {
    int64_t rows; /* number of elements of y in the chunk */
    int64_t slices;
    const hy_bellpack_slice *slice;
    const int32_t *order, *col;
    const T *val, *x;
    T *y;
    int before, log_lanes;
};

template <typename T, int ROWS, int COLS>
__global__ void __launch_bounds__(HY_CUDA_THREADS) bellpack_kernel(const operands<T> o)
{
    const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t k      = thread >> o.log_lanes;
    if (k >= o.slices) /* all lanes of a warp have the same slice, so whole warps leave
                          here */
        return;
    const hy_bellpack_slice s = o.slice[k];
    const int lane            = int(thread & ((1 << o.log_lanes) - 1));
    const bool real           = lane < s.lanes;
    const int32_t *col        = o.col + s.at + lane;
    const T *val              = o.val + s.at * (ROWS * COLS) + lane;
    const int steps           = real ? s.steps : 0;
    int32_t next              = steps > 0 ? *col : 0;
    T sum[ROWS]               = {};

    for (int step = 0; step < steps; step++) {
        const int32_t j = next;
        col += s.lanes;
        if (step + 1 < steps)
            next = *col; /* is loaded one step in advance, so that loading x need not wait
                            for it */
        blocks::add_block<T, ROWS, COLS>(val, s.lanes, o.x + j, sum);
        val += int64_t(s.lanes) * (ROWS * COLS);
    }
    blocks::add_lanes<T, ROWS>(s.log_ways, sum);
    if (real)
        blocks::store_rows<T, ROWS>(o.y, o.rows, o.order[s.first + (lane >> s.log_ways)],
                                    o.before, lane & ((1 << s.log_ways) - 1),
                                    1 << s.log_ways, sum);
}

/* ---- dense matrices, for measurements ---- */

/* Returns the order of the block rows, which follows the slices in the index of a dense
   matrix. */
int32_t *order_in(const hy_dense_blocks *d)
{
    return reinterpret_cast<int32_t *>(static_cast<hy_bellpack_slice *>(d->index) +
                                       d->thread_blocks);
}

size_t dense_index_bytes(const hy_dense_blocks *d)
{
    return size_t(d->thread_blocks) *
           (sizeof(hy_bellpack_slice) + size_t(d->threads) * sizeof(int32_t));
}

/* A thread block writes one slice. In each step, the blocks of all lanes have the same
   columns. */
__global__ void fill_kernel(hy_bellpack_slice *slice, int32_t *order, int32_t *col,
                            int32_t steps, int32_t width)
{
    const int lanes  = int(blockDim.x);
    const int64_t at = int64_t(blockIdx.x) * steps * lanes;
    const int first  = int(blockIdx.x) * lanes;
    if (threadIdx.x == 0)
        slice[blockIdx.x] = {at, first, steps, lanes, 0};
    order[first + int(threadIdx.x)] = first + int(threadIdx.x);
    for (int32_t step = 0; step < steps; step++)
        col[at + int64_t(step) * lanes + threadIdx.x] = step * width;
}

hybrid_status fill_dense(hy_lane *lane, const hy_dense_blocks *d)
{
    fill_kernel<<<unsigned(d->thread_blocks), unsigned(d->threads), 0, hy_stream(lane)>>>(
        static_cast<hy_bellpack_slice *>(d->index), order_in(d), d->col,
        int32_t(d->steps), d->shape.cols);
    return hy_launched(lane, "spmv.cuda.bellpack fill");
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
                {d->thread_blocks * d->threads * d->shape.rows, d->thread_blocks,
                 static_cast<const hy_bellpack_slice *>(d->index), order_in(d), d->col,
                 static_cast<const T *>(d->val), static_cast<const T *>(d->x),
                 static_cast<T *>(d->y), 0, __builtin_ctz(unsigned(d->threads))}};
    }

    template <int ROWS, int COLS> static auto kernel()
    {
        return bellpack_kernel<T, ROWS, COLS>;
    }

    template <int ROWS, int COLS> void run() const
    {
        const unsigned blocks = hy_blocks(o.slices, threads >> o.log_lanes);
        kernel<ROWS, COLS>()<<<blocks, unsigned(threads), 0, hy_stream(lane)>>>(o);
    }
};

template <typename T> hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const hy_bellpack_view a = hy_packed_bellpack(job);
    const int paper          = job->chunk->features.parameter[HY_BLOCK_PAPER];
    const launcher<T> l      = {
             lane,
        paper ? 1 << a.head.log_lanes : HY_CUDA_THREADS,
             {job->chunk->features.rows, a.head.slices, a.slice, a.order, a.col,
              static_cast<const T *>(a.val), static_cast<const T *>(hy_packed_x(job).x),
              static_cast<T *>(job->out.val), a.head.before, a.head.log_lanes}};
    blocks::with_shape(a.head.shape, l);
    return hy_launched(lane, "spmv.cuda.bellpack");
}

/* ---- the variant ---- */

hy_bellpack_rules rules_for(const hy_rates *r)
{
    return {int64_t(r->width) * HY_BELLPACK_LANES, HY_BELLPACK_LEAST};
}

void choose(hy_features *f, const hy_rates *r)
{
    hy_block_choose(f, r, HY_CHOI_BELLPACK);
}

/* Predicts the cost. The time is at least that of the longest row of A; up to 32 lanes
   take one block of that row each at a time. */
hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const auto rules     = rules_for(r);
    const double moved   = blocks::bytes_moved(f, HY_BELLPACK_PADDING);
    const double longest = double(f->row_max) / (32.0 * max(1, f->block_cols));
    const double stream  = moved / (HY_BELLPACK_RATE * r->mem_Bps);
    hy_cost c            = blocks::cost_of(f, HY_BELLPACK_PADDING);
    c.pack_bytes         = hy_pack_bellpack_bytes(f, &rules);
    c.prepare_s *= HY_BELLPACK_PACK;
    c.multiply_s = f->parameter[HY_BLOCK_PAPER]
                       ? hy_block_model_s(f, r, HY_CHOI_BELLPACK, blocks::threads_of(f))
                       : r->launch_s + max(stream, longest * HY_BLOCKS_STEP_S);
    return c;
}

hybrid_status prepare(hy_job *job)
{
    const hy_bellpack_rules rules = rules_for(job->rates);
    return hy_pack_bellpack(job, &rules);
}

hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->problem->A->type, multiply_as, lane, job);
}

} // namespace

const hy_dense_kernel hy_bellpack_dense = {HY_CHOI_BELLPACK, dense_index_bytes,
                                           fill_dense, dense::launch<launcher>,
                                           dense::registers<launcher>};

extern "C" const hy_variant hy_spmv_cuda_bellpack = {
    .name       = "spmv.cuda.bellpack",
    .summary    = "SpMV in blocks of up to 8 x 8, a lane to each row of blocks, sorted",
    .source     = "BELLPACK of Choi, Singh and Vuduc, PPoPP 2010",
    .parameters = HY_BLOCK_PARAMETERS,
    .op         = HY_SPMM,
    .form       = HY_FORM_ROWS,
    .in_place   = 0,
    .choose     = choose,
    .refuse     = blocks::refuse,
    .cost       = cost,
    .prepare    = prepare,
    .multiply   = multiply,
    .finish     = nullptr,
};
