/* partition/move/storing.h - stores a part of a dense result (rows that a chunk hands to
   a sink) to Y.

   A line is a row or a column: a line of Y is what `ld` separates, and a line of the part
   is contiguous in the part's memory. */
#ifndef HY_STORING_H
#define HY_STORING_H

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "base/contract/sink.h"
#include "partition/format/pack.h"
#include "partition/pattern/touched.h"

enum {
    HY_STORE_ELEMENTS = 1 << 16, /* elements of Y that one worker takes at a time */
    HY_TILE_BYTES     = 1 << 14, /* bytes of a tile that is transposed, which stays in the
                                    first-level cache */
    HY_TILE_LINES     = 16       /* lines of Y in a tile */
};

/* A part as it lies in its own memory: `lines` lines, which are its rows or its
   columns. */
typedef struct hy_storing {
    const hy_update *update;
    const char *in;        /* computed sums, before alpha and beta */
    int along;             /* 1 if the part's lines are parts of lines of Y; 0: they lie
                              across them */
    int in_rows;           /* 1 if lines of Y are rows */
    int64_t lines, length; /* lines of the part; elements of a line */
    int64_t ld, origin;    /* elements of Y from line to line; index of the element of Y
                              at which the part begins (if `rows` is set, at which its
                              first column begins) */
    const int32_t *rows;   /* row of Y for each row of the part; NULL: they are
                              consecutive */
    int64_t listed, before; /* length of the whole list that `rows` points into; number of
                               its rows before the part's */
} hy_storing;

/* Returns element k of the part. */
static inline const char *hy_element_at(const hy_storing *s, int64_t k)
{
    return s->in + (size_t)k * hy_value_size(s->update->Y->type);
}

/* Returns how many elements of each line of Y a tile of HY_TILE_LINES lines has. */
static inline int64_t hy_tile_length(const hy_storing *s)
{
    return HY_TILE_BYTES / HY_TILE_LINES / (int64_t)hy_value_size(s->update->Y->type);
}

/* Returns how many elements of a line of Y a worker takes at a time, in whole tiles, if
   it takes all `length` lines of Y together. */
static inline int64_t hy_whole_tiles(const hy_storing *s, int64_t length)
{
    const int64_t tile = hy_tile_length(s), grain = 1 + HY_STORE_ELEMENTS / length;
    return (grain + tile - 1) / tile * tile;
}

/* ---- dense_rows.c ---- */

/* Returns how `part` is stored: to the rows of Y with the part's row numbers, or, with
   `subset`, to the rows of Y that the subset lists for them. */
hy_storing hy_storing_of(const hy_update *update, const hy_part *part,
                         const hy_touched *subset);

/* Sets *copy to the copy that moves the part to Y without computing, which needs alpha ==
   1 and beta == 0: a single line if the part is contiguous in Y as well, else a copy of
   its lines if part->by_lines. Returns 1, or 0 if there is no such copy, the part is
   empty, or its lines are too far apart in Y: the part must then be stored by
   hy_store_dense(). */
int hy_storing_home(const hy_update *update, const hy_part *part, hy_row_copy *copy);

/* Computes Y = alpha * part + beta * Y for any order and ld of Y, in parallel. */
hybrid_status hy_store_dense(hy_pool *pool, hy_storing *s);

/* Parts of lines of Y: elements [after, after + length) of lines [first, first + count),
   both counted from the place in Y where a part (hy_storing) begins. They are stored line
   by line at `in`. */
typedef struct hy_parts {
    const char *in;
    int64_t first, count, after, length;
} hy_parts;

/* Stores the parts to Y, with alpha and beta. */
void hy_store_lines(const hy_storing *s, const hy_parts *part);

/* ---- spread_rows.c ---- */

/* Stores a part to the listed rows (s->rows) of a column-major Y, together with the empty
   rows around them. */
hybrid_status hy_store_spread(hy_pool *pool, hy_storing *s);

/* ---- empty_rows.c ---- */

/* The rows of a row-major Y that are not in `others`, which have no entries in A. They
   get alpha*0 + beta*Y, as if their sums had been computed. */
typedef struct hy_empty_rows {
    const hy_update *update;
    const hy_touched *others;
    hy_loop loop;
} hy_empty_rows;

/* hy_empty_rows_begin() starts workers on the rows, with low urgency. hy_empty_rows_end()
   waits until they have finished. */
void hy_empty_rows_begin(hy_empty_rows *rows, hy_pool *pool, const hy_update *update,
                         const hy_touched *others);
hybrid_status hy_empty_rows_end(hy_empty_rows *rows);

#endif /* HY_STORING_H */
