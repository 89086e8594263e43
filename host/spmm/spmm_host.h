/* host/spmm/spmm_host.h - Y = alpha*A*X + beta*Y for some rows of A and columns of X.

   The work, rows and entries together, is cut into pieces of equal size that workers take
   one after another. A cut may lie within a long row, but only between its segments. A
   long row has 2 * HY_SEGMENT entries or more and is always summed as segments of
   HY_SEGMENT entries. The thread that finishes the last of them adds their sums in order.
   Every bit of Y therefore depends only on A, X, the number of columns and the
   instruction set, not on cuts or threads. */
#ifndef HY_SPMM_HOST_H
#define HY_SPMM_HOST_H

#include "base/data/csr.h"
#include "base/contract/variant.h"
#include "host/backend/host_lane.h"
#include "host/backend/target.h"

enum {
    HY_SEGMENT           = 2048, /* entries of a segment of a long row; the last segment
                                    has the remainder, too */
    HY_PREFETCH_DISTANCE = 6     /* a row of X is fetched into the cache this many entries
                                    of A before it is used */
};

/* A product that workers compute. Element (i, j) of X is at x[i * x_row + j], of Y at y[i
   * y_row + j * y_col]. */
typedef struct hy_dense_product {
    const hybrid_csr *A;
    const void       *x;
    void             *y;
    int64_t           x_row, y_row, y_col;
    int64_t           n;            /* number of columns of X and Y that are computed */
    int               single;       /* 1: X has one column in this chunk */
    hy_target         target;
    double            alpha, beta;
    int64_t           row_begin, row_end, pieces;
    int64_t           prefetch_end; /* for each entry k < prefetch_end of A, the row of X
                                       that entry k + HY_PREFETCH_DISTANCE names is
                                       fetched into the cache; 0: no prefetch */
    int               stream;       /* 1: Y is stored with instructions that bypass the
                                       caches */
    void             *sums;         /* n partial sums for each segment of the long rows */
    int64_t          *done;         /* for each long row, at the id of its first segment:
                                       how many elements of `sums` its segments have
                                       computed */
} hy_dense_product;

/* Returns the number of segments of a row: 1 unless it is long. The last one takes the
   remainder. */
static inline int64_t hy_segments(int64_t entries)
{
    return entries < 2 * HY_SEGMENT ? 1 : entries / HY_SEGMENT;
}

/* Returns the work before row i: rows and entries from p->row_begin on. */
static inline int64_t hy_work_before(const hy_dense_product *p, int64_t i)
{
    return hy_offset(p->A, i) - hy_offset(p->A, p->row_begin) + i - p->row_begin;
}

/* Where a piece begins or ends: at the beginning of row `row`, or within it. */
typedef struct hy_row_cut {
    int64_t row, segment; /* segment > 0: the cut lies within the long row `row`, before
                             segment number `segment` */
} hy_row_cut;

typedef struct hy_piece {
    hy_row_cut begin, end;
} hy_piece;

/* Compute a piece. For hy_dense_product_piece(), p->y_col must be 1 or the piece must
   consist of long rows only; hy_dense_product_columns() computes any other piece, for a Y
   with columns that lie apart. */
void hy_dense_product_piece(const hy_dense_product *p, const hy_piece *w);
void hy_dense_product_columns(const hy_dense_product *p, const hy_piece *w);

/* Computes piece k; if a progress report is wanted, in parts of a few milliseconds.
   Returns CANCELLED if the call is cancelled. */
hybrid_status hy_dense_product_make_piece(const hy_dense_product *p,
                                          hy_progress *progress, int64_t k);

/* Computes the product with all workers. Sets pieces, prefetch_end, sums and done. */
hybrid_status hy_dense_product_make(hy_lane *lane, const hy_job *job,
                                    hy_dense_product *p);

/* Computes the product with all workers for a column-major X. p->x is row 0 of X, and
   p->x_row is not used. */
hybrid_status hy_dense_product_transposed(hy_lane *lane, const hy_job *job,
                                          const hy_dense_product *p);

#endif /* HY_SPMM_HOST_H */
