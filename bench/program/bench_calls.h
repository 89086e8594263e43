/* bench/program/bench_calls.h - calls of one variant, timed. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "bench/program/bench.h"

/* What one call took. */
typedef struct bench_call {
    double        seconds; /* plan + run + destroy; of a later run: run */
    double        plan_s;  /* of it; where one call does both, of a plan made later; of a
                              later run 0 */
    int           packs;   /* its variant packs A when it prepares a chunk */
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

/* ---- figures of calls -------------------------------------------------------------- */

/* Whether preparing a chunk is more than to copy rows of A to where the device gets them. */
int bench_packs(const char *variant);

/* One of the times of a call. */
typedef double (*bench_figure)(const bench_call *c);

double bench_wall_s(const bench_call *c);
double bench_kernels_s(const bench_call *c);    /* the device stages, without copies */
double bench_new_matrix_s(const bench_call *c); /* planning, packing and the kernels */

/* NAN where there are no calls. */
bench_span        bench_span_of_calls(const bench_call *calls, int count, bench_figure of);

/* The timed call that took the median. */
const bench_call *bench_median_call(const bench_calls *all, int reps, bench_figure of);

#endif /* BENCH_CALLS_H */
