/* partition/storing.h - a chunk's dense result on its way into Y. */
#ifndef HY_STORING_H
#define HY_STORING_H

#include "base/csr.h"
#include "partition/pack.h"

enum {
    HY_STORE_ELEMENTS = 1 << 16, /* of Y that one worker takes at a time */
    HY_TILE_BYTES     = 1 << 14, /* of the chunk stay in the first-level cache, turned into */
    HY_TILE_LINES     = 16       /* so many lines of Y */
};

/* A chunk of so many lines, rows or columns, as it lies in its own memory. */
typedef struct hy_storing {
    const hy_job *job;
    int along;             /* its lines are parts of lines of Y */
    int in_rows;           /* which are rows */
    int64_t lines, length; /* of a line */
    int64_t ld, origin;    /* of Y; of the chunk in Y, or of its columns if the */
    const int32_t *rows;   /* chunk's rows are these of Y. NULL: as they follow */
} hy_storing;

/* Element k of the chunk. */
static inline const char *hy_chunk_at(const hy_storing *s, int64_t k)
{
    return (const char *)s->job->back.val +
           (size_t)k * hy_value_size(s->job->problem->Y->type);
}

/* Elements of a line of Y that a tile of several lines has. */
static inline int64_t hy_tile_length(const hy_storing *s)
{
    return HY_TILE_BYTES / HY_TILE_LINES / (int64_t)hy_value_size(s->job->problem->Y->type);
}

/* Whole tiles, of so many elements a line of the chunk, that a worker takes at a time. */
static inline int64_t hy_whole_tiles(const hy_storing *s, int64_t length)
{
    const int64_t tile = hy_tile_length(s), grain = 1 + HY_STORE_ELEMENTS / length;
    return (grain + tile - 1) / tile * tile;
}

/* Parts of lines of Y: of lines [first, first + count) so many elements from `after` on,
   which lie line by line at `in`. */
typedef struct hy_parts {
    const char *in;
    int64_t first, count, after, length;
} hy_parts;

/* dense_rows.c: the parts into Y, scaled if need be. */
void hy_store_lines(const hy_storing *s, const hy_parts *part);

/* spread_rows.c: all of a chunk whose rows are some of those of a Y in columns. */
hybrid_status hy_store_spread(hy_storing *s);

#endif /* HY_STORING_H */
