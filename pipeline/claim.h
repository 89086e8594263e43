/* pipeline/claim.h - which chunk a side of a run computes next. */
#ifndef HY_CLAIM_H
#define HY_CLAIM_H

#include "pipeline/run.h"

/* Whether any side is at work on a chunk. */
int hy_run_in_flight(const hy_run *run);

/* The chunk that the side computes next: to slot->chunk. 0: none, or not now. Called by
   the driver whenever something has ended. */
int hy_claim(hy_side *side, hy_slot *slot);

#endif /* HY_CLAIM_H */
