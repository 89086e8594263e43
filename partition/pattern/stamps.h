/* partition/pattern/stamps.h - counts the rows of B or X that a growing chunk touches,
   one row of A at a time. A row of B or X has a stamp, the number of the last chunk that
   touched it. */
#ifndef HY_STAMPS_H
#define HY_STAMPS_H

#include "base/contract/context.h"

typedef struct hy_stamps {
    hy_context       *ctx;
    const hybrid_csr *A, *B; /* B is NULL if the rows of X are counted */
    int64_t          *last;  /* A->cols elements: stamp of each row of B or X; -1 if no
                                chunk touched it */
} hy_stamps;

/* Number of touched rows of B or X, and of the entries in those of B. */
typedef struct hy_reach {
    int64_t rows, entries;
} hy_reach;

/* Sets all stamps to -1. Returns CANCELLED if the call was cancelled. */
hybrid_status hy_stamps_open(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                             hy_stamps *out);
void hy_stamps_close(hy_stamps *stamps); /* accepts a zeroed struct */

/* Adds to *sum the rows that row `row` of A touches and that are not yet stamped with
   `chunk`, and stamps them. Returns CANCELLED if the call was cancelled. */
hybrid_status hy_stamps_touch(const hy_stamps *stamps, int64_t row, int64_t chunk,
                              hy_reach *sum);

#endif /* HY_STAMPS_H */
