/* pipeline/trace.h - what the stages of a finished chunk become: events and sums. */
#ifndef HY_TRACE_H
#define HY_TRACE_H

#include "pipeline/load.h"
#include "pipeline/slot.h"

typedef struct hy_tracer {
    hybrid_trace_fn fn; /* may be NULL */
    void *user;
    hybrid_report *report;
    hy_backend *backend; /* of the run's first site */
} hy_tracer;

/* All stages of the slot's chunk are done. */
void hy_trace_slot(const hy_tracer *tracer, const hy_slot *slot);

/* The operand that stays on the site was loaded. */
void hy_trace_load(const hy_tracer *tracer, const struct hy_site *site);

#endif /* HY_TRACE_H */
