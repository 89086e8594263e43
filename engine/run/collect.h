/* engine/run/collect.h - lets devices read B from host memory during a run. */
#ifndef HY_COLLECT_H
#define HY_COLLECT_H

#include "engine/plan/plan.h"

/* An array of B. */
typedef struct hy_collect_array {
    const void *ptr;
    size_t bytes;
} hy_collect_array;

/* The arrays of B that are pinned for one run. */
typedef struct hy_collect {
    hy_context *ctx;
    hy_collect_array arrays[2]; /* columns and values */
    int pinned[2];              /* 1: hy_collect_end() unpins the array */
    int listed;                 /* 1: the run is in the list of runs of all engines */
    struct hy_collect *next;    /* next struct in that list */
} hy_collect;

/* Pins the arrays of B, unless they are pinned already, if devices of the plan read rows
   of B themselves. *collects is 1 if they can. It is 0 if no device does, if the system
   refuses to pin, or if another engine has pinned a part of the arrays for a run of its
   own, which would end too early; workers then gather the rows. The caller calls
   hy_collect_end() in every case, and keeps *out where it is until then. */
hybrid_status hy_collect_begin(const hybrid_plan *plan, const hybrid_csr *B,
                               int *collects, hy_collect *out);
void hy_collect_end(hy_collect *c);

#endif /* HY_COLLECT_H */
