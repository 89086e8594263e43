/* gpu/backend/cuda_combine.cu - computes to = alpha * from + beta * to for dense matrices
   of the caller in device memory, each row-major or column-major (hy_combining).

   A thread block moves a tile of 32 x 32 elements through shared memory. It reads along
   the direction in which elements of `from` are contiguous and writes along that of `to`.
   A single column needs no tile. */
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_tuning.h"

constexpr int TILE = 32;
constexpr int ROWS = 8; /* a thread block has TILE x ROWS threads; each handles TILE /
                           ROWS = 4 elements of a tile */

template <typename T>
static __device__ void combine_one(const hy_combining &c, int64_t at, T from)
{
    T *to      = static_cast<T *>(c.to);
    double sum = c.beta != 0 ? -0.0 : 0.0; /* if alpha is 0, the sum begins with -0,
                                              because -0 + x has the bits of x for every
                                              x; with alpha and beta 0, the result is
                                              +0 */
    if (c.alpha != 0)
        sum = c.alpha * double(from);
    if (c.beta != 0)
        sum += c.beta * double(to[at]);
    to[at] = c.alpha == 1 && c.beta == 0 ? from : T(sum);
}

template <typename T>
static __device__ T read_one(const hy_combining &c, int64_t i, int64_t j)
{
    const bool reads = i < c.rows && j < c.cols && c.alpha != 0;
    return reads ? static_cast<const T *>(c.from)[i * c.from_row + j * c.from_col] : T(0);
}

template <typename T>
static __global__ void __launch_bounds__(TILE *ROWS)
    combine_tiles(hy_combining c, int64_t across)
{
    __shared__ T tile[TILE][TILE + 1];
    const int64_t i0     = int64_t(blockIdx.x) / across * TILE;
    const int64_t j0     = int64_t(blockIdx.x) % across * TILE;
    const bool from_rows = c.from_col == 1, to_rows = c.to_col == 1;
    for (int k = int(threadIdx.y); k < TILE; k += ROWS) {
        const int x = int(threadIdx.x);
        const int i = from_rows ? k : x, j = from_rows ? x : k;
        tile[i][j] = read_one<T>(c, i0 + i, j0 + j);
    }
    __syncthreads();
    for (int k = int(threadIdx.y); k < TILE; k += ROWS) {
        const int x = int(threadIdx.x);
        const int i = to_rows ? k : x, j = to_rows ? x : k;
        const int64_t at = (i0 + i) * c.to_row + (j0 + j) * c.to_col;
        if (i0 + i >= c.rows || j0 + j >= c.filled)
            continue;
        if (j0 + j < c.cols)
            combine_one<T>(c, at, tile[i][j]);
        else
            static_cast<T *>(c.to)[at] = T(0);
    }
}

template <typename T>
static __global__ void __launch_bounds__(HY_CUDA_THREADS) combine_column(hy_combining c)
{
    const int64_t i = int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x;
    if (i < c.rows)
        combine_one<T>(c, i * c.to_row, read_one<T>(c, i, 0));
}

template <typename T> static void launch(hy_lane *self, const hy_combining *c)
{
    const int64_t across = (c->filled + TILE - 1) / TILE;
    const int64_t down   = (c->rows + TILE - 1) / TILE;
    if (c->filled == 1)
        combine_column<T><<<hy_blocks(c->rows, HY_CUDA_THREADS), HY_CUDA_THREADS, 0,
                            hy_stream(self)>>>(*c);
    else
        combine_tiles<T>
            <<<hy_blocks(across * down, 1), dim3(TILE, ROWS), 0, hy_stream(self)>>>(
                *c, across);
}

hybrid_status hy_cuda_combine(hy_lane *self, const hy_combining *c)
{
    if (c->rows == 0 || c->filled == 0)
        return HYBRID_OK;
    HY_TRY(hy_lane_enter(self));
    HY_CALL_BY_TYPE(c->type, launch, self, c);
    return hy_launched(self, "combine");
}
