/* pipeline/run/trace.h - turns the stages of a finished chunk into events and sums.

   A slot records when each stage of its chunk began and ended (hy_passage). The driver
   calls hy_trace_slot() once the chunk is done, which adds seconds and bytes to the
   report. Events are made only if the run has a listener. Reserving, which the driver
   does itself, has no event.

   A stage on a lane of a device has one event, between the times of its two marks. Marks
   of some copies to the host have no times: such a copy counts from the time when the
   chunk was computed and the copy before had ended, until the host saw its end. A stage
   of workers has one event for each thread that worked on it, and the bytes and
   operations of the stage are divided among these threads in proportion to their times.
   If the host computes a chunk of a product that devices compute too, the seconds of
   computing it go to hybrid_report.host_s. */
#ifndef HY_TRACE_H
#define HY_TRACE_H

#include "pipeline/load/load.h"
#include "pipeline/site/slot.h"

/* The receiver of a run's events. */
typedef struct hy_listener {
    hybrid_trace_fn fn; /* function that receives the events; NULL: there is none */
    void *user;
    int64_t pass; /* number of the pass over the operands that the run is
                     (hybrid_event.pass) */
    double
        worker_Bps; /* bytes of host memory per second that each worker can move while all
                       workers move bytes */
} hy_listener;

typedef struct hy_tracer {
    hy_listener to;
    hybrid_report *report;
    hy_backend *backend; /* backend of the run's first site */
} hy_tracer;

/* Called when all stages of the slot's chunk are done. Adds times and bytes to the
   report, and emits one event for each stage on a device and for each thread that worked
   on a stage. Returns NO_MEMORY if there was no memory to record the work of a thread. */
hybrid_status hy_trace_slot(const hy_tracer *tracer, const hy_slot *slot);

/* Adds the loading of B or X to the site's device to the report, and emits its event. */
void hy_trace_load(const hy_tracer *tracer, const struct hy_site *site);

#endif /* HY_TRACE_H */
