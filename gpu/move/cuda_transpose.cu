/* gpu/move/cuda_transpose.cu - transposes dense matrices in device memory.

   A thread block transposes a tile of 32 x 32 elements in shared memory, so that it reads
   and writes whole sectors of 32 bytes. Lines of the tile are one word longer than
   needed, so that a column of it is spread over all 32 banks of shared memory.
   Consecutive blocks take the tiles of one row of tiles, so that the parts of a line of
   `to` are written at about the same time. */
#include "gpu/backend/cuda_lane.cuh"

constexpr int TILE = 32;
constexpr int ROWS = 8; /* a thread block has TILE x ROWS threads; each handles TILE /
                           ROWS = 4 elements of a tile */

template <typename T>
static __global__ void __launch_bounds__(TILE *ROWS)
    transpose_tiles(T *to, const T *from, hy_transposition t, int64_t across)
{
    __shared__ T tile[TILE][TILE + 1];
    /* first line of `to` that the tile covers */
    const int64_t i0 = int64_t(blockIdx.x) / across * TILE;
    /* first line of `from` that the tile covers */
    const int64_t j0 = int64_t(blockIdx.x) % across * TILE;
    for (int k = int(threadIdx.y); k < TILE; k += ROWS) {
        const int64_t i = i0 + threadIdx.x, j = j0 + k;
        tile[k][threadIdx.x] =
            i < t.lines && j < t.length ? __ldcs(from + j * t.from_ld + i) : T(0);
    }
    __syncthreads();
    for (int k = int(threadIdx.y); k < TILE; k += ROWS) {
        const int64_t i = i0 + k, j = j0 + threadIdx.x;
        if (i < t.lines && j < t.filled)
            to[i * t.to_ld + j] = tile[threadIdx.x][k];
    }
}

template <typename T> static void launch(hy_lane *self, const hy_transposition *t)
{
    const int64_t across = (t->filled + TILE - 1) / TILE;
    const int64_t down   = (t->lines + TILE - 1) / TILE;
    transpose_tiles<<<hy_blocks(across * down, 1), dim3(TILE, ROWS), 0,
                      hy_stream(self)>>>(static_cast<T *>(t->to),
                                         static_cast<const T *>(t->from), *t, across);
}

hybrid_status hy_cuda_transpose(hy_lane *self, const hy_transposition *t)
{
    if (t->lines == 0 || t->filled == 0)
        return HYBRID_OK;
    HY_TRY(hy_lane_enter(self));
    if (t->size == 8)
        launch<double>(self, t);
    else
        launch<float>(self, t);
    return hy_launched(self, "transpose");
}
