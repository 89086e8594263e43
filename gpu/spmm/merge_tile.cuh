/* gpu/spmm/merge_tile.cuh - a tile of the merge path of CSR in shared memory.

   partition/format/merge.h defines the path, its items and its tiles. A thread block
   takes a tile. Groups of GPU lanes (threads) take shares, equal parts of a tile, for the
   columns of X that a group covers at once, which are a pass. A line is HY_SPMM_LINE
   bytes of a row of X. */
#ifndef HY_MERGE_TILE_CUH
#define HY_MERGE_TILE_CUH

#include <cuda_pipeline.h>

#include "gpu/spmm/spmm_lanes.cuh"
#include "partition/format/merge.h"

enum {
    MERGE_NEVER = INT32_MAX
}; /* marks, in place of the index of the entry at which the next row ends, that no more
      rows end in the share */

/* A point of the path through a tile, as the number of rows that ended and of entries
   passed before it. */
struct merge_split {
    uint16_t rows, entries;
};

/* Parameters of the kernels for several columns of X. All chunks of a problem have the
   same `items` and `shares`, which decide the order of additions; the columns of a pass
   may differ. */
template <typename T> struct merge_path {
    int items, shares;       /* items: maximum items in a tile; shares: number of shares
                                in a tile */
    int log_lanes;           /* 2^log_lanes lanes walk a share */
    int log_parts;           /* each share of the hy_merge_shape that merge_shape_of()
                                returned is divided into 2^log_parts shares */
    int pass_columns;        /* number of columns of X in a pass, which a group of lanes
                                covers at once */
    bool paper;              /* true: each lane computes one column, even if it could load
                                several at once */
    const hy_merge_cut *cut; /* tiles + 1 elements: where each tile begins */
    T *carry; /* tiles x ld elements: for each tile and column, the sum so far of the row
                 that continues in the next tile */
};

template <typename T> struct merge_tile {
    int64_t row;       /* first row of the tile, counted from the chunk's first; it may
                          have begun in an earlier tile */
    int rows, entries; /* rows: rows that end in the tile; entries: entries in the tile */
    int lead, share, pass_columns;
    int32_t *col;       /* `entries` elements: columns of A */
    T *val;             /* `entries` elements: values of A */
    T *carry;           /* shares x pass_columns elements: for each share and column, the
                           sum so far of the row that continues in the next share */
    uint16_t *end;      /* `rows` elements: for each row that ends in the tile, the number
                           of entries of the tile before its end */
    merge_split *split; /* shares + 1 elements: where each share begins */

    /* Returns the number of entries of the tile before row r. */
    __device__ int begin(int r) const
    {
        return r > 0 ? end[r - 1] : 0;
    }

    /* Returns the share in which row r of the tile begins. If the row began in an earlier
       tile, returns the first share that has items of the chunk. */
    __device__ int first_share(int r) const
    {
        return (lead + begin(r) + r) / share;
    }
};

/* ---- host side ---- */

/* Returns the number of thread blocks that the device holds at once. */
inline int64_t merge_blocks(const hy_rates *r)
{
    return int64_t(r->width) * HY_SPMM_RESIDENT / HY_CUDA_THREADS;
}

/* Returns the shape for one column of X if the whole A has all_items items. A tile has
   twice as many items if there would otherwise be more than HY_MERGE_VECTOR_TILES tiles
   for each multiprocessor. */
inline hy_merge_shape vector_shape_of(int64_t all_items, const hy_rates *r)
{
    const int64_t tiles = int64_t(r->width) * HY_MERGE_VECTOR_TILES;
    const int items     = all_items > HY_MERGE_VECTOR_ITEMS * tiles
                              ? 2 * HY_MERGE_VECTOR_ITEMS
                              : HY_MERGE_VECTOR_ITEMS;
    return {items, 1, items / 4, 1};
}

/* Returns log2 of the lanes that walk a share: one lane if it loads a row of X of up to
   16 bytes at once, else as many as load one line at once, or two lines, or four. Rows of
   X of up to that size are then read whole. With `in_slabs` at most two lines are read at
   once, so that the L2 cache holds this part of more rows. */
inline int merge_log_lanes(int64_t row_bytes, bool in_slabs)
{
    if (row_bytes <= HY_SPMM_LINE)
        return row_bytes > 16 ? 3 : 0;
    return row_bytes <= 2 * HY_SPMM_LINE || in_slabs ? 4 : 5;
}

/* Returns the maximum number of items of a tile. Larger tiles save start-up time of
   thread blocks. If neighbouring rows of A share rows of X (not `scattered`), smaller
   tiles find more of X in the L1 cache. */
