/* tests/support/runs/caps.h - budgets of devices. */
#ifndef CAPS_H
#define CAPS_H

#include "engine/plan/plan.h"

/* Whether in the plan's last run each device kept to so many bytes, 0: all it may have, and
   to its own cap. */
int caps_kept(const hybrid_plan *plan, size_t budget);

/* Bytes up that may be more than was predicted: a device that takes rows of another packs
   them in pieces of its own, with gaps of their own. */
int64_t caps_spare(const hybrid_plan *plan, int64_t chunks);

#endif /* CAPS_H */
