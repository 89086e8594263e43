/* partition/format/merge.h - the merge path of a CSR matrix, cut into tiles of equal
   work.

   Nonzeros and ends of rows form one list of nnz + rows items: row r ends at item
   row_ptr[r+1] + r. Tiles are cut every `items` of them, counted from the start of the
   whole matrix, so that a row is cut in the same places whatever the chunks. A cut that
   would fall inside a row of at most `longest` entries moves to the row's start. */
#ifndef HY_MERGE_H
#define HY_MERGE_H

#include "base/contract/variant.h"
#include "partition/format/pack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to cut; a property of the problem. A tile has up to items + longest items. */
typedef struct hy_merge_shape {
    int items, shares; /* of a tile */
    int longest;       /* row that is never cut by tiles */
    int vector;        /* for one column of X */
} hy_merge_shape;

/* Where a tile begins; it ends where the next one begins. */
typedef struct hy_merge_cut {
    int64_t row, entry; /* of the chunk: that end, and that lie, before the tile */
    int32_t lead;       /* items of the whole matrix's tile that come before the chunk */
    int32_t share;      /* items of a share, odd; the last shares may have fewer */
} hy_merge_cut;

/* Pieces of `row` in tiles [first, last) of the chunk; tile `last` ends it. With
   first == last there is none. */
typedef struct hy_merge_piece {
    int64_t row;
    int32_t first, last;
} hy_merge_piece;

/* The tiles that have a part of the row that a cut is in; first < 0: it is in none. */
typedef struct hy_merge_join {
    int32_t first, last;
} hy_merge_join;

enum { HY_MERGE_NO_ENTRY = 0xffff };

/* Items of a share where each of a cut's shares is 2^log_parts; odd, too. */
HY_KERNEL_INLINE int32_t hy_merge_part(int32_t share, int log_parts)
{
    return (share + (1 << log_parts) - 1) >> log_parts | 1;
}

/* What follows A in the pack; from `join` on with shape.vector alone, else NULL. */
typedef struct hy_merge_view {
    int64_t tiles, pieces;
    const hy_merge_cut *cut;     /* tiles + 1 */
    const hy_merge_piece *piece; /* pieces */
    const hy_merge_join *join;   /* tiles + 1 */
    int32_t *arrived;            /* tiles: 0; of the pieces of a row that begins in the
                                    tile and leaves it, those that are done */
    const uint16_t *last;        /* rows: the last entry in the tile that ends the row,
                                    counted from the tile's first; NO_ENTRY: none there */
} hy_merge_view;

/* Upper bound of a chunk's tiles. */
int64_t hy_merge_tiles_most(const hy_features *f, hy_merge_shape shape);

/* Bytes of the pack with so many tiles: that of hy_pack_csr() and the cuts. */
size_t hy_pack_merge_bytes(const hy_features *f, hy_merge_shape shape, int64_t tiles);

/* Fill job->pack: A as hy_pack_csr() does, then the cuts. With shape.vector a tile has no
   more than 65535 entries. */
hybrid_status hy_pack_merge(hy_job *job, hy_merge_shape shape);

/* For a chunk that is all of an A on the device, whose cuts a kernel makes there: set
   job->pack, behind the offsets that hy_arrange_csr() has put into it. There are as many
   pieces as tiles then, or none if no row is longer than shape.longest. */
hybrid_status hy_arrange_merge_room(hy_job *job, hy_merge_shape shape);

/* The cuts where the kernels read them. Only after hy_pack_merge() or
   hy_arrange_merge_room(). */
hy_merge_view hy_packed_merge(const hy_job *job, hy_merge_shape shape);

#ifdef __cplusplus
}
#endif
#endif /* HY_MERGE_H */
