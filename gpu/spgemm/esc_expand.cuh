/* gpu/spgemm/esc_expand.cuh - puts rows into bins and expands long rows into products.
   esc_work.cuh explains the words product, bin, key and id. */
#ifndef HY_ESC_EXPAND_CUH
#define HY_ESC_EXPAND_CUH

#include "gpu/spgemm/esc_work.cuh"

template <typename T> __device__ int products_before(const hy_esc<T> &e, int row)
{
    return e.expanded ? e.expanded[row] : e.start[e.a_row[row]];
}

/* Sets hy_esc.row_start, sets hy_esc.count to 0, and counts the rows of each bin in
   hy_esc.bin_rows. There is one thread for each row, and one more for the end of
   row_start. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS) esc_count_bins(hy_esc<T> e)
{
    __shared__ int bins[HY_ESC_BINS];
    const int row = blockIdx.x * HY_CUDA_THREADS + threadIdx.x;

    if (threadIdx.x < HY_ESC_BINS)
        bins[threadIdx.x] = 0;
    __syncthreads();
    if (row <= e.rows) {
        const int begin  = products_before(e, row);
        e.row_start[row] = begin;
        if (row < e.rows) {
            const int p  = products_before(e, row + 1) - begin;
            e.count[row] = 0;
            if (p > 0)
                atomicAdd(&bins[hy_esc_bin(p)], 1);
        }
    }
    __syncthreads();
    if (threadIdx.x < HY_ESC_BINS && bins[threadIdx.x] > 0)
        atomicAdd(&e.bin_rows[threadIdx.x], bins[threadIdx.x]);
}

/* Lists the rows by bin in hy_esc.order and numbers the long rows in hy_esc.long_id. A
   thread block reserves its places in each bin with one addition. The order of rows
   within a bin does not affect the result. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS) esc_fill_bins(hy_esc<T> e)
{
    __shared__ int bins[HY_ESC_BINS], place[HY_ESC_BINS];
    const int row = blockIdx.x * HY_CUDA_THREADS + threadIdx.x;
    const int p   = row < e.rows ? e.row_start[row + 1] - e.row_start[row] : 0;
    const int bin = p > 0 ? hy_esc_bin(p) : -1;
    int at        = 0;

    if (threadIdx.x < HY_ESC_BINS)
        bins[threadIdx.x] = 0;
    __syncthreads();
    if (bin >= 0)
        at = atomicAdd(&bins[bin], 1);
    __syncthreads();
    if (threadIdx.x < HY_ESC_BINS) {
        int before = atomicAdd(&e.bin_used[threadIdx.x], bins[threadIdx.x]);
        for (int b = 0; b < int(threadIdx.x); b++)
            before += e.bin_rows[b];
        place[threadIdx.x] = before;
    }
    __syncthreads();
    if (bin >= 0)
        e.order[place[bin] + at] = row;
    if (e.long_id && row < e.rows)
        e.long_id[row] = bin == 0 ? place[0] + at : -1;
}

/* Writes keys and values of the scalar products of long rows to memory. A thread block
   takes a tile, HY_ESC_TILE consecutive products, whatever rows they belong to. Products
   of rows that are not long get the key `none`, which sorts last. */
template <typename T, typename K>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    esc_expand_long(hy_esc<T> e, hy_esc_long<T, K> l)
{
    __shared__ int rows[2], nonzeros[2]; /* first and last row, and first and last entry
                                            of A, that have scalar products in the tile */
    const int begin = blockIdx.x * HY_ESC_TILE;
    const int end   = min(begin + HY_ESC_TILE, e.products);

    if (threadIdx.x < 2)
        rows[threadIdx.x] =
            hy_owner(e.row_start, 0, e.rows, threadIdx.x == 0 ? begin : end - 1);
    else if (threadIdx.x < 4)
        nonzeros[threadIdx.x - 2] =
            e.expanded ? 0
                       : hy_owner(e.start, 0, e.nnz, threadIdx.x == 2 ? begin : end - 1);
    __syncthreads();

    for (int t = begin + threadIdx.x; t < end; t += HY_CUDA_THREADS) {
        const int row = hy_owner(e.row_start, rows[0], rows[1] + 1, t);
        const int id  = e.long_id[row];
        K key         = l.none;
        T val         = 0;
        if (id >= 0) {
            int32_t col;
            hy_esc_product(e, nonzeros[0], nonzeros[1] + 1, t, &col, &val);
            key = K(id) << l.col_bits | K(col);
        }
        l.key[0][t] = key;
        l.val[0][t] = val;
    }
}

#endif /* HY_ESC_EXPAND_CUH */
