/* tests/support/runs/gathered.h - positions of rows of X in gathered chunks and in a
   ring. */
#ifndef GATHERED_H
#define GATHERED_H

#include "base/contract/variant.h"

/* Sets rank[c] to the position that row c of X has in a chunk that gathers the rows it
   needs, in ascending order, or to -1 if no entry of the chunk is in column c. Checks
   their number against the chunk's features. */
void gathered_ranks(const hy_job *job, int64_t *rank);

/* Sets chunk->x_begin and x_end to the range of rows of X that the chunk needs. Returns
   the number of rows in that range, at least 1: the smallest ring of rows with which the
   chunk can be computed. Sets rank[r] to the position of row r of X in that ring. */
int64_t window_ranks(const hybrid_csr *A, hy_chunk *chunk, int64_t *rank);

#endif /* GATHERED_H */
