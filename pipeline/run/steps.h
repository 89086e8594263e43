/* pipeline/run/steps.h - the steps of which stages are made. */
#ifndef HY_STEPS_H
#define HY_STEPS_H

#include "pipeline/site/slot.h"

/* Whether this backend and variant have anything to do in that step. */
int hy_step_applies(const hy_slot *slot, hy_step step);

/* Where the stage runs: as the product's table says, but a result that is stored by the
   thread that runs the product is stored by the driver. */
hy_where hy_step_where(const hy_slot *slot, const hy_stage *stage);

/* Whether the host must have seen the stage before it finish; for steps on the pool or the
   driver. Reserve need not when what a chunk has is known, unless its columns were packed:
   how much they take is not. */
int hy_step_waits(const hy_slot *slot, hy_step step);

/* The mark that what follows a lane's step waits for: the step's end, or before it the one
   behind columns that came packed. */
hy_mark *hy_step_mark(const hy_slot *slot, hy_step step);

/* Do the stage's step: at once on the pool or the driver, enqueued on a lane. Sets
   slot->passage[step].bytes. */
hybrid_status hy_step_run(hy_slot *slot, const hy_stage *stage, hy_lane *lane);

#endif /* HY_STEPS_H */
