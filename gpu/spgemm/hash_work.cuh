/* gpu/spgemm/hash_work.cuh - the data of the kernels of spgemm.cuda.hash.

   Here and in the kernels a product is a scalar product, and a lane is a GPU thread of a
   warp. A bin is a list of rows of C that the same kernel computes. The first
   HY_HASH_SORTS bins hold short rows. The next HY_HASH_TREES bins hold rows that fit a
   tree in shared memory (hash_tree.cuh), of increasing size. Rows that fit none are cut
   into windows, ranges of columns (hash_dense.cuh). A row that turns out not to fit goes
   to the next bin; the kernel of that bin runs later. */
#ifndef HY_HASH_WORK_CUH
#define HY_HASH_WORK_CUH

#include <stdint.h>

#include "gpu/backend/cuda_scan.cuh"
#include "gpu/backend/cuda_tuning.h"
#include "partition/format/pack.h"

/* Entries [begin, end) of B: the row of B that an entry of A selects. */
struct alignas(16) hy_span {
    int64_t begin, end;
};

/* Columns [low, low + width) of one row of C, for a row that is computed in ranges of
   columns. The windows of a row are consecutive. */
struct hy_window {
    int row;
    int index; /* number of the window among those of its row, from 0 */
    int low, width;
    int at, count; /* at: index of the window's first entry in h.col and h.val; count: its
                      number of entries */
};

/* Counters on the device, zero before each chunk. listed: for each bin, number of rows
   put into it; windows, windows_taken: number of windows, and of windows that blocks have
   begun. */
struct hy_hash_counts {
    int listed[HY_HASH_BINS];
    int taken[HY_HASH_BINS]; /* for each bin, number of rows that blocks have begun */
    int used; /* number of elements of h.col and h.val that are reserved for
                 rows; more than h.entries if these have no room */
    int windows, windows_taken;
};

/* The operands as the kernels read them. */
template <typename T> struct hy_factors {
    int rows, nnz;
    const int64_t *a_row; /* rows of A in the chunk */
    const int32_t *a_col;
    const T *a_val;
    const int64_t *b_row; /* B, or the rows of B that the chunk of A touches */
    const int32_t *b_col;
    const T *b_val;
};

template <typename T> hy_factors<T> hy_factors_of(const hy_job *job)
{
    const hy_csr_view a = hy_packed_a(job), b = hy_packed_b(job);
    return {int(a.rows),
            int(a.nnz),
            a.row_ptr,
            a.col,
            static_cast<const T *>(a.val),
            b.row_ptr,
            b.col,
            static_cast<const T *>(b.val)};
}

template <typename T> struct hy_hash : hy_factors<T> {
    int products;
    hy_span *span;     /* for each entry of A, the row of B that it selects */
    int2 *ends;        /* for each entry of A, the first and last column of its row
                          of B; NULL if all rows of C are short */
    int *row_products; /* scalar products of each row; negated when the row is cut
                          into windows */
    int2 *range;       /* for each row of C, its first and last column; undefined if
                          `ends` is NULL */
    int *longest;      /* for each row of A, the entries of the longest row of B
                          that it selects; undefined if `ends` is NULL */
    int *place;        /* for each row of C, index of its first entry in col and val;
                          undefined if C has more than `entries` entries */
    int *count;        /* for each row of C, number of its entries */
    int *list[HY_HASH_BINS]; /* numbers of the rows in each bin */
    hy_hash_counts *counts;
    hy_window *window;
    int32_t *col; /* `entries` elements: computed rows, each sorted by column */
    T *val;
    int entries; /* number of entries for which `col` and `val` have room. If C has more,
                    they are counted, and some of them are not stored. */
    bool late;   /* false: `col` has room for the upper bound of each row, which is
                    reserved when the row is put into a bin, so that there are gaps
                    between rows; true: a row, or a window of it, gets its place once its
                    entries are counted */
    int out_cols;
    float share;             /* expected entries of a row of C, as a fraction of its
                                scalar products */
    int window_width;        /* maximum columns of a window (range of columns of a row), a
                                multiple of 32 */
    int window_products;     /* a row is cut into more windows (ranges of columns) than
                                its columns need only if each has at least this many
                                scalar products on average */
    int room[HY_HASH_TREES]; /* for each tree bin, bytes of shared memory for a row */
};

__device__ inline unsigned hy_below(int i)
{
    return (1u << i) - 1;
}

/* Reserves `count` elements of h.col and h.val. Returns the index of the first, which may
   be beyond the last (hy_hash_holds()). */
template <typename T> __device__ int hy_hash_reserve(const hy_hash<T> &h, int count)
{
    return atomicAdd(&h.counts->used, count);
}

/* Returns true if h.col and h.val have `count` elements from index `place` on. */
template <typename T>
__device__ bool hy_hash_holds(const hy_hash<T> &h, int place, int count)
{
    return count <= h.entries - place;
}

/* Returns the number of levels of the tree over `range` + 1 columns: the fewest with
   which the top level has at most as many nodes as the row has scalar products, or
   HY_HASH_TOP if that is more. */
__device__ inline int hy_hash_levels(unsigned range, int products)
{
    const unsigned most = max(unsigned(HY_HASH_TOP), unsigned(products));
    int levels          = 1;
    while (range >> (5 * levels) >= most)
        levels++;
    return levels;
}

/* Cuts a row into windows (ranges of columns) and sets its row_products to a negative
   number. A row of more than window_width columns needs several windows. A row of more
   than window_products scalar products is cut further, unless the mean piece of a row of
   B in a window would have less than HY_HASH_PIECE entries. */
template <typename T> __device__ void hy_hash_cut(const hy_hash<T> &h, int row)
{
    const int2 range  = h.range[row];
    const int p       = h.row_products[row];
    const int mean    = p / max(int(h.a_row[row + 1] - h.a_row[row]), 1);
    const int columns = range.y - range.x; /* number of columns less one, which does not
                                              overflow */
    const int wanted    = max(columns / h.window_width + 1,
                              min(p / h.window_products, mean / HY_HASH_PIECE));
    const int width     = (columns / wanted + 32) & ~31;
    const int count     = columns / width + 1;
    const int first     = atomicAdd(&h.counts->windows, count);
    h.row_products[row] = -p;
    for (int i = 0; i < count; i++)
        h.window[first + i] = {row, i, range.x + i * width, width, 0, 0};
}

/* Puts a row that does not fit the tree of this bin into the next bin, or cuts it into
   windows if this bin is the last. */
template <typename T>
__device__ void hy_hash_pass_on(const hy_hash<T> &h, int bin, int row)
{
    if (bin + 1 < HY_HASH_BINS)
        h.list[bin + 1][atomicAdd(&h.counts->listed[bin + 1], 1)] = row;
    else
        hy_hash_cut(h, row);
}

/* team_sync() and team_scan() work on the threads of one row: a warp or a whole block. */
template <int THREADS> __device__ void team_sync()
{
    if (THREADS == 32)
        __syncwarp();
    else
        __syncthreads();
}

template <int THREADS> __device__ int team_scan(int mine, int *sum)
{
    if constexpr (THREADS == 32)
        return warp_scan(mine, sum);
    else
        return block_scan<THREADS>(mine, sum);
}

#endif /* HY_HASH_WORK_CUH */
