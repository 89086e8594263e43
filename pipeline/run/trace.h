/* pipeline/run/trace.h - what the stages of a finished chunk become: events and sums. */
#ifndef HY_TRACE_H
#define HY_TRACE_H

#include "pipeline/load/load.h"
#include "pipeline/site/slot.h"

/* The receiver of a run's events. */
typedef struct hy_listener {
    hybrid_trace_fn fn; /* NULL: nobody */
    void *user;
    int64_t pass; /* hybrid_event.pass of this run's events */
    double
        worker_Bps; /* bytes of host memory a second that one worker may move if all do */
} hy_listener;

typedef struct hy_tracer {
    hy_listener to;
    hybrid_report *report;
    hy_backend *backend; /* of the run's first site */
} hy_tracer;

/* All stages of the slot's chunk are done: adds times and bytes to the report, and emits
   an event for each stage on a device, and for each thread that worked on a stage.
   NO_MEMORY if who worked could not be recorded. */
hybrid_status hy_trace_slot(const hy_tracer *tracer, const hy_slot *slot);

/* The operand that stays on the site was loaded. */
void hy_trace_load(const hy_tracer *tracer, const struct hy_site *site);

#endif /* HY_TRACE_H */
