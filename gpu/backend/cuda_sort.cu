/* gpu/backend/cuda_sort.cu - scans and sorts. It is the only file that includes Thrust
   and CUB.

   In this file a product is a scalar product, and a bin is a set of rows of C with
   similar numbers of them (gpu/spgemm/esc_work.cuh). */
#include "gpu/backend/cuda_sort.cuh"

#include "gpu/backend/cuda_sum.cuh"

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

/* ---- device-wide primitives ---- */

/* Calls `primitive` twice: without scratch, to learn the bytes it needs, and then with
   scratch. Fails if it needs more than scratch.bytes. */
template <typename F>
static hybrid_status with_scratch(hy_lane *lane, hy_scratch scratch, const char *name,
                                  F primitive)
{
    size_t need = 0;
    HY_TRY(hy_cuda_check(lane->backend, primitive(nullptr, need), name));
    if (need > scratch.bytes)
        return hy_fail(
            lane->backend->ctx, HYBRID_DEVICE_FAILED,
            "internal error, please report it: %s needs %zu bytes, and %zu were "
            "reserved",
            name, need, scratch.bytes);
    return hy_cuda_check(lane->backend, primitive(scratch.ptr, need), name);
}

/* Returns an iterator with element(i) as its element i. */
template <typename F> static auto each(F element)
{
    return thrust::make_transform_iterator(thrust::counting_iterator<int>(0), element);
}

struct row_length {
    const int32_t *col;
    const int64_t *row;
    int nnz;
    __device__ int operator()(int k) const
    {
        return k < nnz ? int(row[col[k] + 1] - row[col[k]]) : 0;
    }
};

hybrid_status hy_scan_products(hy_lane *lane, hy_scratch scratch, const int32_t *a_col,
                               const int64_t *b_row, int nnz, int *start)
{
    const auto length = each(row_length{a_col, b_row, nnz});
    return with_scratch(lane, scratch, "the scan of products",
                        [=](void *at, size_t &bytes) {
                            return cub::DeviceScan::ExclusiveSum(
                                at, bytes, length, start, nnz + 1, hy_stream(lane));
                        });
}

struct row_count {
    const int *count;
    int rows;
    __device__ int64_t operator()(int i) const
    {
        return i < rows ? count[i] : 0;
    }
};

hybrid_status hy_scan_counts(hy_lane *lane, hy_scratch scratch, const int *count,
                             int rows, int64_t *row_ptr)
{
    const auto counts = each(row_count{count, rows});
    return with_scratch(lane, scratch, "the scan of rows", [=](void *at, size_t &bytes) {
        return cub::DeviceScan::ExclusiveSum(at, bytes, counts, row_ptr, rows + 1,
                                             hy_stream(lane));
    });
}

template <typename K> struct first_of_key {
    const K *key;
    K none;
    __device__ int operator()(int i) const
    {
        return key[i] != none && (i == 0 || key[i] != key[i - 1]);
    }
};

template <typename K>
hybrid_status hy_rank_keys(hy_lane *lane, hy_scratch scratch, const K *key, int n, K none,
                           int *rank)
{
    const auto firsts = each(first_of_key<K>{key, none});
    return with_scratch(lane, scratch, "the scan of keys", [=](void *at, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(at, bytes, firsts, rank, n, hy_stream(lane));
    });
}

template <typename K, typename T>
hybrid_status hy_sort_pairs(hy_lane *lane, hy_scratch scratch, K *key[2], T *val[2],
                            int n, int bits)
{
    cub::DoubleBuffer<K> keys(key[0], key[1]);
    cub::DoubleBuffer<T> vals(val[0], val[1]);
    HY_TRY(with_scratch(lane, scratch, "the sort of pairs", [&](void *at, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(at, bytes, keys, vals, n, 0, bits,
                                               hy_stream(lane));
    }));
    key[0] = keys.Current(), key[1] = keys.Alternate();
    val[0] = vals.Current(), val[1] = vals.Alternate();
    return HYBRID_OK;
}

/* ---- rows of a block ---- */

/* Walks through the scalar products of a chunk, from product t on, which belongs to row
   `row`. If an earlier kernel has expanded the products (e.expanded), product t is
   element t of e.b_col and e.b_val. Else it is e.b_val[t + shift] times the value of
   entry k of A. */
