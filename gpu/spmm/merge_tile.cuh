/* gpu/spmm/merge_tile.cuh - a tile of the merge path of CSR in shared memory. */
#ifndef HY_MERGE_TILE_CUH
#define HY_MERGE_TILE_CUH

#include <cuda_pipeline.h>

#include "gpu/spmm/spmm_lanes.cuh"
#include "partition/format/merge.h"

enum { MERGE_NEVER = INT32_MAX }; /* no row ends here any more */

/* Rows ended and entries taken before some point of a tile's path. */
struct merge_split {
    uint16_t rows, entries;
};

/* What the kernels know of the path. Shares belong to the problem, columns to the
   chunk. */
template <typename T> struct merge_path {
    int items, shares;       /* most that a tile has */
    int log_lanes;           /* 2^log_lanes lanes for each */
    int log_parts;           /* 2^log_parts of them are one of the cuts' */
    int pass_columns;        /* that one pass covers */
    const hy_merge_cut *cut; /* tiles + 1 */
    T *carry; /* tiles x ld: the piece of the row that the tile does not end */
};

template <typename T> struct merge_tile {
    int64_t row;       /* first; it may have begun earlier */
    int rows, entries; /* that end in it, that lie in it */
    int lead, share, pass_columns;
    int32_t *col;       /* entries */
    T *val;             /* entries */
    T *carry;           /* shares x pass_columns */
    uint16_t *end;      /* rows: entries before the row's end */
    merge_split *split; /* shares + 1 */

    /* Entries of the tile before row r of the tile begins. */
    __device__ int begin(int r) const
    {
        return r > 0 ? end[r - 1] : 0;
    }

    /* The share in which row r begins, as far as this tile knows. */
    __device__ int first_share(int r) const
    {
        return (lead + begin(r) + r) / share;
    }
};

/* ---- host side ---- */

/* One column of X: a tile is a step of a block, or two where tiles are many. */
inline hy_merge_shape vector_shape_of(int64_t all_items)
{
    const int items = all_items > HY_MERGE_VECTOR_ITEMS * HY_MERGE_VECTOR_TILES
                          ? 2 * HY_MERGE_VECTOR_ITEMS
                          : HY_MERGE_VECTOR_ITEMS;
    return {items, 1, items / 4, 1};
}

/* 2^this lanes walk a share: one if a row of X takes it no more than one load, else as
   many as read a line at once, or two, or four. Rows of X are read whole then, but where
   slabs of two lines let the L2 cache hold more of them. */
inline int merge_log_lanes(int64_t row_bytes, bool in_slabs)
{
    if (row_bytes <= HY_SPMM_LINE)
        return row_bytes > 16 ? 3 : 0;
    return row_bytes <= 2 * HY_SPMM_LINE || in_slabs ? 4 : 5;
}

/* Most items of a tile. A block loses some time at its beginning; but where rows that are
   near each other share X, blocks with fewer of them find more of it in the L1 cache. */
inline int merge_most_items(const hy_features &f, int log_lanes, bool apart)
{
    const bool uneven = f.row_cv > 1 && f.row_mean >= double(HY_MERGE_LONG_ROWS);
    if (log_lanes < 4 || apart)
        return HY_MERGE_MOST_ITEMS;
    return uneven ? HY_MERGE_UNEVEN_ITEMS : HY_MERGE_WIDE_ITEMS;
}

/* Few tiles are as many as the device holds at once, or twice as many. */
inline int64_t merge_items(int64_t all, int64_t most, int64_t passes)
{
    const int64_t room  = HY_MERGE_BLOCKS / hy_min(passes, HY_MERGE_BLOCKS);
    const int64_t waves = all / (most * room) + 1;
    return waves > HY_MERGE_WAVES ? most : all / (waves * room) + 1;
}

/* For a product whose A has such rows, which all chunks know (hy_profile_range()): a
   share for each group of lanes. */
inline hy_merge_shape merge_shape_of(const hy_problem &p, const hy_features &f)
{
    const int64_t all = p.A->nnz + p.A->rows;
    if (p.X->cols == 1)
        return vector_shape_of(all);

    const int64_t row_bytes = p.X->cols * int64_t(hy_value_size(p.A->type));
    const bool apart        = hy_is_apart(f.tile_fill, double(p.X->rows * row_bytes));
    const bool in_slabs  = apart && row_bytes % 16 == 0; /* else rows of Y are turned */
    const int log        = merge_log_lanes(row_bytes, in_slabs);
    const int64_t passes = (row_bytes - 1) / (int64_t(16) << log) + 1;
    const int64_t least  = log > 4 ? HY_MERGE_LEAST_WIDE : HY_MERGE_LEAST_ITEMS;
    const int64_t items =
        hy_max(merge_items(all, merge_most_items(f, log, apart), passes), least);
    return {int(items), HY_CUDA_THREADS >> log, int(hy_max(items / 4, HY_MERGE_LONGEST)),
            0};
}

