/* partition/x_window.h - where the rows of an X lie that passes through the device.

   `window` rows of X are there at once, row r at place r mod window, so that each takes
   the place of one that no chunk needs any more. The rows that a chunk touches are all
   there while it computes: chunk->first <= r < chunk->needs <= chunk->first + window. Its
   pack names places instead of rows, and the kernels see an X of `window` rows. Why, and
   when: engine/window.c. */
#ifndef HY_X_WINDOW_H
#define HY_X_WINDOW_H

#include "base/csr.h"
#include "partition/shared.h"

enum {
    HY_WINDOW_PIECES = 8, /* X comes in pieces of that part of a window, or smaller */
    HY_WINDOW_CHUNKS = 8  /* touch its rows, if they are all as long */
};

/* Chunks that there should be at least of an X of so many rows, so that some are in its
   window at once. */
static inline int64_t hy_window_chunks(int64_t window, int64_t rows)
{
    return window > 0 ? HY_WINDOW_CHUNKS * (rows / window + 1) : 1;
}

/* How columns of a chunk become places. */
typedef struct hy_x_window {
    int32_t base;  /* the row at place 0, of those from chunk->first on or just before */
    int32_t rows;  /* of the window */
    int32_t first; /* the chunk touches rows [first, first + count) */
    uint32_t count;
} hy_x_window;

/* Of a chunk, where problem->window > 0. */
static inline hy_x_window hy_window_of(const hy_problem *problem, const hy_chunk *chunk)
{
    const int64_t rows = problem->window, count = chunk->needs - chunk->first;

    return (hy_x_window){.base  = (int32_t)(chunk->first / rows * rows),
                       .rows  = (int32_t)rows,
                       .first = (int32_t)chunk->first,
                       .count = count > 0 ? (uint32_t)count : 0};
}

static inline int hy_window_has(const hy_x_window *w, int32_t col)
{
    return (uint32_t)(col - w->first) < w->count;
}

/* Whether it has all columns of rows [begin, end) of A, which ascend in each. */
static inline int hy_window_covers(const hy_x_window *w, const hybrid_csr *A, int64_t begin,
                                   int64_t end)
{
    int inside = 1;

    for (int64_t i = begin; i < end; i++) {
        const int64_t from = hy_offset(A, i), to = hy_offset(A, i + 1);
        if (from < to)
            inside &= hy_window_has(w, A->col[from]) & hy_window_has(w, A->col[to - 1]);
    }
    return inside;
}

/* Of a column that it has. */
static inline int32_t hy_window_place(const hy_x_window *w, int32_t col)
{
    const int32_t at = col - w->base; /* less than twice the rows */
    return at < w->rows ? at : at - w->rows;
}

/* Elements that a row of X takes in a window: all of it, filled up. */
static inline int64_t hy_window_ld(const hybrid_dense *X)
{
    const hy_problem whole = {.op = HY_SPMM, .X = X};
    return hy_shared_panel(&whole, 0).ld;
}

/* Bytes of so many rows of X on the device. */
static inline size_t hy_window_bytes(const hybrid_dense *X, int64_t rows)
{
    return (size_t)rows * (size_t)hy_window_ld(X) * hy_value_size(X->type);
}

/* Elements of X that are on the device at once; 0: all. */
static inline int64_t hy_window_elements(const hy_problem *problem)
{
    return problem->window > 0 ? problem->window * hy_window_ld(problem->X) : 0;
}

/* Where a piece of X ends that begins at element `begin` and should end at `end`: within
   a window, and so short that a chunk need not wait for what comes with its rows. */
static inline int64_t hy_window_piece(const hy_problem *problem, int64_t begin,
                                      int64_t end)
{
    const int64_t ring = hy_window_elements(problem);

    if (ring == 0)
        return end;
    const int64_t most = ring - begin % ring;
    const int64_t rows = (problem->window + HY_WINDOW_PIECES - 1) / HY_WINDOW_PIECES;
    const int64_t step = rows * hy_window_ld(problem->X);
    const int64_t room = step < most ? step : most;
    return end - begin < room ? end : begin + room;
}

/* Rows that a chunk may touch, from chunk->first on: those that would come with the last
   of them must find a place as well. */
static inline int64_t hy_window_most(int64_t window)
{
    return window - window / HY_WINDOW_PIECES - 2;
}

#endif /* HY_X_WINDOW_H */