template <typename T> struct product_walk {
    const hy_esc<T> &e;
    int k, next;   /* k: the entry of A that scalar product t belongs to; next: first
                      product of the following entry */
    int64_t shift; /* scalar product t is a product of entry t + shift of B */
    T a;

    __device__ product_walk(const hy_esc<T> &e_, int row, int t) : e(e_)
    {
        if (e.expanded) {
            next  = INT32_MAX;
            shift = 0;
            a     = 1;
            return;
        }
        k = hy_owner(e.start, int(e.a_row[row]), int(e.a_row[row + 1]), t);
        enter();
    }
    __device__ void enter()
    {
        next  = e.start[k + 1];
        shift = e.b_row[e.a_col[k]] - e.start[k];
        a     = e.a_val[k];
    }
    __device__ void get(int t, int32_t *col, T *val)
    {
        if (t >= next) {
            do
                k++;
            while (t >= e.start[k + 1]); /* passes over entries of A that select an empty
                                            row of B */
            enter();
        }
        *col = e.b_col[t + shift];
        *val = a * e.b_val[t + shift];
    }
};

/* Lowers *low and raises *high to the lowest and highest column of the row's scalar
   products. All threads of the block call it. Columns ascend in rows of B, so the ends of
   those rows suffice. */
template <typename T>
__device__ void column_range(const hy_esc<T> &e, int row, int *low, int *high)
{
    int lowest = INT32_MAX, highest = 0;
    if (e.expanded) {
        for (int t = e.row_start[row] + threadIdx.x; t < e.row_start[row + 1];
             t += blockDim.x) {
            lowest  = min(lowest, e.b_col[t]);
            highest = max(highest, e.b_col[t]);
        }
    } else {
        for (int k = int(e.a_row[row]) + threadIdx.x; k < e.a_row[row + 1];
             k += blockDim.x) {
            const int64_t begin = e.b_row[e.a_col[k]], end = e.b_row[e.a_col[k] + 1];
            if (begin < end) {
                lowest  = min(lowest, e.b_col[begin]);
                highest = max(highest, e.b_col[end - 1]);
            }
        }
    }
    if (lowest <= highest) {
        atomicMin(low, lowest);
        atomicMax(high, highest);
    }
}

/* Computes rows of C in registers. Thread i expands ITEMS scalar products of a row from
   number i * ITEMS on. The thread block sorts them by the bits in which their columns
   differ. The thread with the first product of a column sums up all of that column. The
   sort is stable, so sums follow the order of A's row. */
