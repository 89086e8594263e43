/* engine/report/usage.h - how much of the machine a run used, and what bound it. */
#ifndef HY_USAGE_H
#define HY_USAGE_H

#include "engine/api/engine.h"

/* When a run began, and how long workers had been busy by then. */
typedef struct hy_beginning {
    int64_t ns, busy_ns;
} hy_beginning;

hy_beginning hy_usage_begin(const hybrid_engine *engine);

/* What the product takes that moves its operands and its result once, as they are. */
typedef struct hy_reference {
    int64_t up, down; /* bytes */
} hy_reference;

/* Busy seconds of all stages of a run that is over, for each second that it took. */
double hy_usage_overlap(const hybrid_report *r);

/* The run on these backends is over, and its bytes and stages are in the report: its time,
   what it used of the memory, the cores and, if it was computed on devices, of these
   together, and the reference. */
void hy_usage_end(const hybrid_engine *engine, const hy_backend *const *backends,
                  int count, const hy_beginning *begin, const hy_reference *reference,
                  hybrid_report *report);

#endif /* HY_USAGE_H */
