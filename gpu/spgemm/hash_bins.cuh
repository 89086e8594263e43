/* gpu/spgemm/hash_bins.cuh - finds the rows of B that A selects, and puts rows of C into
   bins. hash_work.cuh explains the bins. */
#ifndef HY_HASH_BINS_CUH
#define HY_HASH_BINS_CUH

#include "gpu/spgemm/hash_work.cuh"

/* Sets h.span, for each entry of A the entries of the row of B that it selects, and,
   unless all rows are short, h.ends, their first and last column. There is one thread for
   each entry of A, so that the lengths of rows of A do not matter. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS) hash_spans(hy_hash<T> h)
{
    const int k = blockIdx.x * HY_CUDA_THREADS + threadIdx.x;
    if (k >= h.nnz)
        return;
    const int32_t j = h.a_col[k];
    const hy_span s = {h.b_row[j], h.b_row[j + 1]};
    h.span[k]       = s;
    if (h.ends)
        h.ends[k] = s.begin < s.end ? make_int2(h.b_col[s.begin], h.b_col[s.end - 1])
                                    : make_int2(INT32_MAX, 0);
}

struct hash_sum {
    int products, low, high, longest;
};

template <typename T> __device__ int length_of(const hy_hash<T> &h, int row)
{
    return int(h.a_row[row + 1] - h.a_row[row]);
}

/* Adds every step-th entry of a row of A, beginning with entry `from` of the row, to
   *out: the number of scalar products and, if h.ends is set, the range of columns and the
   longest row of B. */
template <typename T>
__device__ void sum_row(const hy_hash<T> &h, int row, int from, int step, hash_sum *out)
{
    const int64_t end = h.a_row[row + 1];
    hash_sum sum      = {0, INT32_MAX, 0, 0};
#pragma unroll 4
    for (int64_t k = h.a_row[row] + from; k < end; k += step) {
        const hy_span s = h.span[k];
        sum.products += int(s.end - s.begin);
        if (h.ends) {
            const int2 ends = h.ends[k];
            sum.low         = min(sum.low, ends.x);
            sum.high        = max(sum.high, ends.y);
            sum.longest     = max(sum.longest, int(s.end - s.begin));
        }
    }
    atomicAdd(&out->products, sum.products);
    if (!h.ends)
        return;
    atomicMin(&out->low, sum.low);
    atomicMax(&out->high, sum.high);
    atomicMax(&out->longest, sum.longest);
}

/* Returns the bin (set of rows that one kernel computes) of a row that has scalar
   products, or HY_HASH_BINS if the row must be cut into windows, which are ranges of
   columns. */
template <typename T> __device__ int bin_of(const hy_hash<T> &h, const hash_sum &row)
{
    constexpr int max_short[] = HY_HASH_SORT_PRODUCTS;
#define HY_HASH_MOST(threads, bytes, products) products,
    constexpr int max_tree[] = {HY_HASH_TREE_BINS(HY_HASH_MOST)};
#undef HY_HASH_MOST
    for (int bin = 0; bin < HY_HASH_SORTS; bin++)
        if (row.products <= max_short[bin])
            return bin;

    /* expected bytes of the row's tree: its top level, and column and value of each
       entry; if the tree has a level below the top, also half a node for each entry */
    const unsigned range = unsigned(row.high) - unsigned(row.low);
    const int levels     = hy_hash_levels(range, row.products);
    const float entries  = min(float(row.products) * h.share, float(range) + 1);
    const float bytes    = 8 * float((range >> (5 * levels)) + 1) +
                        float(sizeof(T) + (levels > 1 ? 8 : 4)) * entries;
    for (int tree = 0; tree < HY_HASH_TREES; tree++)
        if (row.products <= max_tree[tree] && bytes <= float(h.room[tree]))
            return HY_HASH_SORTS + tree;
    return HY_HASH_BINS;
}

/* Counts the scalar products of rows and puts the rows into bins (sets of rows that one
   kernel computes). A block takes HY_HASH_BLOCK_ROWS rows. First a few threads walk each
   row, and all threads walk rows of more than HY_HASH_MANY entries of A. Then one thread
   for each row finds its bin, and, unless h.late is set, reserves elements of h.col and
   h.val for the row. A block reserves its places in each bin with one addition. The order
   of rows within a bin does not affect the result. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS) hash_bins(hy_hash<T> h)
{
    constexpr int ROWS = HY_HASH_BLOCK_ROWS, LANES = HY_CUDA_THREADS / ROWS;
    __shared__ hash_sum sums[ROWS];
    __shared__ int listed[HY_HASH_BINS + 1], at[HY_HASH_BINS + 1];
    const int begin = blockIdx.x * ROWS, rows = min(ROWS, h.rows - begin);

    if (threadIdx.x < ROWS)
        sums[threadIdx.x] = {0, INT32_MAX, 0, 0};
    if (threadIdx.x <= HY_HASH_BINS)
        listed[threadIdx.x] = 0;
    __syncthreads();
    const int i     = threadIdx.x / LANES;
    const bool many = i < rows && length_of(h, begin + i) > HY_HASH_MANY;
    if (i < rows && !many)
        sum_row(h, begin + i, threadIdx.x % LANES, LANES, &sums[i]);
    if (__syncthreads_or(many))
        for (int j = 0; j < rows; j++)
            if (length_of(h, begin + j) > HY_HASH_MANY)
                sum_row(h, begin + j, threadIdx.x, HY_CUDA_THREADS, &sums[j]);
    __syncthreads();

    const int row = begin + threadIdx.x;
    int bin = -1, index = 0, place = 0;
    if (threadIdx.x < rows) {
        const hash_sum sum  = sums[threadIdx.x];
        h.row_products[row] = sum.products;
        h.count[row]        = 0;
        if (sum.products > 0) {
            bin = bin_of(h, sum);
            if (h.ends) {
                h.range[row]   = make_int2(sum.low, sum.high);
                h.longest[row] = sum.longest;
            }
            if (!h.late)
                place = atomicAdd(&listed[HY_HASH_BINS], min(sum.products, h.out_cols));
            if (bin < HY_HASH_BINS)
                index = atomicAdd(&listed[bin], 1);
        }
    }
    __syncthreads();
    if (threadIdx.x <= HY_HASH_BINS && listed[threadIdx.x] > 0)
        at[threadIdx.x] = atomicAdd(
            threadIdx.x < HY_HASH_BINS ? &h.counts->listed[threadIdx.x] : &h.counts->used,
            listed[threadIdx.x]);
    __syncthreads();
    if (bin < 0)
        return;
    if (!h.late)
        h.place[row] = at[HY_HASH_BINS] + place;
    if (bin < HY_HASH_BINS)
        h.list[bin][at[bin] + index] = row;
    else
        hy_hash_cut(h, row);
}

#endif /* HY_HASH_BINS_CUH */
