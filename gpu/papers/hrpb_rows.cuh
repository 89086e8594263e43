/* gpu/papers/hrpb_rows.cuh - reads blocks of a row panel by warp, stores their products,
   and computes single rows.

   partition/format/pack.h defines panels, blocks, bricks, units and partials of the HRPB
   format. A lane (thread of a warp) holds one 32-bit word of a block and gets the other
   words by shuffles. */
#ifndef HY_HRPB_ROWS_CUH
#define HY_HRPB_ROWS_CUH

#include "gpu/backend/cuda_lane.cuh"
#include "partition/format/pack.h"

namespace hrpb
{

constexpr int WARP        = 32;
constexpr int BLOCK_WORDS = sizeof(hy_hrpb_block) / 4;
constexpr int BITS        = HY_HRPB_COLS; /* number of the first word of a block that
                                             holds a pattern of a brick */
constexpr int FIRST = BLOCK_WORDS - 1;    /* number of the word of a block that holds
                                             the index of its first value */

static_assert(BLOCK_WORDS == 25 && BLOCK_WORDS <= WARP, "a word a lane");

template <typename T> struct operands {
    int64_t rows, n; /* rows: rows of A in the chunk; n: columns of X */
    const hy_hrpb_unit *unit;
    int64_t units;
    const int32_t *block; /* the blocks of the pack, BLOCK_WORDS words each */
    const T *val;
    int zero; /* index of an element of val with the value 0 */
    const T *x;
    int64_t ld;       /* elements from row to row of X */
    uint32_t x_bytes; /* bytes from row to row of X */
    T *y;             /* Y: rows x n elements, row-major */
    T *partials;      /* sums of parts of panels: 16 x n elements for each partial */
};

/* Where the rows of a unit are stored: in Y, or in the unit's partial. Rows begin n
   elements apart; `rows` of them exist. */
template <typename T> struct output {
    T *to;
    int rows;
};

template <typename T>
__device__ output<T> output_of(const operands<T> &o, const hy_hrpb_unit &u)
{
    if (u.partial >= 0)
        return {o.partials + int64_t(u.partial) * HY_HRPB_ROWS * o.n, HY_HRPB_ROWS};
    return {o.y + u.row * o.n, int(min(o.rows - u.row, int64_t(HY_HRPB_ROWS)))};
}

__device__ inline int shuffle(int word, int lane)
{
    return __shfl_sync(0xffffffffu, word, lane);
}

template <typename T> __device__ int load_words(const operands<T> &o, int64_t block)
{
    const int lane = threadIdx.x % WARP;
    return lane < BLOCK_WORDS ? o.block[block * BLOCK_WORDS + lane] : 0;
}

/* Neighbouring values of a row that are loaded and stored at once. */
template <typename T, int VEC> struct alignas(sizeof(T) * VEC) pack_of {
    T x[VEC];
};

/* A lane's elements of a row of Y: columns j, j + 32 and so on, COLS of them. The other
   lanes of the warp have the columns between these. */
template <typename T, int COLS> struct row_part {
    T value[COLS];

    __device__ void clear()
    {
        for (int c = 0; c < COLS; c++)
            value[c] = 0;
    }

    __device__ void add(T factor, const T *row, int64_t j, int64_t n)
    {
        for (int c = 0; c < COLS; c++)
            if (j + c * WARP < n)
                value[c] += factor * row[j + c * WARP];
    }

    __device__ void store(const operands<T> &o, const output<T> &out, int row, int64_t j,
                          int64_t end)
    {
        for (int c = 0; c < COLS; c++)
            if (j + c * WARP < end)
                out.to[row * o.n + j + c * WARP] = value[c];
        clear();
    }
};

/* Adds to *sum the product of row `row` (0 to 15) of a block of bricks and X, in the
   lane's columns from j on and before `end`. Each lane holds one word of the block. */
template <typename T, int COLS>
__device__ void add_brick_row(const operands<T> &o, int word, int row, int64_t j,
                              int64_t end, row_part<T, COLS> *sum)
{
    const unsigned below = (1u << (4 * (row % 8))) - 1;
    int at               = shuffle(word, FIRST);
    for (int b = 0; b < HY_HRPB_BRICKS; b++) {
        const unsigned low  = shuffle(word, BITS + 2 * b);
        const unsigned high = shuffle(word, BITS + 2 * b + 1);
        const unsigned mine = row < 8 ? low : high;
        int k               = at + __popc(mine & below) + (row < 8 ? 0 : __popc(low));
        for (int i = 0; i < HY_HRPB_BRICK; i++) {
            const int col = shuffle(word, HY_HRPB_BRICK * b + i);
            if ((mine >> (4 * (row % 8) + i) & 1) == 0)
                continue;
            sum->add(o.val[k++], o.x + col * o.ld, j, end);
        }
        at += __popc(low) + __popc(high);
    }
}

/* Computes a unit row by row, in the lane's columns from j on and before `end`. It is
   used for values of A or X that must not be multiplied by the zeros of a brick, or
   split: infinities and NaN. */
template <typename T, int COLS>
__device__ void add_brick_rows(const operands<T> &o, const hy_hrpb_unit &u, int64_t j,
                               int64_t end)
{
    const output<T> out = output_of(o, u);
    row_part<T, COLS> sum;
    sum.clear();
    for (int row = 0; row < out.rows; row++) {
        for (int64_t b = u.begin; b < u.end; b++)
            add_brick_row(o, load_words(o, b), row, j, end, &sum);
        sum.store(o, out, row, j, end);
    }
}

/* Returns true if all sums of the warp are finite. */
template <typename T, int TILES> __device__ bool all_finite(const T (*sum)[4])
{
    T zero = 0;
#pragma unroll
    for (int i = 0; i < 4 * TILES; i++)
        zero += sum[i / 4][i % 4] * T(0);
    return __any_sync(0xffffffffu, zero != T(0)) == 0;
}

/* Stores TILES tiles of the unit's rows from column j0 on. The order of columns in tiles
   is that of spmm_cuda_hrpb.cu; with VEC = 1 columns are in order. */
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

} // namespace hrpb

#endif /* HY_HRPB_ROWS_CUH */
