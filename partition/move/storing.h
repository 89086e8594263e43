/* partition/move/storing.h - a part of a dense result on its way into Y. */
#ifndef HY_STORING_H
#define HY_STORING_H

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "base/contract/sink.h"
#include "partition/format/pack.h"
#include "partition/pattern/touched.h"

enum {
    HY_STORE_ELEMENTS = 1 << 16, /* of Y that one worker takes at a time */
    HY_TILE_BYTES     = 1 << 14, /* of the part stay in the first-level cache, transposed to */
    HY_TILE_LINES     = 16       /* so many lines of Y */
};

/* A part of so many lines, rows or columns, as it lies in its own memory. */
typedef struct hy_storing {
    const hy_update *update;
    const char *in;        /* the sums */
    int along;             /* its lines are parts of lines of Y */
    int in_rows;           /* which are rows */
    int64_t lines, length; /* of a line */
    int64_t ld, origin;    /* of Y; of the part in Y, or of its columns if the */
    const int32_t *rows;   /* part's rows are these of Y. NULL: as they follow */
    int64_t listed, before; /* all rows of that list, and those before the part's */
} hy_storing;

/* Element k of the part. */
static inline const char *hy_element_at(const hy_storing *s, int64_t k)
{
    return s->in + (size_t)k * hy_value_size(s->update->Y->type);
}

/* Elements of a line of Y that a tile of several lines has. */
static inline int64_t hy_tile_length(const hy_storing *s)
{
    return HY_TILE_BYTES / HY_TILE_LINES / (int64_t)hy_value_size(s->update->Y->type);
}

/* Whole tiles, of so many elements a line of the part, that a worker takes at a time. */
static inline int64_t hy_whole_tiles(const hy_storing *s, int64_t length)
{
    const int64_t tile = hy_tile_length(s), grain = 1 + HY_STORE_ELEMENTS / length;
    return (grain + tile - 1) / tile * tile;
}

/* ---- dense_rows.c ---- */

/* The part on its way to the rows of Y that it has by number, or, with a `subset` of
   these, to as many of them. */
hy_storing hy_storing_of(const hy_update *update, const hy_part *part,
                         const hy_touched *subset);

/* The copy of the part to Y, if alpha and beta leave it as it is: of one row where it lies in
   Y just as in its own memory, else, if it may be, of its lines. Returns 0 if there is
   none. */
int hy_storing_home(const hy_update *update, const hy_part *part, hy_row_copy *copy);

/* Y = alpha * part + beta * Y, whichever order and ld Y has. In parallel. */
hybrid_status hy_store_dense(hy_pool *pool, hy_storing *s);

/* Parts of lines of Y: of lines [first, first + count) so many elements from `after` on,
   which lie line by line at `in`. */
typedef struct hy_parts {
    const char *in;
    int64_t first, count, after, length;
} hy_parts;

/* The parts into Y, scaled if need be. */
void hy_store_lines(const hy_storing *s, const hy_parts *part);

/* ---- spread_rows.c ---- */

/* All of a part whose rows are some of those of a Y in columns, and the rows around
   them. */
hybrid_status hy_store_spread(hy_pool *pool, hy_storing *s);

/* ---- empty_rows.c ---- */

/* Rows of a Y in rows that no part has, those that are not in `others`: the values that the
   update makes of them, as if their sums had been computed. */
typedef struct hy_empty_rows {
    const hy_update *update;
    const hy_touched *others;
    hy_loop loop;
} hy_empty_rows;

/* Workers begin with them, who have nothing more urgent to do, and have ended. */
void hy_empty_rows_begin(hy_empty_rows *rows, hy_pool *pool, const hy_update *update,
                         const hy_touched *others);
hybrid_status hy_empty_rows_end(hy_empty_rows *rows);

#endif /* HY_STORING_H */
