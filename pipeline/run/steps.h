/* pipeline/run/steps.h - the functions of stages. */
#ifndef HY_STEPS_H
#define HY_STEPS_H

#include "pipeline/site/slot.h"

/* Returns 1 if the step has work to do for this backend and variant. */
int hy_step_applies(const hy_slot *slot, hy_step step);

/* Returns where the stage runs: where the product's table of stages says, or in the
   driving thread if the sink wants parts stored there. */
hy_where hy_step_where(const hy_slot *slot, const hy_stage *stage);

/* For a step on the pool or in the driver: returns 1 if it may begin only after the host
   has seen the end of the stage before. `reserve` need not wait if sizes are known,
   columns are not delta-coded, and the slot has room for every possible result. */
int hy_step_waits(const hy_slot *slot, hy_step step);

/* Returns the mark for which the next stage waits after a step on a lane: the end of the
   step. For a copy with delta-coded columns it is the earlier mark at which the columns
   have arrived. */
hy_mark *hy_step_mark(const hy_slot *slot, hy_step step);

/* Does the stage's step: at once in the calling thread, or, if the stage is on a lane,
   enqueues it on `lane`. Sets slot->passage[step].bytes. */
hybrid_status hy_step_run(hy_slot *slot, const hy_stage *stage, hy_lane *lane);

#endif /* HY_STEPS_H */
