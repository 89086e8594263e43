/* tests/support/runs/caps.h - checks that devices keep to their budgets. */
#ifndef CAPS_H
#define CAPS_H

#include "engine/plan/plan.h"

/* Returns 1 if in the plan's last run no device held more than `budget` bytes (0: no
   limit) or more than its own cap. */
int caps_kept(const hybrid_plan *plan, size_t budget);

/* Returns by how many bytes copies to devices may exceed the prediction: a device that
   takes rows from another packs them as chunks of its own, with other gaps. */
int64_t caps_spare(const hybrid_plan *plan, int64_t chunks);

#endif /* CAPS_H */
