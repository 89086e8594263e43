/* gpu/spmm/merge_arrange.cu - cuts the merge path (partition/format/merge.h) of an A in
   device memory, on the device.

   A thread finds a cut by binary search over the offsets, as
   partition/format/pack_merge.c does on the host, with the same result. No list of cut
   rows is needed: the tile of an item (an entry or the end of a row) follows from the
   item's number, because a cut moves only for rows of at most shape.longest entries,
   which are never cut. Each tile therefore finds by itself whether it ends a row that
   began in an earlier tile, and in which one. */
#include "gpu/backend/cuda_tuning.h"
#include "gpu/spmm/merge_tile.cuh"

struct arranging {
    const int64_t *row_ptr;
    int64_t rows, nnz, tiles;
    hy_merge_shape shape;
    hy_merge_cut *cut;
    hy_merge_piece *piece; /* rows that several tiles have pieces of; nullptr if no row is
                              cut */
    hy_merge_join *join;   /* for each cut of the path, the tiles that have pieces of the
                              row in which it lies; nullptr unless X has one column
                              (shape.vector) */
    int32_t *arrived;
    uint16_t *last;
};

struct path_place {
    int64_t row, entry;
};

/* Returns the number of the item at which the row begins: the number of items before the
   row. */
static __device__ int64_t begin_item(const arranging &a, int64_t row)
{
    return a.row_ptr[row] + row;
}

/* Returns the first row of [low, high) that does not end before item number `item`, or
   `high` if all end before. */
static __device__ int64_t row_at(const arranging &a, int64_t low, int64_t high,
                                 int64_t item)
{
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (a.row_ptr[middle + 1] + middle < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the place at which the tile begins. The search begins at row `near`: the place
   must lie in that row or behind it. All tiles of a void pack (hy_variant.arrange) begin
   at the end, so that they are empty. */
static __device__ path_place tile_start(const arranging &a, int64_t tile, int64_t near)
{
    const int64_t item = tile * a.shape.items;
    if (item >= a.rows + a.nnz || a.row_ptr[0] < 0)
        return {a.rows, a.nnz};
    const int64_t row = row_at(a, near, a.rows, item);
    if (row < a.rows && a.row_ptr[row + 1] - a.row_ptr[row] <= a.shape.longest)
        return {row, a.row_ptr[row]};
    return {row, item - row};
}

static __device__ int64_t length_of(path_place from, path_place to)
{
    return to.row - from.row + to.entry - from.entry;
}

/* Returns the first and the last tile that have pieces of the row in which the cut lies;
   first < 0 if it lies between rows. */
static __device__ hy_merge_join join_at(const arranging &a, path_place cut)
{
    if (cut.row >= a.rows || cut.entry <= a.row_ptr[cut.row])
        return {-1, -1};
    return {int32_t(begin_item(a, cut.row) / a.shape.items),
            int32_t((begin_item(a, cut.row + 1) - 1) / a.shape.items)};
}

static __global__ void __launch_bounds__(HY_CUDA_THREADS) cut_tiles(arranging a)
{
    const int64_t t = int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x;
    if (t > a.tiles)
        return;
    const path_place here = tile_start(a, t, 0);
    const path_place next = tile_start(a, t + 1, here.row);
    const int64_t share   = (length_of(here, next) + a.shape.shares - 1) / a.shape.shares;
    const hy_merge_join in = join_at(a, here);
    a.cut[t]               = {here.row, here.entry, 0, int32_t(share) | 1};
    if (a.join)
        a.join[t] = in;
    if (t == a.tiles)
        return;
    if (a.piece)
        a.piece[t] = in.first >= 0 && in.last == t
                         ? hy_merge_piece{here.row, in.first, in.last}
                         : hy_merge_piece{0, 0, 0};
    if (a.arrived)
        a.arrived[t] = 0;
}

/* Sets `last` of each row: its last entry, counted from the first entry of the tile that
   ends the row; HY_MERGE_NO_ENTRY if the row has no entry in that tile. */
static __global__ void __launch_bounds__(HY_CUDA_THREADS) note_last(arranging a)
{
    const int64_t row = int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x;
    if (row >= a.rows)
        return;
    const int64_t begin = a.row_ptr[row], end = a.row_ptr[row + 1];
    const int64_t from = a.cut[(end + row) / a.shape.items].entry;
    a.last[row]        = end > begin && end > from ? uint16_t(end - from - 1)
                                                   : uint16_t(HY_MERGE_NO_ENTRY);
}

hybrid_status hy_arrange_merge(hy_lane *lane, hy_job *job, hy_merge_shape shape)
{
    HY_TRY(hy_arrange_csr(lane, job));
    HY_TRY(hy_arrange_merge_room(job, shape));
    const hy_features *f  = &job->chunk->features;
    const hy_merge_view v = hy_packed_merge(job, shape);
    const arranging a     = {static_cast<const int64_t *>(job->in.ptr),
                             f->rows,
                             f->nnz,
                             v.tiles,
                             shape,
                             const_cast<hy_merge_cut *>(v.cut),
                         v.pieces > 0 ? const_cast<hy_merge_piece *>(v.piece) : nullptr,
                             const_cast<hy_merge_join *>(v.join),
                             v.arrived,
                             const_cast<uint16_t *>(v.last)};
    cut_tiles<<<hy_blocks(v.tiles + 1, HY_CUDA_THREADS), HY_CUDA_THREADS, 0,
                hy_stream(lane)>>>(a);
    HY_TRY(hy_launched(lane, "cut_tiles"));
    if (!v.last || f->rows == 0)
        return HYBRID_OK;
    note_last<<<hy_blocks(f->rows, HY_CUDA_THREADS), HY_CUDA_THREADS, 0,
                hy_stream(lane)>>>(a);
    return hy_launched(lane, "note_last");
}
