/* gpu/papers/spmv_cuda_bcsr.cu - SpMV on the GPU, a group of lanes to each row of blocks.

       y(r I .. r I + r - 1) = sum over blocks b of block row I:  A_b x(j_b .. j_b + c -
   1)

   A is cut into blocks of r x c (Choi, Singh and Vuduc 2010, section 4) that are stored
   dense, zeros and all, so that c + r numbers are loaded and kept in registers for r c
   products, and one column number serves r c entries. 2^log_group lanes share a block
   row, a block each at a time; word e of the blocks that they hold lies side by side:

       blocks  | A | B | C | D |  E | F |        lanes 0 1 2 3, then 0 1
       words   A0 B0 C0 D0  A1 B1 C1 D1 ...  E0 F0  E1 F1 ...
   (partition/format/pack_bcsr.c)

   Lanes add up by shuffles at the end, always in the same order; each row of y is written
   once. Floor in bytes, for N blocks of k = r c elements and values of s bytes:

       N (4 + s k) + 4 rows / r + s rows + s cols

   where CSR moves nnz (4 + s) + 8 rows for A. A group walks a block row alone, so a long
   row holds up its warp. */
#include "gpu/papers/spmv_blocks.cuh"

namespace
{

template <typename T> struct operands {
    int64_t rows; /* of y */
    int64_t block_rows;
    const int32_t *row_ptr, *col;
    const T *val, *x;
    T *y;
    int before, log_group;
};

template <typename T, int ROWS, int COLS>
__global__ void __launch_bounds__(HY_CUDA_THREADS) bcsr_kernel(const operands<T> o)
{
    const int group = 1 << o.log_group;
    const int lane  = threadIdx.x & (group - 1);
    const int64_t row =
        (int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x) >> o.log_group;
    const bool real = row < o.block_rows;
    const int end   = real ? o.row_ptr[row + 1] : 0;
    T sum[ROWS]     = {};

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

template <typename T> struct launcher {
    hy_lane *lane;
    operands<T> o;

    template <int ROWS, int COLS> void run() const
    {
        const unsigned blocks = hy_blocks(o.block_rows, HY_CUDA_THREADS >> o.log_group);
        bcsr_kernel<T, ROWS, COLS><<<blocks, HY_CUDA_THREADS, 0, hy_stream(lane)>>>(o);
    }
};

template <typename T> hybrid_status multiply_as(hy_lane *lane, hy_job *job)
{
    const hy_bcsr_view a = hy_packed_bcsr(job);
    const launcher<T> l  = {
         lane,
         {job->chunk->features.rows, a.head.rows, a.row_ptr, a.col,
          static_cast<const T *>(a.val), static_cast<const T *>(hy_packed_x(job).x),
          static_cast<T *>(job->out.val), a.head.before, a.head.log_group}};
    blocks::with_shape(a.head.shape, l);
    return hy_launched(lane, "spmv.cuda.bcsr");
}

/* ---- the variant ---- */

/* The longest row, in blocks of which a group takes 32 at a time. */
hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const double longest = double(f->row_max) / (32.0 * max(1, f->block_cols));
    const double stream  = blocks::bytes_moved(f, 0) / (HY_BCSR_RATE * r->mem_Bps);
    hy_cost c            = blocks::cost_of(f, 0);
    c.pack_bytes         = hy_pack_bcsr_bytes(f);
    c.multiply_s         = r->launch_s + max(stream, longest * HY_BLOCKS_STEP_S);
    return c;
}

hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return job->problem->A->type == HYBRID_F64 ? multiply_as<double>(lane, job)
                                               : multiply_as<float>(lane, job);
}

} // namespace

extern "C" const hy_variant hy_spmv_cuda_bcsr = {
    .name     = "spmv.cuda.bcsr",
    .summary  = "SpMV in blocks of up to 8 x 8, a group of lanes to each row of blocks",
    .source   = "BCSR of Choi, Singh and Vuduc, PPoPP 2010",
    .op       = HY_SPMM,
    .form     = HY_FORM_ROWS,
    .in_place = 0,
    .refuse   = blocks::refuse,
    .cost     = cost,
    .prepare  = hy_pack_bcsr,
    .multiply = multiply,
    .finish   = nullptr,
};
