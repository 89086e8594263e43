/* gpu/spgemm/esc_compress.cuh - moves sorted rows to CSR without gaps, and sums the long
   rows. esc_work.cuh explains the words product, bin, key, id and rank. */
#ifndef HY_ESC_COMPRESS_CUH
#define HY_ESC_COMPRESS_CUH

#include "gpu/backend/cuda_sum.cuh"
#include "gpu/spgemm/esc_work.cuh"

/* Counts the entries of each long row: the rank of its last key less the rank before its
   first key. */
template <typename T, typename K>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    esc_count_long(hy_esc<T> e, hy_esc_long<T, K> l)
{
    const int id = blockIdx.x * HY_CUDA_THREADS + threadIdx.x;
    if (id >= e.bin_rows[0])
        return;
    const K own     = K(id) << l.col_bits;
    const int begin = hy_lower_bound(l.key[0], e.products, own);
    const int end   = hy_lower_bound(l.key[0], e.products, K(own + (K(1) << l.col_bits)));
    const int first = begin > 0 ? l.rank[begin - 1] : 0;
    l.first[id]     = first;
    e.count[e.order[id]] = l.rank[end - 1] - first;
}

/* Sums the scalar products with equal keys in order. The thread of the first product with
   a key adds up all products with that key and stores the sum at its place in C, where
   the row begins at row_ptr[]. */
template <typename T, typename K>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    esc_store_long(hy_esc<T> e, hy_esc_long<T, K> l, const int64_t *row_ptr, int32_t *col,
                   T *val)
{
    int t = blockIdx.x * HY_CUDA_THREADS + threadIdx.x;
    if (t >= e.products)
        return;
    const K key = l.key[0][t];
    if (key == l.none || (t > 0 && l.key[0][t - 1] == key))
        return;

    const int id     = int(key >> l.col_bits);
    const int64_t at = row_ptr[e.order[id]] + (l.rank[t] - 1 - l.first[id]);
    T sum            = hy_sum_begun(l.val[0][t]);
    for (t++; t < e.products && l.key[0][t] == key; t++)
        sum += l.val[0][t];
    col[at] = int32_t(key & ((K(1) << l.col_bits) - 1));
    val[at] = sum;
}

/* Moves the rows that are not long to C: from index row_start[] of e.col and e.val to
   index row_ptr[] of `col` and `val`. 2^shift threads share a row. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    esc_store_short(hy_esc<T> e, int shift, const int64_t *row_ptr, int32_t *col, T *val)
{
    const int row  = blockIdx.x * (HY_CUDA_THREADS >> shift) + (threadIdx.x >> shift);
    const int lane = threadIdx.x & ((1 << shift) - 1);
    if (row >= e.rows)
        return;
    const int from = e.row_start[row];
    if (e.row_start[row + 1] - from > HY_ESC_LONG)
        return;
    const int64_t to = row_ptr[row];
    const int count  = e.count[row];
    for (int i = lane; i < count; i += 1 << shift) {
        col[to + i] = e.col[from + i];
        val[to + i] = e.val[from + i];
    }
}

#endif /* HY_ESC_COMPRESS_CUH */
