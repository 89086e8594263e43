/* gpu/backend/cuda_count.cu - counts the scalar products of rows, for planning a product
   with operands on the device.

   Eight GPU lanes (threads of a warp) share a row. Planning uses this kernel only if no
   row of A is long (hy_counter.longest). The counts of a thread block are written to host
   memory together: single words would be inefficient on the bus. */
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_scan.cuh"
#include "gpu/backend/cuda_tuning.h"

constexpr int LANES = 8, ROWS = HY_CUDA_THREADS /* ROWS: number of rows of A that a thread
                                                   block counts, LANES threads for each */
    ;

/* Returns the calling thread's share of the number of scalar products of entries [begin,
   end) of A. */
static __device__ uint32_t sum_lengths(int64_t begin, int64_t end, const int32_t *a_col,
                                       const int64_t *b_row_ptr)
{
    uint32_t sum = 0;

    for (int64_t k = begin + threadIdx.x % LANES; k < end; k += LANES) {
        const int64_t *row = b_row_ptr + a_col[k];
        sum += uint32_t(row[1] - row[0]);
    }
    return sum;
}

static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    count_products(int64_t rows, const int64_t *a_row_ptr, const int32_t *a_col,
                   const int64_t *b_row_ptr, uint32_t *products)
{
    __shared__ uint32_t found[ROWS];
    const int64_t first = int64_t(blockIdx.x) * ROWS;

    for (int r = int(threadIdx.x) / LANES; r < ROWS; r += HY_CUDA_THREADS / LANES) {
        const int64_t row = first + r;
        uint32_t sum      = 0;
        if (row < rows)
            sum = sum_lengths(a_row_ptr[row], a_row_ptr[row + 1], a_col, b_row_ptr);
        for (int d = LANES / 2; d > 0; d /= 2)
            sum += __shfl_xor_sync(HY_ALL, sum, d);
        if (threadIdx.x % LANES == 0)
            found[r] = sum;
    }
    __syncthreads();
    if (first + threadIdx.x < rows)
        products[first + threadIdx.x] = found[threadIdx.x];
}

hybrid_status hy_count_products(hy_lane *self, int64_t rows, const int64_t *a_row_ptr,
                                const int32_t *a_col, const int64_t *b_row_ptr,
                                uint32_t *products)
{
    HY_TRY(hy_lane_enter(self));
    if (rows == 0)
        return HYBRID_OK;
    count_products<<<hy_blocks(rows, ROWS), HY_CUDA_THREADS, 0, hy_stream(self)>>>(
        rows, a_row_ptr, a_col, b_row_ptr, products);
    return hy_launched(self, "count_products");
}
