/* engine/report/usage.h - how much of the machine a run used, and what bound it.

   hy_usage_begin() notes the time, and how long workers have been busy, when a run
   begins. hy_usage_end() divides what each resource has served since then by the seconds
   of the run: busy seconds of workers, bytes that the bus moved up and down, and bytes
   that device memory and host memory moved. The utilisation of a resource is this speed
   divided by the rate of the resource. The rate is the measured one if the machine was
   calibrated, else the built-in one, or the speed of the run itself if the run was faster
   than that. No utilisation exceeds 1.

   The bound is the resource whose stages were busy for the largest part of the run. Host
   memory has no stages. It is the bound in place of the cores if its utilisation exceeds
   half of theirs. The reference time moves operands and result once at these rates: over
   the bus, with both directions at once, or through the memory of a host that computes
   alone. */
#ifndef HY_USAGE_H
#define HY_USAGE_H

#include "engine/api/engine.h"

/* State when a run begins: time of hy_now_ns(), and the time that all workers have been
   busy since the engine was made, both in nanoseconds. */
typedef struct hy_beginning {
    int64_t ns, busy_ns;
} hy_beginning;

hy_beginning hy_usage_begin(const hybrid_engine *engine);

/* Bytes for the reference time: operands (up) and result (down), each moved over the bus
   once. */
typedef struct hy_reference {
    int64_t up, down;
} hy_reference;

/* Returns the busy seconds of all stages divided by the seconds of the run: at most 1 if
   no stages overlap. */
double hy_usage_overlap(const hybrid_report *r);

/* Completes the report of a run that has ended on these backends: total time, use of
   each resource, bound, reference time and pooled memory. The report must have the run's
   bytes and stage times already. Rates of several devices are summed. */
void hy_usage_end(const hybrid_engine *engine, const hy_backend *const *backends,
                  int count, const hy_beginning *begin, const hy_reference *reference,
                  hybrid_report *report);

#endif /* HY_USAGE_H */
