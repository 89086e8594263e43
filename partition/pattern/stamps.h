/* partition/pattern/stamps.h - which rows of B or X a growing chunk touches, counted row
   by row of A. */
#ifndef HY_STAMPS_H
#define HY_STAMPS_H

#include "base/contract/context.h"

typedef struct hy_stamps {
    hy_context       *ctx;
    const hybrid_csr *A, *B; /* B: NULL for X */
    int64_t          *last;  /* A->cols: latest chunk that touched the row, -1 before any */
} hy_stamps;

/* Rows of B or X, and entries of those of B. */
typedef struct hy_reach {
    int64_t rows, entries;
} hy_reach;

/* Sets all stamps to -1. CANCELLED if the call is to end. */
hybrid_status hy_stamps_open(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                             hy_stamps *out);
void hy_stamps_close(hy_stamps *stamps); /* zeroed is fine */

/* Adds to *sum the rows that row `row` of A touches and no row before it stamped with
   `chunk`, and stamps them. CANCELLED if the call is to end. */
hybrid_status hy_stamps_touch(const hy_stamps *stamps, int64_t row, int64_t chunk,
                              hy_reach *sum);

#endif /* HY_STAMPS_H */