/* The same tiles for the columns that lie apart, from column `first` on: one load of a
   lane, so that each lane of a group has a part of its share. */
template <typename T> merge_path<T> merge_rest_of(merge_path<T> p, int64_t first)
{
    p.shares <<= p.log_lanes;
    p.log_parts = p.log_lanes;
    p.log_lanes = 0;
    p.carry += first;
    return p;
}

/* Bytes of shared memory, in the order of merge_lay_out(). */
template <typename T> size_t merge_room(const merge_path<T> &p)
{
    const size_t items = size_t(p.items);
    return sizeof(T) * (size_t(p.shares) * size_t(p.pass_columns) + items) + 4 * items +
           sizeof(merge_split) * size_t(p.shares + 1) + 2 * items;
}

/* hy_variant.arrange of a matrix whose path is cut so (merge_arrange.cu). */
hybrid_status hy_arrange_merge(hy_lane *lane, hy_job *job, hy_merge_shape shape);

/* ---- device side ---- */

/* The kernel after this one may begin: it waits by itself until this one is over. */
static __device__ inline void merge_let_next_begin()
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* The kernel before this one is over, and all it has stored is there. */
static __device__ inline void merge_wait_for_last()
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* The first r of [0, rows] that does not end before item `at` of the tile. */
static __device__ inline int rows_before(const uint16_t *end, int rows, int at)
{
    int low = 0, high = rows;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (end[middle] + middle < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

template <typename T>
static __device__ merge_tile<T> merge_lay_out(const merge_path<T> &p, double *room)
{
    merge_tile<T> m;
    m.carry        = reinterpret_cast<T *>(room); /* first: it is stored in vectors */
    m.val          = m.carry + p.shares * p.pass_columns;
    m.col          = reinterpret_cast<int32_t *>(m.val + p.items);
    m.split        = reinterpret_cast<merge_split *>(m.col + p.items);
    m.end          = reinterpret_cast<uint16_t *>(m.split + p.shares + 1);
    m.pass_columns = p.pass_columns;
    return m;
}

/* Entries of A start on their way to shared memory. */
template <typename T>
static __device__ void block_fetch_entries(const hy_spmm_operands<T> &o,
                                           const merge_tile<T> &m, int64_t first)
{
    for (int k = int(threadIdx.x); k < m.entries; k += HY_CUDA_THREADS) {
        __pipeline_memcpy_async(m.col + k, o.col + first + k, sizeof(int32_t));
        __pipeline_memcpy_async(m.val + k, o.val + first + k, sizeof(T));
    }
    __pipeline_commit();
}

/* Where the rows of the tile end, in entries; four words of a thread at once. */
template <typename T>
static __device__ void block_read_ends(const hy_spmm_operands<T> &o,
                                       const merge_tile<T> &m, int64_t first)
{
    constexpr int AT_ONCE = 4;
    const int64_t *from   = o.row_ptr + m.row + 1;
    for (int r = int(threadIdx.x); r < m.rows; r += AT_ONCE * HY_CUDA_THREADS) {
        int64_t end[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
            end[u] = from[min(r + u * HY_CUDA_THREADS, m.rows - 1)];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
            if (r + u * HY_CUDA_THREADS < m.rows)
                m.end[r + u * HY_CUDA_THREADS] = uint16_t(end[u] - first);
    }
}

/* Read this block's tile and split it into shares. */
template <typename T>
static __device__ merge_tile<T> merge_open(const hy_spmm_operands<T> &o,
                                           const merge_path<T> &p, double *room)
{
    const int thread        = int(threadIdx.x);
    const hy_merge_cut from = p.cut[blockIdx.x], to = p.cut[blockIdx.x + 1];
    merge_tile<T> m = merge_lay_out<T>(p, room);
    m.row           = from.row;
    m.rows          = int(to.row - from.row);
    m.entries       = int(to.entry - from.entry);
    m.lead          = from.lead;
    m.share         = hy_merge_part(from.share, p.log_parts);

    block_fetch_entries(o, m, from.entry);
    block_read_ends(o, m, from.entry);
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int s = thread; s <= p.shares; s += HY_CUDA_THREADS) {
        const int at   = min(max(s * m.share - m.lead, 0), m.rows + m.entries);
        const int rows = rows_before(m.end, m.rows, at);
        m.split[s]     = {uint16_t(rows), uint16_t(at - rows)};
    }
    __syncthreads();
    return m;
}

#endif /* HY_MERGE_TILE_CUH */
