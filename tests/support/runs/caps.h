/* tests/support/runs/caps.h - checks that devices keep to their budgets. */
#ifndef CAPS_H
#define CAPS_H

#include "engine/plan/plan.h"

/* Returns 1 if in the plan's last run no device held more than `budget` bytes (0: no
   limit), and none more than the cap of its own memory. */
int caps_kept(const hybrid_plan *plan, size_t budget);

/* Returns by how many bytes copies to the devices may exceed the prediction, in a run of
   `chunks` chunks. A device that takes rows from another packs them in other chunks,
   with other gaps between arrays. 0 with a single device. */
int64_t caps_spare(const hybrid_plan *plan, int64_t chunks);

#endif /* CAPS_H */
