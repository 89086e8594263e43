/* partition/format/blocking.h - the blocks of a chunk, one after another.

   What the packers of blocks have in common: partition/format/pack.h says what a block is. */
#ifndef HY_BLOCKING_H
#define HY_BLOCKING_H

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "partition/format/pack.h"
#include "partition/pattern/touched.h"

typedef struct hy_blocking {
    const hy_job *job;
    const hybrid_csr *A;
    hy_block_shape shape;
    int64_t first;       /* block row of A in which the chunk begins */
    int64_t rows;        /* block rows */
    int64_t x_rows;      /* of X that blocks may cover */
    size_t size;         /* of a value */
    hy_touched touched;  /* gathered chunks */
    int64_t *count;      /* rows + 1: blocks of each, and one word more */
} hy_blocking;

/* The chunk in blocks as f->block_* ask for, if X is wide enough, counted. Close it also
   after a failure. */
hybrid_status hy_blocking_open(const hy_job *job, hy_blocking *out);
void hy_blocking_close(hy_blocking *b);

/* The same in 1 x 1 blocks. */
hybrid_status hy_blocking_single(hy_blocking *b);

/* Run `fn` over the block rows on the pool, `arg` its first argument. */
hybrid_status hy_blocking_for(const hy_blocking *b, int64_t items, hy_loop_fn fn, void *arg);

/* Rows of the first block row that are no rows of the chunk. */
int32_t hy_blocking_before(const hy_blocking *b);

/* ---- walking over a block row ---- */

enum { HY_WALK_END = INT32_MAX };

/* Rows that all have the same columns, as those of a node of a mesh have, are walked over
   as one. */
typedef struct hy_block_walk {
    const hy_blocking *b;
    int heads;                    /* 1 if they are the same, else rows of a block */
    int64_t shift[HY_BLOCK_MOST]; /* the same: entries from the first row to each */
    int32_t head[HY_BLOCK_MOST]; /* next column of each row, HY_WALK_END: none */
    int64_t from[HY_BLOCK_MOST]; /* the block has entries from .. at-1 of each row; */
    int64_t at[HY_BLOCK_MOST], end[HY_BLOCK_MOST]; /* the rest is at .. end-1 */
} hy_block_walk;

/* Column of entry k of A, renumbered if the chunk is gathered. */
static inline int32_t hy_block_col(const hy_blocking *b, int64_t k)
{
    const int32_t col = hy_cols(b->A)[k];
    return b->touched.rows ? hy_renumbered(&b->touched, col) : col;
}

void hy_block_walk_start(const hy_blocking *b, int64_t block_row, hy_block_walk *w);

/* The entries of row i in columns up to `last` belong to the block. */
static inline void hy_block_take(hy_block_walk *w, int i, int32_t start, int32_t last)
{
    const int64_t width = w->b->shape.cols, all = w->at[i] + width;
    int64_t k = w->at[i];

    if (w->head[i] == start && all <= w->end[i] && hy_block_col(w->b, all - 1) == last)
        k = all; /* columns ascend: all of them are there */
    else
        while (k < w->end[i] && hy_block_col(w->b, k) <= last)
            k++;
    w->at[i]   = k;
    w->head[i] = k < w->end[i] ? hy_block_col(w->b, k) : HY_WALK_END;
}

/* Pass over the next block; 1 and its first column, or 0 if there is none left. */
static inline int hy_block_next(hy_block_walk *w, int32_t *col)
{
    const hy_blocking *b = w->b;
    int32_t least        = HY_WALK_END;

    for (int i = 0; i < w->heads; i++)
        least = w->head[i] < least ? w->head[i] : least;
    if (least == HY_WALK_END)
        return 0;
    if (least > b->x_rows - b->shape.cols)
        least = (int32_t)(b->x_rows - b->shape.cols);
    for (int i = 0; i < w->heads; i++) {
        w->from[i] = w->at[i];
        if (w->head[i] - least < b->shape.cols)
            hy_block_take(w, i, least, least + b->shape.cols - 1);
    }
    *col = least;
    return 1;
}

/* Its entries in row i: the first, and how many. */
static inline int64_t hy_block_entries(const hy_block_walk *w, int i, int64_t *first)
{
    const int row = w->heads == 1 ? 0 : i;

    *first = w->from[row] + (w->heads == 1 ? w->shift[i] : 0);
    return w->at[row] - w->from[row];
}

/* Store the block that was passed over: element e at dst[e * stride]. */
void hy_block_store(const hy_block_walk *w, int32_t col, void *dst, int64_t stride);

/* Store a block without entries there. */
void hy_block_store_none(const hy_blocking *b, void *dst, int64_t stride);

#endif /* HY_BLOCKING_H */
