/* engine/run/collect.h - lets devices read B from host memory during a run. */
#ifndef HY_COLLECT_H
#define HY_COLLECT_H

#include "base/memory/pinned.h"
#include "engine/plan/plan.h"

/* The columns and values of B that are pinned for one run. */
typedef struct hy_collect {
    hy_run_pin pins[2];
} hy_collect;

/* Pins the arrays of B, unless they are pinned already, if devices of the plan read rows
   of B themselves. *collects is 1 if they can. It is 0 if no device does, or if an array
   cannot be pinned (hy_run_pin_add()); workers then gather the rows. The caller calls
   hy_collect_end() in every case, and keeps *out where it is until then. */
hybrid_status hy_collect_begin(const hybrid_plan *plan, const hybrid_csr *B,
                               int *collects, hy_collect *out);
void hy_collect_end(hy_collect *c);

#endif /* HY_COLLECT_H */
