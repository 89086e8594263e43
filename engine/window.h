/* engine/window.h - X passes through the device, a window of its rows at a time. */
#ifndef HY_WINDOW_H
#define HY_WINDOW_H

#include "engine/plan.h"

/* Rows of X that take no more than so many bytes of the device, if X can pass through it:
   else 0. */
int64_t hy_window_within(const hybrid_plan *plan, size_t bytes);

/* Chunks that the plan should have at least, so that some are in its window at once. */
int64_t hy_window_chunks(const hybrid_plan *plan);

/* Whether the plan's window holds all that a chunk and `ahead` more after it touch,
   whichever chunk it is. */
int hy_window_holds(const hybrid_plan *plan, int64_t ahead);

#endif /* HY_WINDOW_H */