inline int merge_max_items(const hy_features &f, int log_lanes, bool scattered)
{
    const bool uneven = f.row_cv > 1 && f.row_mean >= double(HY_MERGE_LONG_ROWS);
    if (log_lanes < 4 || scattered)
        return HY_MERGE_MOST_ITEMS;
    return uneven ? HY_MERGE_UNEVEN_ITEMS : HY_MERGE_WIDE_ITEMS;
}

/* Returns the number of items of a tile, at most `most`. If tiles of `most` items fill
   the device at most HY_MERGE_WAVES times, smaller ones fill it a whole number of times.
   `all` is the number of items of A. The device holds `blocks` thread blocks at once, and
   each tile takes `passes` of them, one for each pass over the columns of X. */
inline int64_t merge_items(int64_t all, int64_t most, int64_t passes, int64_t blocks)
{
    const int64_t room  = blocks / hy_min(passes, blocks);
    const int64_t waves = all / (most * room) + 1;
    return waves > HY_MERGE_WAVES ? most : all / (waves * room) + 1;
}

/* Returns how the merge path of a problem is cut into tiles, and a tile into as many
   shares as a block has groups of lanes. `f` are features that all chunks of the problem
   have in common (hy_profile_range()). */
inline hy_merge_shape merge_shape_of(const hy_problem &p, const hy_features &f,
                                     const hy_rates *r)
{
    const int64_t all = p.A->nnz + p.A->rows;
    if (p.X->cols == 1)
        return vector_shape_of(all, r);
    if (f.parameter[0])
        return {HY_MERGE_PAPER_ITEMS, HY_CUDA_THREADS / 32, 0, 0};

    const int64_t row_bytes = p.X->cols * int64_t(hy_value_size(p.A->type));
    const double x_bytes    = double(p.X->rows * row_bytes);
    const bool scattered    = hy_is_scattered(f.tile_fill, x_bytes, r);
    /* in_slabs requires that each lane loads 16 bytes. Otherwise rows of Y must be stored
       transposed, which takes whole warps. */
    const bool in_slabs  = scattered && row_bytes % 16 == 0;
    const int log        = merge_log_lanes(row_bytes, in_slabs);
    const int64_t passes = (row_bytes - 1) / (int64_t(16) << log) + 1;
    const int64_t least  = log > 4 ? HY_MERGE_LEAST_WIDE : HY_MERGE_LEAST_ITEMS;
    const int64_t items  = hy_max(
         merge_items(all, merge_max_items(f, log, scattered), passes, merge_blocks(r)),
         least);
    return {int(items), HY_CUDA_THREADS >> log, int(hy_max(items / 4, HY_MERGE_LONGEST)),
            0};
}

/* Returns the path for the tail columns, which begin at column `first` of the carries. A
   lane loads all tail columns of a row at once, so each lane of a group takes a part of
   the group's share. */
template <typename T> merge_path<T> merge_rest_of(merge_path<T> p, int64_t first)
{
    p.shares <<= p.log_lanes;
    p.log_parts = p.log_lanes;
    p.log_lanes = 0;
    p.carry += first;
    return p;
}

/* Returns the bytes of shared memory that a block needs for a tile. merge_lay_out()
   divides them. */
template <typename T> size_t merge_room(const merge_path<T> &p)
{
    const size_t items = size_t(p.items);
    return sizeof(T) * (size_t(p.shares) * size_t(p.pass_columns) + items) + 4 * items +
           sizeof(merge_split) * size_t(p.shares + 1) + 2 * items;
}

/* merge_arrange.cu: does the work of hy_variant.arrange, with the merge path cut as
   `shape` says. */
hybrid_status hy_arrange_merge(hy_lane *lane, hy_job *job, hy_merge_shape shape);

/* ---- device side ---- */

/* Lets the next kernel begin early. That kernel must call merge_wait_for_last() before it
   uses results of this one. */
static __device__ inline void merge_let_next_begin()
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Waits until the previous kernel of the stream is over and its stores are visible. */
static __device__ inline void merge_wait_for_last()
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Returns the first row r of [0, rows) that does not end before item `at` of the tile, or
   `rows` if all end before. */
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
    m.carry = reinterpret_cast<T *>(room); /* comes first, because vectors of it
                                              must be aligned */
    m.val          = m.carry + p.shares * p.pass_columns;
    m.col          = reinterpret_cast<int32_t *>(m.val + p.items);
    m.split        = reinterpret_cast<merge_split *>(m.col + p.items);
    m.end          = reinterpret_cast<uint16_t *>(m.split + p.shares + 1);
    m.pass_columns = p.pass_columns;
    return m;
}

/* Starts copying the tile's entries of A to shared memory. */
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

/* Sets m.end: the number of entries of the tile before the end of each of its rows. A
   thread reads four offsets at once. */
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

/* Reads where this block's tile begins and ends, and splits it into shares. */
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
