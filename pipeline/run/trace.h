/* pipeline/run/trace.h - turns the stages of a finished chunk into events and sums. */
#ifndef HY_TRACE_H
#define HY_TRACE_H

#include "pipeline/load/load.h"
#include "pipeline/site/slot.h"

/* The receiver of a run's events. */
typedef struct hy_listener {
    hybrid_trace_fn fn; /* NULL: no receiver */
    void *user;
    int64_t pass; /* number of the run's pass, for hybrid_event.pass */
    double
        worker_Bps; /* bytes of host memory per second that each worker may move while all
                       workers do */
} hy_listener;

typedef struct hy_tracer {
    hy_listener to;
    hybrid_report *report;
    hy_backend *backend; /* backend of the run's first site */
} hy_tracer;

/* Called when all stages of the slot's chunk are done. Adds times and bytes to the
   report, and emits an event for each stage on a device and for each thread that worked
   on a stage. NO_MEMORY if the work of a thread could not be recorded for lack of
   memory. */
hybrid_status hy_trace_slot(const hy_tracer *tracer, const hy_slot *slot);

/* Adds the loading of B or X to the site's device to the report, and emits its event. */
void hy_trace_load(const hy_tracer *tracer, const struct hy_site *site);

#endif /* HY_TRACE_H */
