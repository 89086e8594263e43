/* gpu/spgemm/esc_rows.cuh - rows of up to 64 scalar products (here: products): one warp
   expands, orders and sums them.

   Every product is compared with every other product of its row, 32 comparisons at a
   time. Up to 64 products this is cheaper than sorting, and it needs no memory. */
#ifndef HY_ESC_ROWS_CUH
#define HY_ESC_ROWS_CUH

#include "gpu/spgemm/esc_work.cuh"

template <typename T, int ITEMS>
__global__ void __launch_bounds__(HY_CUDA_THREADS) esc_warp_rows(hy_esc<T> e, int bin)
{
    constexpr unsigned ALL = 0xffffffffu;
    constexpr int WARPS    = HY_CUDA_THREADS / 32;
    const int lane         = threadIdx.x % 32;
    const hy_esc_list list = hy_esc_rows(e, bin);

    for (int i = blockIdx.x * WARPS + threadIdx.x / 32; i < list.count;
         i += gridDim.x * WARPS) {
        const int row = list.rows[i], begin = e.row_start[row];
        const int p = e.row_start[row + 1] - begin;
        int k_begin, k_end;
        int32_t col[ITEMS];
        T val[ITEMS], sum[ITEMS];
        int at[ITEMS];    /* for each of the lane's products: number of distinct smaller
                             columns in the row */
        bool head[ITEMS]; /* for each of the lane's products: true if no earlier product
                             of the row has its column */
        unsigned heads[ITEMS];

        hy_esc_nonzeros(e, row, &k_begin, &k_end);
        for (int j = 0; j < ITEMS; j++) {
            const int t = j * 32 + lane;
            col[j] = -1; /* the lane has no product here; -1 is no column of the row */
            val[j] = sum[j] = 0;
            at[j]           = 0;
            head[j]         = t < p;
            if (t < p)
                hy_esc_product(e, k_begin, k_end, begin + t, &col[j], &val[j]);
        }
        __syncwarp();

#pragma unroll
        for (int o = 0; o < ITEMS; o++)
            for (int s = 0; s < 32 && o * 32 + s < p; s++) {
                const int32_t c = __shfl_sync(ALL, col[o], s);
                const T v       = __shfl_sync(ALL, val[o], s);
                for (int j = 0; j < ITEMS; j++)
                    if (c == col[j]) {
                        sum[j] += v; /* adds products in the order of the entries of A's
                                        row */
                        if (o * 32 + s < j * 32 + lane)
                            head[j] = false;
                    }
            }
        for (int j = 0; j < ITEMS; j++)
            heads[j] = __ballot_sync(ALL, head[j]);

#pragma unroll
        for (int o = 0; o < ITEMS; o++)
            for (int s = 0; s < 32 && o * 32 + s < p; s++) {
                const int32_t c = __shfl_sync(ALL, col[o], s);
                if (heads[o] >> s & 1)
                    for (int j = 0; j < ITEMS; j++)
                        at[j] += c < col[j];
            }

        int total = 0;
        for (int j = 0; j < ITEMS; j++) {
            total += __popc(heads[j]);
            if (head[j]) {
                e.col[begin + at[j]] = col[j];
                e.val[begin + at[j]] = sum[j];
            }
        }
        if (lane == 0)
            e.count[row] = total;
    }
}

#endif /* HY_ESC_ROWS_CUH */