template <typename T, int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS, 1) block_rows(hy_esc<T> e, int bin)
{
    using sorter  = cub::BlockRadixSort<unsigned, THREADS, ITEMS, T>;
    using scanner = cub::BlockScan<int, THREADS>;
    __shared__ union {
        typename sorter::TempStorage sort;
        T lead[THREADS * ITEMS]; /* element j * THREADS + i is value j of thread i. Only
                                    values that belong to a sum begun by an earlier thread
                                    are stored */
    } big;
    __shared__ typename scanner::TempStorage small;
    __shared__ unsigned last[THREADS];       /* for each thread, its last key */
    __shared__ unsigned char leads[THREADS]; /* for each thread, how many of its values
                                                belong to a sum begun by an earlier
                                                thread */
    __shared__ int low, high;

    const hy_esc_list list = hy_esc_rows(e, bin);
    for (int i = blockIdx.x; i < list.count; i += gridDim.x) {
        const int row = list.rows[i], begin = e.row_start[row];
        const int p = e.row_start[row + 1] - begin;
        /* scalar products that this thread has; its other items are padding */
        const int mine = min(max(p - int(threadIdx.x) * ITEMS, 0), ITEMS);
        unsigned key[ITEMS];
        T val[ITEMS];

        if (threadIdx.x == 0)
            low = INT32_MAX, high = 0;
        __syncthreads();
        column_range(e, row, &low, &high);
        __syncthreads();
        const int base = low, bits = max(32 - __clz(high - low), 1);

        if (mine > 0) {
            const int t = begin + threadIdx.x * ITEMS;
            product_walk<T> walk(e, row, t);
#pragma unroll
            for (int j = 0; j < ITEMS; j++) {
                int32_t col = -1;
                val[j]      = 0;
                if (j < mine)
                    walk.get(t + j, &col, &val[j]);
                key[j] = j < mine ? unsigned(col - base) : ~0u;
            }
        } else {
#pragma unroll
            for (int j = 0; j < ITEMS; j++)
                key[j] = ~0u, val[j] = 0;
        }
        sorter(big.sort).Sort(key, val, 0, bits); /* padding has the largest key and comes
                                                     last */
        last[threadIdx.x] = key[ITEMS - 1];
        __syncthreads();

        unsigned previous = threadIdx.x > 0 ? last[threadIdx.x - 1] : ~0u;
        unsigned heads    = 0; /* bit j is set if key j differs from the key before it */
        int lead          = 0;
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            heads |= unsigned(j < mine && key[j] != previous) << j;
            previous = key[j];
            if (heads == 0 && j < mine)
                big.lead[lead++ * THREADS + threadIdx.x] = val[j];
        }
        leads[threadIdx.x] = (unsigned char)lead;
        int rank, total;
        scanner(small).ExclusiveSum(__popc(heads), rank, total);
        if (threadIdx.x == 0)
            e.count[row] = total;
        __syncthreads();

        const int first = begin + rank;
        int at          = first - 1; /* index in e.val of the entry that is being summed;
                                        first - 1: no sum has begun in this thread */
        T sum = 0;
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            if (heads >> j & 1) {
                if (at >= first)
                    e.val[at] = sum;
                e.col[++at] = int32_t(key[j]) + base;
                sum         = hy_sum_begun(val[j]);
            } else if (at >= first && j < mine) {
                sum += val[j];
            }
        }
        if (at >= first) { /* the sum may continue in the following threads */
            for (int n = threadIdx.x + 1; n < THREADS; n++) {
                for (int j = 0; j < leads[n]; j++)
                    sum += big.lead[j * THREADS + n];
                if (leads[n] < ITEMS)
                    break;
            }
            e.val[at] = sum;
        }
    }
}

/* Launches the kernel for the rows of a bin. Each of them has more than `above` scalar
   products, which bounds the number of rows. */
template <typename T, int THREADS, int ITEMS>
static hybrid_status launch_bin(hy_lane *lane, const hy_esc<T> &e, int bin, int above)
{
    const int64_t rows = e.products / (above + 1);
    const int64_t room = int64_t(hy_width(lane)) * (HY_SM_THREADS / THREADS);
    block_rows<T, THREADS, ITEMS>
        <<<hy_blocks(rows, 1, room), THREADS, 0, hy_stream(lane)>>>(e, bin);
    return hy_launched(lane, "esc block_rows");
}

template <typename T>
hybrid_status hy_sort_block_rows(hy_lane *lane, const hy_esc<T> &e, int64_t products_max)
{
    int bin = 1, above = 0;
#define HY_PASS(items) bin++, above = 32 * items;
    HY_ESC_WARP_BINS(HY_PASS)
#undef HY_PASS
#define HY_LAUNCH(threads, items)                                                        \
    if (products_max > above)                                                            \
        HY_TRY((launch_bin<T, threads, items>(lane, e, bin, above)));                    \
    bin++, above = threads * items;
    HY_ESC_BLOCK_BINS(HY_LAUNCH)
#undef HY_LAUNCH
    return HYBRID_OK;
}

/* ---- instances ---- */

#define HY_KEY(K)                                                                        \
    template hybrid_status hy_rank_keys(hy_lane *, hy_scratch, const K *, int, K, int *);
#define HY_PAIR(K, T)                                                                    \
    template hybrid_status hy_sort_pairs(hy_lane *, hy_scratch, K *[2], T *[2], int, int);
#define HY_VALUE(T)                                                                      \
    template hybrid_status hy_sort_block_rows(hy_lane *, const hy_esc<T> &, int64_t);
HY_KEY(uint32_t)
HY_KEY(uint64_t)
HY_PAIR(uint32_t, float)
HY_PAIR(uint32_t, double)
HY_PAIR(uint64_t, float)
HY_PAIR(uint64_t, double)
HY_VALUE(float)
HY_VALUE(double)
