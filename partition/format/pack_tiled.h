/* partition/format/pack_tiled.h - A as panels of portions, whose rows of X are staged in
   tiles. */
#ifndef HY_PACK_TILED_H
#define HY_PACK_TILED_H

#include "partition/format/pack.h"
#include "partition/format/portions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays of the pack; X where hy_packed_x_cols() looks for it. */
enum { HY_TILED_A, HY_TILED_X = HY_GATHER_VAL };

/* A portion is a row of A, or a segment of a long one: what one thread adds up. */
enum {
    HY_TILED_SLICE  = 32,  /* portions of a slice */
    HY_TILED_SLICES = HY_TILED_ROWS / HY_TILED_SLICE,
    HY_TILED_COLS   = 768,      /* rows of X in a tile, at most */
    HY_TILED_NONE   = INT32_MIN /* a panel's place without a portion */
};

/* The part of a panel that finds its rows of X in one tile. Entries are in the order of
   slices, steps and portions: entry t of all portions of a slice that have more than t. */
typedef struct hy_tiled_stage {
    int32_t first, columns;         /* its rows of X in the map, ascending */
    int32_t entry[HY_TILED_SLICES]; /* where each slice begins */
} hy_tiled_stage;

/* In pack.head: how many there are of each. */
typedef struct hy_tiled_head {
    int64_t panels, stages, mapped, splits, partials;
    int64_t reordered; /* 1: portions are not in the order of rows */
} hy_tiled_head;

/* How a variant wants its rows cut. */
typedef struct hy_tiled_rules {
    int64_t segment;  /* longer rows are cut into segments of so many entries or less; */
    int64_t partials; /* segments of all cut rows, at most: never less with more rows */
} hy_tiled_rules;

/* Bytes of that pack, at most. */
size_t hy_pack_tiled_bytes(const hy_features *f, const hy_tiled_rules *rules);

/* Fill job->pack (mem is given). */
hybrid_status hy_pack_tiled(hy_job *job, const hy_tiled_rules *rules);

/* The pack where the kernels read it; the head is from pack.head. */
typedef struct hy_tiled_view {
    hy_tiled_head head;
    const int32_t *out;          /* 256 a panel: row of the chunk, -1 - partial, or NONE */
    const int32_t *start;        /* panels+1: first stage of each */
    const hy_tiled_stage *stage; /* stages */
    const uint16_t *count;       /* 256 a stage: entries of each portion */
    const int32_t *map;          /* mapped: rows of X (renumbered if gathered) */
    const uint16_t *index;       /* nnz: row of X in its tile */
    const void *val;             /* nnz */
    const hy_tiled_split *split; /* splits */
} hy_tiled_view;
hy_tiled_view hy_packed_tiled(const hy_job *job);

#ifdef __cplusplus
}
#endif
#endif /* HY_PACK_TILED_H */
