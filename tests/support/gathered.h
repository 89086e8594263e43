/* tests/support/gathered.h - what a gathered chunk brings of X. */
#ifndef GATHERED_H
#define GATHERED_H

#include "base/variant.h"

/* rank[c]: the new number of column c of A, in ascending order, or -1 if the chunk does not
   touch it. They must be as many as its features say. */
void gathered_ranks(const hy_job *job, int64_t *rank);

#endif /* GATHERED_H */
