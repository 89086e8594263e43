/* partition/format/blocking.h - visits the r x c blocks of a chunk one after another.

   The packers of block formats share this code. partition/format/pack.h defines blocks
   and block rows. */
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
    int64_t first;       /* number of the block row of A in which the chunk begins */
    int64_t rows;        /* number of block rows that have rows of the chunk */
    int64_t x_rows;      /* rows of X that blocks may cover: all, or, if the chunk is
                            gathered, those in its pack */
    size_t size;         /* bytes of a value */
    hy_touched touched;  /* touched rows of X if the chunk is gathered */
    int64_t *count;      /* rows + 1 elements: element k is the number of blocks of block
                            row k; the last is for a packer that calls hy_prefix_sum() */
} hy_blocking;

/* Cuts the chunk into blocks of f->block_rows x f->block_cols and counts them. f is the
   features of the chunk. If X has fewer rows than a block has columns, blocks are 1 x 1,
   or the call fails if the shape may not yield (hy_block_may_yield()). The caller closes
   `out`, also after a failure. */
hybrid_status hy_blocking_open(const hy_job *job, hy_blocking *out);
void hy_blocking_close(hy_blocking *b);

/* Replaces the blocks that hy_blocking_open() has cut by 1 x 1 blocks and counts
   these. */
hybrid_status hy_blocking_single(hy_blocking *b);

/* Returns UNSUPPORTED with the message that the blocks of the chunk need `bytes` bytes
   and the plan has room for only `room` bytes. */
hybrid_status hy_blocking_too_large(const hy_blocking *b, size_t bytes, size_t room);

/* Returns the number of blocks of the chunk. */
int64_t hy_blocking_total(const hy_blocking *b);

/* Runs `fn` over `items` block rows, panels or slices on the pool, with `arg` as its
   first argument. */
hybrid_status hy_blocking_for(const hy_blocking *b, int64_t items, hy_loop_fn fn,
                              void *arg);

/* Returns how many rows of the first block row lie before the chunk's first row. */
int32_t hy_blocking_before(const hy_blocking *b);

/* ---- walking along a block row ---- */

enum { HY_WALK_END = INT32_MAX };

/* State of a walk along a block row. If all rows of the block row have entries in the
   same columns, as rows of one node of a mesh do, only the first row is walked. */
typedef struct hy_block_walk {
    const hy_blocking *b;
    int heads;                    /* rows that are walked: 1 if all rows have the same
                                     columns, else shape.rows */
    int64_t shift[HY_BLOCK_MOST]; /* if heads == 1: distance in entries from the first row
                                     to each row */
    int32_t head[HY_BLOCK_MOST]; /* next column of each walked row; HY_WALK_END at the end
                                    of a row */
    int64_t from[HY_BLOCK_MOST]; /* for each walked row, its first entry in the current
                                    block; `at` is the entry after its last one */
    int64_t at[HY_BLOCK_MOST], end[HY_BLOCK_MOST]; /* for each walked row, the range of
                                                      its entries that are in no block
                                                      yet */
} hy_block_walk;

/* Returns the row of X that entry k of A needs: its column, renumbered if the chunk is
   gathered. */
static inline int32_t hy_block_col(const hy_blocking *b, int64_t k)
{
    const int32_t col = hy_cols(b->A)[k];
    return b->touched.rows ? hy_renumbered(&b->touched, col) : col;
}

void hy_block_walk_start(const hy_blocking *b, int64_t block_row, hy_block_walk *w);

/* Advances row i past its entries in columns `start` to `last`, which are the columns of
   the current block. */
static inline void hy_block_take(hy_block_walk *w, int i, int32_t start, int32_t last)
{
    const int64_t width = w->b->shape.cols, all = w->at[i] + width;
    int64_t k = w->at[i];

    if (w->head[i] == start && all <= w->end[i] && hy_block_col(w->b, all - 1) == last)
        k = all; /* this row has an entry in every column of the block, because columns
                    ascend */
    else
        while (k < w->end[i] && hy_block_col(w->b, k) <= last)
            k++;
    w->at[i]   = k;
    w->head[i] = k < w->end[i] ? hy_block_col(w->b, k) : HY_WALK_END;
}

/* Advances to the next block of the block row. Returns 1 and sets *col to the first
   column of the block, or returns 0 if there is none. */
static inline int hy_block_next(hy_block_walk *w, int32_t *col)
{
    const hy_blocking *b = w->b;
    int32_t start        = HY_WALK_END;

    for (int i = 0; i < w->heads; i++)
        start = w->head[i] < start ? w->head[i] : start;
    if (start == HY_WALK_END)
        return 0;
    if (start > b->x_rows - b->shape.cols)
        start = (int32_t)(b->x_rows - b->shape.cols);
    for (int i = 0; i < w->heads; i++) {
        w->from[i] = w->at[i];
        if (w->head[i] - start < b->shape.cols)
            hy_block_take(w, i, start, start + b->shape.cols - 1);
    }
    *col = start;
    return 1;
}

/* Returns how many entries the current block has in its row i and sets *first to the
   index in A's arrays of the first of them. */
static inline int64_t hy_block_entries(const hy_block_walk *w, int i, int64_t *first)
{
    const int row = w->heads == 1 ? 0 : i;

    *first = w->from[row] + (w->heads == 1 ? w->shift[i] : 0);
    return w->at[row] - w->from[row];
}

/* Stores the current block, which begins at column `col`: element e goes to dst[e *
   stride]. */
void hy_block_store(const hy_block_walk *w, int32_t col, void *dst, int64_t stride);

/* Stores a block without entries at dst. */
void hy_block_store_none(const hy_blocking *b, void *dst, int64_t stride);

#endif /* HY_BLOCKING_H */
