/* host/spmm/spmm_host.h - Y = alpha*A*X + beta*Y for some rows of A and columns of X.

   The work, rows and entries together, is cut into pieces of equal size that workers draw.
   A cut may lie within a long row, but only between its segments: a row of
   2 * HY_SEGMENT entries or more is always summed as segments of HY_SEGMENT entries, and
   their sums are added in order by whoever finishes the last of them. So every bit of Y
   depends on A, X, the number of columns and the instruction set alone, not on how rows
   are cut, nor on threads. */
#ifndef HY_SPMM_HOST_H
#define HY_SPMM_HOST_H

#include "base/data/csr.h"
#include "base/contract/variant.h"
#include "host/backend/host_lane.h"
#include "host/backend/target.h"

enum {
    HY_SEGMENT = 2048, /* entries of a long row that are summed at once */
    HY_AHEAD   = 6     /* entries of A for which rows of X are fetched early */
};

/* Element (i, j) of X is at x[i * x_row + j], of Y at y[i * y_row + j * y_col]. */
typedef struct hy_dense_product {
    const hybrid_csr *A;
    const void       *x;
    void             *y;
    int64_t           x_row, y_row, y_col;
    int64_t           n;      /* columns */
    int               single; /* the chunk has one column, which is summed another way */
    hy_target         target;
    double            alpha, beta;
    int64_t           row_begin, row_end, pieces;
    int64_t           ahead;  /* entries of A before this one have one HY_AHEAD of them */
    int               stream; /* Y goes past the caches */
    void             *sums;   /* n values for each segment of the long rows */
    int64_t          *done;   /* of a long row, at its first segment: elements of `sums` made */
} hy_dense_product;

/* Segments of a row; the last takes what is left. */
static inline int64_t hy_segments(int64_t entries)
{
    return entries < 2 * HY_SEGMENT ? 1 : entries / HY_SEGMENT;
}

/* Work before row i: its rows and entries. */
static inline int64_t hy_work_before(const hy_dense_product *p, int64_t i)
{
    return hy_offset(p->A, i) - hy_offset(p->A, p->row_begin) + i - p->row_begin;
}

/* Where a piece begins or ends. */
typedef struct hy_row_cut {
    int64_t row, segment; /* segment > 0: within a long row */
} hy_row_cut;

typedef struct hy_piece {
    hy_row_cut begin, end;
} hy_piece;

/* One piece: where columns of Y lie side by side, or all of it is of long rows; and where
   they lie apart. */
void hy_dense_product_piece(const hy_dense_product *p, const hy_piece *w);
void hy_dense_product_columns(const hy_dense_product *p, const hy_piece *w);

/* Piece k, in parts if somebody asks how far the call is; CANCELLED if it is to end. */
hybrid_status hy_dense_product_make_piece(const hy_dense_product *p, hy_progress *progress,
                                          int64_t k);

/* All of it, by all workers; pieces, ahead, sums and done are set here. */
hybrid_status hy_dense_product_make(hy_lane *lane, const hy_job *job, hy_dense_product *p);

/* The same where columns of X lie apart; x is its row 0 and x_row is not used. */
hybrid_status hy_dense_product_transposed(hy_lane *lane, const hy_job *job, const hy_dense_product *p);

#endif /* HY_SPMM_HOST_H */
