/* partition/format/pack_tiled.h - the pack of Tiled SpMM: A as row panels of 256
   strips, with rows of X staged in tiles.

   A strip is here a row of A, or a segment of a long row; one thread sums it up. A tile
   is rows of X that a thread block has in shared memory together; to stage rows is to
   copy them there. */
#ifndef HY_PACK_TILED_H
#define HY_PACK_TILED_H

#include "partition/format/pack.h"
#include "partition/tiled/strips.h"
#include "partition/tiled/tiled_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Indices of the pack's arrays in hy_pack.at. X is where hy_packed_x_cols() expects
   it. */
enum { HY_TILED_A, HY_TILED_X = HY_GATHER_VAL };

/* A slice is the strips (rows, or segments of long rows) of one warp. */
enum {
    HY_TILED_SLICE  = 32, /* strips of a slice */
    HY_TILED_SLICES = HY_TILED_ROWS / HY_TILED_SLICE,
    HY_TILED_NONE   = INT32_MIN, /* number of a row of Y that marks a place of a panel
                                    without a strip */
    HY_TILED_PAD = UINT16_MAX    /* index into a tile (number of a row of X in it) that
                                    marks a padding zero */
};

/* A stage: the entries of a panel that use the rows of X in one tile. They are ordered by
   slice, step and strip: step t has entry t of every strip of the slice with more
   than t entries. In padded slices (hy_tiled_rules.paper) every strip has as many
   entries as the longest of the slice; the additional ones are padding. */
typedef struct hy_tiled_stage {
    int32_t first, columns;         /* range in `map` of the rows of X of the tile; they
                                       ascend */
    int32_t entry[HY_TILED_SLICES]; /* for each slice, the index of its first entry in
                                       `index` and `val` */
} hy_tiled_stage;

/* Number of elements of the arrays of hy_tiled_view; stored in pack.head. partials:
   number of segments, whose sums are added by a later kernel. */
typedef struct hy_tiled_head {
    int64_t panels, stages, mapped, splits, partials;
    int64_t entries;   /* number of entries, padding included */
    int64_t reordered; /* 1 if strips are not in the order of rows */
} hy_tiled_head;

/* ---- tiled_layout.c: where arrays lie ---- */

/* Offsets in bytes of the parts of the array HY_TILED_A. */
typedef struct hy_tiled_places {
    size_t out, start, stage, count, map, split, index, val, bytes;
} hy_tiled_places;

hy_tiled_places hy_tiled_places_of(const hy_tiled_head *head, size_t value_size);

/* Sets at[] to the offset in bytes of each array in the pack and returns the bytes of the
   pack. */
size_t hy_tiled_lay_out(const hy_features *f, const hy_tiled_head *head,
                        size_t at[HY_ARRAYS]);

/* Returns an upper bound on the entries of a pack, padding included. */
int64_t hy_tiled_most_entries(const hy_features *f, const hy_tiled_rules *rules);

/* Returns an upper bound on the bytes of a pack for Tiled SpMM. */
size_t hy_pack_tiled_bytes(const hy_features *f, const hy_tiled_rules *rules);

/* Fills job->pack; the caller sets job->pack.mem before. */
hybrid_status hy_pack_tiled(hy_job *job, const hy_tiled_rules *rules);

/* The pack as the kernels read it. The head comes from pack.head. */
typedef struct hy_tiled_view {
    hy_tiled_head head;
    const int32_t *out;          /* 256 for each panel: where the sums of each strip go:
                                    a row of the chunk; for a segment, partial p as -1 -
                                    p; HY_TILED_NONE if there is no strip */
    const int32_t *start;        /* panels + 1 elements: first stage of each panel */
    const hy_tiled_stage *stage; /* `stages` elements */
    const uint16_t *count;       /* 256 for each stage: number of entries of each strip
                                    that use the stage's tile */
    const int32_t *map;          /* `mapped` elements: rows of X, as numbers in the pack
                                    if gathered */
    const uint16_t *index;       /* `entries` elements: the number in its tile of the row
                                    of X of each entry, or HY_TILED_PAD */
    const void *val;             /* `entries` elements */
    const hy_tiled_split *split; /* `splits` elements */
} hy_tiled_view;
hy_tiled_view hy_packed_tiled(const hy_job *job);

#ifdef __cplusplus
}
#endif
#endif /* HY_PACK_TILED_H */
