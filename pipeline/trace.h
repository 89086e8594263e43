/* pipeline/trace.h - what the stages of a finished chunk become: events and sums. */
#ifndef HY_TRACE_H
#define HY_TRACE_H

#include "pipeline/slot.h"

struct hy_run;

typedef struct hy_tracer {
    hybrid_trace_fn fn; /* may be NULL */
    void *user;
    hybrid_report *report;
    int64_t down_ns; /* until when copies down have been counted that have no times */
} hy_tracer;

/* All stages of the slot's chunk are done. */
void hy_trace_slot(hy_tracer *tracer, const hy_slot *slot);

/* The operand that stays on the device was loaded. */
void hy_trace_load(const hy_tracer *tracer, const struct hy_run *run);

#endif /* HY_TRACE_H */
