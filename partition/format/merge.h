/* partition/format/merge.h - cuts the merge path of a CSR matrix into tiles of equal
   work.

   The merge path is the list of all entries and all ends of rows, nnz + rows items; row r
   ends at item row_ptr[r+1] + r. Tiles are cut every `items` items, counted from the
   start of the whole matrix, so a row is cut at the same places whatever the chunks are.
   A cut that would fall inside a row of at most `longest` entries moves to the start of
   that row. A piece is the part of a cut row that one tile has. */
#ifndef HY_MERGE_H
#define HY_MERGE_H

#include "base/contract/variant.h"
#include "partition/format/pack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the merge path is cut into tiles. The shape depends on the problem and not on the
   chunk. A tile has at most items + longest items. */
typedef struct hy_merge_shape {
    int items, shares; /* items: target for the items (entries and ends of rows) of a
                          tile; shares: number of equal parts of a tile, one for each
                          group of threads */
    int longest;       /* rows of up to this many entries are never cut */
    int vector;        /* 1 for a product with one column of X */
} hy_merge_shape;

/* Where a tile of the merge path begins; it ends where the next tile begins. */
typedef struct hy_merge_cut {
    int64_t row, entry; /* number of rows of the chunk that end before the tile, and
                           number of entries of the chunk before it */
    int32_t lead;       /* number of items that the tile has before the chunk, because
                           tiles are cut in the whole matrix; 0 except for the first
                           tile */
    int32_t share;      /* number of items in each of the tile's shares, rounded up to an
                           odd number, so that shares begin in different banks of shared
                           memory; the last share may have fewer */
} hy_merge_cut;

/* A row of the chunk that is cut: tiles `first` to `last` have pieces of it, and the row
   ends in tile `last`. An element with first == last describes no row. */
typedef struct hy_merge_piece {
    int64_t row;
    int32_t first, last;
} hy_merge_piece;

/* The first and the last tile that have pieces of the row in which a cut lies; first < 0
   if the cut lies between rows. */
typedef struct hy_merge_join {
    int32_t first, last;
} hy_merge_join;

enum { HY_MERGE_NO_ENTRY = 0xffff };

/* Returns the number of items in each part, rounded up to an odd number, if shares of
   `share` items are divided into 2^log_parts parts. */
HY_KERNEL_INLINE int32_t hy_merge_part(int32_t share, int log_parts)
{
    return (share + (1 << log_parts) - 1) >> log_parts | 1;
}

/* The arrays that follow A in the pack. `join`, `arrived` and `last` are NULL unless X
   has one column (shape.vector). */
typedef struct hy_merge_view {
    int64_t tiles, pieces;
    const hy_merge_cut *cut;     /* tiles + 1 elements: where each tile begins */
    const hy_merge_piece *piece; /* `pieces` elements: the rows that several tiles have
                                    pieces of */
    const hy_merge_join *join;   /* tiles + 1 elements: for each cut, the tiles that have
                                    pieces of the row in which it lies */
    int32_t *arrived;            /* `tiles` counters, initially 0. Counter t is for the
                                    row that begins in tile t and continues beyond it: the
                                    number of tiles that have finished their pieces of the
                                    row */
    const uint16_t *last;        /* for each row, its last entry in the tile that ends the
                                    row, counted from the tile's first entry;
                                    HY_MERGE_NO_ENTRY if the row has no entry in that
                                    tile */
} hy_merge_view;

/* Returns an upper bound on the number of tiles of the merge path in a chunk. */
int64_t hy_merge_max_tiles(const hy_features *f, hy_merge_shape shape);

/* Returns the bytes of a pack with `tiles` tiles: those of hy_pack_csr() and those of the
   cuts. */
size_t hy_pack_merge_bytes(const hy_features *f, hy_merge_shape shape, int64_t tiles);

/* Fills job->pack with A, as hy_pack_csr() does, followed by the cuts. With shape.vector
   the caller must choose a shape with at most 65535 entries in a tile. */
hybrid_status hy_pack_merge(hy_job *job, hy_merge_shape shape);

/* Sets job->pack for a chunk that is the whole of an A on the device. A kernel makes the
   cuts later; they are stored behind the offsets that hy_arrange_csr() has put into
   job->in. pack.head then reserves one piece (hy_merge_piece) for each tile, or none if
   no row is longer than shape.longest. */
hybrid_status hy_arrange_merge_room(hy_job *job, hy_merge_shape shape);

/* Returns the cuts of the merge path in the job's pack, in the form that kernels read.
   Call after hy_pack_merge() or hy_arrange_merge_room(). */
hy_merge_view hy_packed_merge(const hy_job *job, hy_merge_shape shape);

#ifdef __cplusplus
}
#endif
#endif /* HY_MERGE_H */
