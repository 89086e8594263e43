/* partition/move/storing.h - stores a part of a dense result (rows that a chunk hands to
   a sink) to Y.

   A line is a row or a column whose elements are contiguous. The lines of Y are `ld`
   elements apart. The lines of the part are contiguous in the part's memory. */
#ifndef HY_STORING_H
#define HY_STORING_H

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "base/contract/sink.h"
#include "partition/format/pack.h"
#include "partition/pattern/touched.h"

enum {
    HY_STORE_ELEMENTS = 1 << 16, /* elements of Y that one worker takes at a time */
    HY_TILE_BYTES     = 1 << 14, /* maximum bytes of a tile that is transposed, so that it
                                    stays in the first-level cache */
    HY_TILE_LINES     = 16       /* lines of Y in a tile */
};

/* A part as it lies in its own memory: `lines` lines, which are its rows or its
   columns. */
typedef struct hy_storing {
    const hy_update *update;
    const char *in;        /* sums of the part, before alpha and beta are applied */
    int along;             /* 1: a line of the part is a line of Y, or lies in one. 0: a
                              line of the part crosses the lines of Y */
    int in_rows;           /* 1 if lines of Y are rows */
    int64_t lines, length; /* lines of the part; elements of a line */
    int64_t ld, origin;    /* `ld`: distance of lines of Y, in elements; `origin`: index
                              of the element of Y at which the part begins or, if `rows`
                              is set, at which its first column begins */
    const int32_t *rows;   /* for each row of the part, its row in Y; NULL: the rows are
                              consecutive in Y */
    int64_t listed, before; /* if `rows` is set, it points into a longer list of rows:
                               `listed` is the number of rows in that list, `before` the
                               number of them that precede the part's rows */
} hy_storing;

/* Returns the address of element k of the part. */
static inline const char *hy_element_at(const hy_storing *s, int64_t k)
{
    return s->in + (size_t)k * hy_value_size(s->update->Y->type);
}

/* Returns how many elements of each line of Y a tile of HY_TILE_LINES lines has. */
static inline int64_t hy_tile_length(const hy_storing *s)
{
    return HY_TILE_BYTES / HY_TILE_LINES / (int64_t)hy_value_size(s->update->Y->type);
}

/* Returns how many elements of a line of Y a worker takes at a time if it takes `length`
   lines of Y together; a multiple of hy_tile_length(). */
static inline int64_t hy_whole_tiles(const hy_storing *s, int64_t length)
{
    const int64_t tile = hy_tile_length(s), grain = 1 + HY_STORE_ELEMENTS / length;
    return (grain + tile - 1) / tile * tile;
}

/* ---- dense_rows.c ---- */

/* Returns how `part` is stored. Without `subset`, the rows of the part go to the rows of
   Y with their numbers; with it (reduced A), to the rows of Y that `subset` lists for
   these numbers. */
hy_storing hy_storing_of(const hy_update *update, const hy_part *part,
                         const hy_touched *subset);

/* Checks whether the part can be moved to Y by a copy, without computing. If so, sets
   *copy and returns 1. The copy is a single line if the part is contiguous in Y as well,
   else it copies line by line, which requires part->by_lines.

   Returns 0 if alpha != 1, beta != 0, the part is empty, no such copy exists, or lines
   are too far apart in Y. hy_store_dense() must then store the part. */
int hy_storing_home(const hy_update *update, const hy_part *part, hy_row_copy *copy);

/* Computes Y = alpha * part + beta * Y for any order and ld of Y, in parallel. */
hybrid_status hy_store_dense(hy_pool *pool, hy_storing *s);

/* Parts of lines of Y: elements [after, after + length) of lines [first, first + count).
   Elements and lines are counted from the place in Y where a part (hy_storing) begins.
   The array `in` holds the parts, line by line. */
typedef struct hy_parts {
    const char *in;
    int64_t first, count, after, length;
} hy_parts;

/* Stores the elements that `part` describes to Y, with alpha and beta. */
void hy_store_lines(const hy_storing *s, const hy_parts *part);

/* ---- spread_rows.c ---- */

/* Stores a part to the listed rows (s->rows) of a column-major Y, and computes the empty
   rows between and behind these rows. */
hybrid_status hy_store_spread(hy_pool *pool, hy_storing *s);

/* ---- empty_rows.c ---- */

/* The rows of a row-major Y that have no entries in A: all rows except `others`. They get
   alpha*0 + beta*Y, as if their sums had been computed. */
typedef struct hy_empty_rows {
    const hy_update *update;
    const hy_touched *others;
    hy_loop loop;
} hy_empty_rows;

/* hy_empty_rows_begin() starts workers on the rows, with low urgency, and returns at
   once. hy_empty_rows_end() waits until they have finished. */
void hy_empty_rows_begin(hy_empty_rows *rows, hy_pool *pool, const hy_update *update,
                         const hy_touched *others);
hybrid_status hy_empty_rows_end(hy_empty_rows *rows);

#endif /* HY_STORING_H */
