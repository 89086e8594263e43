/* bench/bench_calls.h - calls of one variant, timed. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "bench/bench.h"

/* What one call took. */
typedef struct bench_call {
    double        seconds; /* plan + run + destroy; of a later run: run */
    double        plan_s;  /* of it; 0 = of a later run, or in one call with the rest */
    hybrid_report report;  /* where the run's time went */
} bench_call;

/* All calls of one variant: the first, those that count, and those whose results are kept. */
typedef struct bench_calls {
    bench_call first, *timed, *kept;
    char       variant[BENCH_NAME]; /* the planner's choice */
    int        first_in_process;    /* `first` was the first product of this process */
} bench_calls;

hybrid_status bench_call_all(bench_case *c, const bench_product *product,
                             const hybrid_plan_options *o, bench_calls *all);

#endif /* BENCH_CALLS_H */
