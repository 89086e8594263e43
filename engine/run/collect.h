/* engine/run/collect.h - lets devices read B from host memory during a run. */
#ifndef HY_COLLECT_H
#define HY_COLLECT_H

#include "engine/plan/plan.h"

/* The arrays of B that are pinned for one run. */
typedef struct hy_collect {
    hy_context *ctx;
    const void *pinned[2]; /* arrays that hy_collect_end() unpins */
    int count;
} hy_collect;

/* Pins the arrays of B, unless they are pinned already, if devices of the plan read rows
   of B themselves. *collects is 1 if they can; 0 if no device does, or if the system
   refuses to pin, so that workers gather the rows. The caller calls hy_collect_end() in
   every case. */
hybrid_status hy_collect_begin(const hybrid_plan *plan, const hybrid_csr *B,
                               int *collects, hy_collect *out);
void hy_collect_end(hy_collect *c);

#endif /* HY_COLLECT_H */
