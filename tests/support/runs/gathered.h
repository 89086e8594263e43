/* tests/support/runs/gathered.h - what a gathered chunk brings of X, and where it is in a
 * window. */
#ifndef GATHERED_H
#define GATHERED_H

#include "base/contract/variant.h"

/* rank[c]: the new number of column c of A, in ascending order, or -1 if the chunk does
   not touch it. They must be as many as its features say. */
void gathered_ranks(const hy_job *job, int64_t *rank);

/* The narrowest window of X with which the chunk can be computed; rank[c]: the place of
   row c. Fills in what the chunk needs. */
int64_t window_ranks(const hybrid_csr *A, hy_chunk *chunk, int64_t *rank);

#endif /* GATHERED_H */
