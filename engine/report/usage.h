/* engine/report/usage.h - how much of the machine a run used, and what bound it. */
#ifndef HY_USAGE_H
#define HY_USAGE_H

#include "engine/api/engine.h"

/* State at the start of a run: time and busy time of all workers, in nanoseconds. */
typedef struct hy_beginning {
    int64_t ns, busy_ns;
} hy_beginning;

hy_beginning hy_usage_begin(const hybrid_engine *engine);

/* Bytes of the reference time: operands and result cross the bus once, as they are. */
typedef struct hy_reference {
    int64_t up, down;
} hy_reference;

/* Returns the busy seconds of all stages per second of the run: 1 without any overlap. */
double hy_usage_overlap(const hybrid_report *r);

/* Completes the report of a run that has ended on `backends`: time, use of each resource,
   bound, reference time and pooled memory. The report must hold the run's bytes and stage times. Rates
   of several devices are summed. */
void hy_usage_end(const hybrid_engine *engine, const hy_backend *const *backends,
                  int count, const hy_beginning *begin, const hy_reference *reference,
                  hybrid_report *report);

#endif /* HY_USAGE_H */
