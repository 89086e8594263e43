/* gpu/merge_tile.cuh - a tile of the merge path of CSR in shared memory.

   Items are counted along the path: row r ends at item row_ptr[r+1] + r. A tile has
   `shares` shares of `share` items; the first and the last tile of a chunk may be cut
   off by the chunk's ends. */
#ifndef HY_MERGE_TILE_CUH
#define HY_MERGE_TILE_CUH

#include "gpu/spmm_lanes.cuh"

enum {
    MERGE_NEVER       = INT32_MAX, /* no row ends here any more */
    MERGE_LEAST_ITEMS = 992,       /* of a tile, whatever the shape */
    MERGE_WIDE_ITEMS  = 1024,      /* about, of a tile for X with many columns */
    MERGE_SLIM_ITEMS  = 2048       /* and with a few */
};

/* How the path is cut. Shares belong to the problem, columns to the chunk. */
struct merge_shape {
    int share, shares;
    int skew;         /* items between the start of the first tile and the chunk's */
    int pass_columns; /* most that one pass covers */
    int64_t nnz;
    hy_spmm_columns columns;

    __host__ __device__ int items() const
    {
        return share * shares;
    }
};

/* Rows ended and entries taken before some point of a tile's path. */
struct merge_split {
    uint16_t rows, entries;
};

/* A tile's first row, if it ends in this tile but began in another; else -1. */
struct merge_note {
    int64_t row, tile; /* tile: the one in which it began */
};

/* What tiles leave for others. */
template <typename T> struct merge_carries {
    merge_note *notes; /* tiles */
    T *values;         /* tiles x n: the piece of the row that the tile does not end */
};

template <typename T> struct merge_tile {
    int64_t row;       /* first; it may have begun earlier */
    int rows, entries; /* that end in it, that lie in it */
    int lead;          /* items cut off before the tile */
    int share;
    int pass_columns;
    int32_t *col;       /* entries */
    T *val;             /* entries, or their products with X if that is one column */
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

/* Lanes that the problem would use decide how many shares there are. */
template <typename T> merge_shape merge_shape_of(int64_t n)
{
    const int log   = n % 4 == 0 && sizeof(T) == 4 ? hy_columns_of<T, 4>(n).log_lanes
                      : n % 2 == 0                 ? hy_columns_of<T, 2>(n).log_lanes
                                                   : hy_columns_of<T, 1>(n).log_lanes;
    merge_shape s   = {};
    s.shares        = HY_CUDA_THREADS >> log;
    const int items = log <= 2 ? MERGE_SLIM_ITEMS : MERGE_WIDE_ITEMS;
    s.share         = items / s.shares - 1; /* odd: spread over the banks */
    s.pass_columns  = 1;
    s.columns       = {0, 1};
    return s;
}

/* Bytes of shared memory, in the order of merge_open(). */
template <typename T> size_t merge_room(const merge_shape &s)
{
    const size_t items = size_t(s.items());
    return sizeof(T) * (items + size_t(s.shares) * size_t(s.pass_columns)) + 4 * items +
           sizeof(merge_split) * size_t(s.shares + 1) + 2 * items;
}

/* ---- device side ---- */

/* Rows that end before item `at`, found by a warp that looks at 32 places at once. */
template <typename T>
static __device__ int64_t warp_rows_before(const hy_spmm_operands<T> &o, int64_t at)
{
    const int lane = int(threadIdx.x) % 32;
    int64_t low = 0, high = o.rows;
    while (low < high) {
        const int64_t step  = (high - low + 31) / 32;
        const int64_t probe = low + lane * step;
        const bool before   = probe < high && o.row_ptr[probe + 1] + probe < at;
        const int count     = __popc(__ballot_sync(0xffffffffu, before));
        high                = min(high, low + count * step);
        low                 = count == 0 ? high : low + (count - 1) * step + 1;
    }
    return low;
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
static __device__ merge_tile<T> merge_lay_out(const merge_shape &shape, double *room)
{
    merge_tile<T> m;
    m.val   = reinterpret_cast<T *>(room);
    m.carry = m.val + shape.items();
    m.col   = reinterpret_cast<int32_t *>(m.carry + shape.shares * shape.pass_columns);
    m.split = reinterpret_cast<merge_split *>(m.col + shape.items());
    m.end   = reinterpret_cast<uint16_t *>(m.split + shape.shares + 1);
    m.share = shape.share;
    m.pass_columns = shape.pass_columns;
    return m;
}

/* Entries of A. */
template <typename T>
static __device__ void block_read_entries(const hy_spmm_operands<T> &o,
                                          const merge_tile<T> &m, int64_t first)
{
#pragma unroll 4
    for (int k = int(threadIdx.x); k < m.entries; k += HY_CUDA_THREADS) {
        m.col[k] = o.col[first + k];
        m.val[k] = o.val[first + k];
    }
}

/* Their products with the only column of X. */
template <typename T>
static __device__ void block_read_products(const hy_spmm_operands<T> &o,
                                           const merge_tile<T> &m, int64_t first)
{
#pragma unroll 7
    for (int k = int(threadIdx.x); k < m.entries; k += HY_CUDA_THREADS)
        m.val[k] = o.val[first + k] * hy_load_x<T, 1>(o, o.col[first + k], 0).x[0];
}

/* Find this block's tile, read it and split it into shares. */
template <typename T, bool PRODUCTS>
static __device__ merge_tile<T> merge_open(const hy_spmm_operands<T> &o,
                                           const merge_shape &shape, merge_note *notes,
                                           double *room)
{
    __shared__ int64_t cut[2];
    const int thread    = int(threadIdx.x);
    const int64_t total = o.rows + shape.nnz;
    const int64_t start = int64_t(blockIdx.x) * shape.items() - shape.skew;
    const int64_t from  = max(start, int64_t(0));
    const int64_t to    = min(start + shape.items(), total);
    merge_tile<T> m     = merge_lay_out<T>(shape, room);

    if (thread < 64) {
        const int64_t row = warp_rows_before(o, thread < 32 ? from : to);
        if (thread % 32 == 0)
            cut[thread / 32] = row;
    }
    __syncthreads();
    const int64_t entry = from - cut[0];
    m.row               = cut[0];
    m.rows              = int(cut[1] - cut[0]);
    m.entries           = int(to - from) - m.rows;
    m.lead              = int(from - start);
    if (PRODUCTS)
        block_read_products(o, m, entry);
    else
        block_read_entries(o, m, entry);
#pragma unroll 4
    for (int r = thread; r < m.rows; r += HY_CUDA_THREADS)
        m.end[r] = uint16_t(o.row_ptr[m.row + r + 1] - entry);
    if (thread == 0 && blockIdx.y == 0) {
        const int64_t begin = m.rows > 0 ? o.row_ptr[m.row] : entry;
        notes[blockIdx.x]   = {begin < entry ? m.row : -1,
                             (shape.skew + begin + m.row) / shape.items()};
    }
    __syncthreads();
    for (int s = thread; s <= shape.shares; s += HY_CUDA_THREADS) {
        const int at   = min(max(s * shape.share - m.lead, 0), m.rows + m.entries);
        const int rows = rows_before(m.end, m.rows, at);
        m.split[s]     = {uint16_t(rows), uint16_t(at - rows)};
    }
    __syncthreads();
    return m;
}

#endif /* HY_MERGE_TILE_CUH */
