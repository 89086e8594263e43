/* tests/support/runs/gathered.h - positions of rows of X in gathered chunks and in a
   ring. */
#ifndef GATHERED_H
#define GATHERED_H

#include "base/contract/variant.h"

/* Sets rank[c] to the new number of column c of A, in ascending order, or to -1 if the
   chunk has no entry in it. Checks their number against the chunk's features. */
void gathered_ranks(const hy_job *job, int64_t *rank);

/* Returns the size of the smallest ring of rows of X with which the chunk can be
   computed, and sets rank[c] to the position of row c in it. Stores in the chunk which
   rows it needs. */
int64_t window_ranks(const hybrid_csr *A, hy_chunk *chunk, int64_t *rank);

#endif /* GATHERED_H */
