/* gpu/papers/spmv_blocks.cuh - adds a block of r x c elements of A times x to y, in the
   registers of a lane (GPU thread).

   An element that is no entry of A is stored as -0.0 (partition/format/pack.h) and
   skipped whatever x is. This takes a comparison and a selection for each element. A
   multiprocessor has time for about twenty instructions while memory delivers an
   element. */
#ifndef HY_SPMV_BLOCKS_CUH
#define HY_SPMV_BLOCKS_CUH

#include "base/data/csr.h"
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_tuning.h"
#include "partition/blocks/block_choice.h"
#include "partition/format/pack.h"

namespace blocks
{

/* VEC neighbouring values that are loaded at once. */
template <typename T, int VEC> struct alignas(sizeof(T) * VEC) pack_of {
    T x[VEC];
};

/* Elements of x that a block of COLS columns loads with one instruction if they are
   aligned: up to 16 bytes. */
template <typename T, int COLS>
constexpr int VECTOR = COLS % 4 == 0 && sizeof(T) == 4 ? 4
                       : COLS % 2 == 0                 ? 2
                                                       : 1;

/* Returns the factor of an element of a block: x, or 0 if the element is no entry. */
__device__ inline float factor(float a, float x)
{
    return __float_as_uint(a) == 0x80000000u ? 0.0f : x;
}

__device__ inline double factor(double a, double x)
{
    return __double_as_longlong(a) == INT64_MIN ? 0.0 : x;
}

/* Loads x[0] to x[COLS - 1], as vectors if the address is aligned. */
template <typename T, int COLS> __device__ void load_x(const T *x, T (&out)[COLS])
{
    constexpr int VEC = VECTOR<T, COLS>;
    if (VEC > 1 && reinterpret_cast<uintptr_t>(x) % (VEC * sizeof(T)) == 0) {
#pragma unroll
        for (int j = 0; j < COLS; j += VEC) {
            const auto some = *reinterpret_cast<const pack_of<T, VEC> *>(x + j);
#pragma unroll
            for (int v = 0; v < VEC; v++)
                out[j + v] = some.x[v];
        }
        return;
    }
#pragma unroll
    for (int j = 0; j < COLS; j++)
        out[j] = x[j];
}

/* Adds a block times x[0] to x[COLS - 1] to `sum`. Element e of the block is at val[e *
   stride]. */
template <typename T, int ROWS, int COLS>
__device__ void add_block(const T *val, int stride, const T *x, T (&sum)[ROWS])
{
    T a[ROWS * COLS], xs[COLS];
#pragma unroll
    for (int e = 0; e < ROWS * COLS; e++)
        a[e] = val[int64_t(e) * stride];
    load_x<T, COLS>(x, xs);
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++)
            sum[i] += a[i * COLS + j] * factor(a[i * COLS + j], xs[j]);
}

/* Adds up the sums of 2^log_lanes neighbouring lanes, in the same order on every run. All
   lanes of a warp must call it. */
template <typename T, int ROWS> __device__ void add_lanes(int log_lanes, T (&sum)[ROWS])
{
    for (int apart = 1 << log_lanes >> 1; apart > 0; apart >>= 1)
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], apart);
}

/* Stores the sums of block row `block_row` to y, for those of its rows that belong to the
   chunk. `ways` lanes have the same sums, and lane `way` of them stores every `ways`-th
   row. `before` rows of the first block row lie before the chunk. */
template <typename T, int ROWS>
__device__ void store_rows(T *y, int64_t rows, int64_t block_row, int before, int way,
                           int ways, const T (&sum)[ROWS])
{
    const int64_t first = block_row * ROWS - before;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int64_t row = first + i;
        if ((i & (ways - 1)) == way && row >= 0 && row < rows)
            y[row] = sum[i];
    }
}

/* Calls launch.template run<ROWS, COLS>() with COLS equal to `cols`, for blocks of ROWS
   rows. */
template <int ROWS, typename F> void with_cols(int cols, const F &launch)
{
    switch (cols) {
    case 1:
        return launch.template run<ROWS, 1>();
    case 2:
        return launch.template run<ROWS, 2>();
    case 3:
        return launch.template run<ROWS, 3>();
    case 4:
        return launch.template run<ROWS, 4>();
    case 5:
        return launch.template run<ROWS, 5>();
    case 6:
        return launch.template run<ROWS, 6>();
    case 7:
        return launch.template run<ROWS, 7>();
    default:
        return launch.template run<ROWS, HY_BLOCK_MOST>();
    }
}

template <typename F> void with_shape(hy_block_shape shape, const F &launch)
{
    switch (shape.rows) {
    case 1:
        return with_cols<1>(shape.cols, launch);
    case 2:
        return with_cols<2>(shape.cols, launch);
    case 3:
        return with_cols<3>(shape.cols, launch);
    case 4:
        return with_cols<4>(shape.cols, launch);
    case 5:
        return with_cols<5>(shape.cols, launch);
    case 6:
        return with_cols<6>(shape.cols, launch);
    case 7:
        return with_cols<7>(shape.cols, launch);
    default:
        return with_cols<HY_BLOCK_MOST>(shape.cols, launch);
    }
}

/* Returns NULL, or the reason why neither block variant can compute the product. A shape
   that options force need not save bytes. */
inline const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    if (f->out_cols != 1)
        return "computes products with one column of X only";
    if (f->nnz > 0 && f->block_cols > f->cols)
        return "its blocks would have more columns than A";
    if (!hy_block_may_yield(f) && f->block_fill > 0)
        return nullptr;
    return hy_block_refuse(f);
}

/* Returns the threads of a thread block: in the form of the paper (paper=1) the parameter
   R, if it is given; else HY_CUDA_THREADS. */
inline int threads_of(const hy_features *f)
{
    const int lanes = f->parameter[HY_BLOCK_LANES];
    return f->parameter[HY_BLOCK_PAPER] && lanes > 0 ? lanes : HY_CUDA_THREADS;
}

/* Returns the bytes that a product reads and writes: blocks of A with their columns, x as
   often as blocks read it, and y. `padding` is the number of empty blocks stored as
   padding, divided by the number of blocks. */
inline double bytes_moved(const hy_features *f, double padding)
{
    const double size = double(hy_value_size(f->type));
    return hy_block_stream_bytes(f) * (1 + padding) +
           hy_block_count(f) * f->block_cols * size + double(f->rows) * size;
}

/* Returns the part of the cost that both block variants have in common. pack_bytes and
   multiply_s are not set. `padding` is the number of empty blocks stored as padding,
   divided by the number of blocks. */
inline hy_cost cost_of(const hy_features *f, double padding)
{
    const double x = double(f->gather_rows) * double(hy_value_size(f->type));
    hy_cost c      = {};
    c.out_bytes    = hy_rows_bytes(HY_SPMM, f, 0);
    c.sent_bytes   = hy_block_stream_bytes(f) * (1 + padding) + x;
    c.prepare_s    = double(f->nnz) * HY_BLOCKS_PACK_ENTRY_S +
                  hy_block_count(f) * HY_BLOCKS_PACK_BLOCK_S;
    return c;
}

} // namespace blocks

#endif /* HY_SPMV_BLOCKS_CUH */
