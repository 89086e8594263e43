/* engine/panels.h - into how many panels of columns a resident X is cut. */
#ifndef HY_PANELS_H
#define HY_PANELS_H

#include "engine/plan.h"

enum { HY_PANELS_SLOTS = 64 }; /* most ranges of rows, each of which holds a slot */

/* How many equal panels make the plan's product the shortest, by the rows of X that its
   chunks need; 1 if panels are no gain. The plan is cut for one panel. */
int64_t hy_panels_best(const hybrid_plan *plan);

/* Whether a slot for each of so many ranges of rows fits beside X. */
int hy_panels_fit(const hybrid_plan *plan, int64_t ranges);

#endif /* HY_PANELS_H */
