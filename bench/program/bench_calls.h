/* bench/program/bench_calls.h - timed calls of one variant. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "bench/program/bench.h"

/* Times and report of one call of the library. */
typedef struct bench_call {
    double        seconds; /* time of plan, run and destroy; of a later run of one plan:
                              time of the run only */
    double        plan_s;  /* planning, included in `seconds`; for a one-shot call, time
                              of a plan made afterwards, not included; 0 for a later
                              run */
    int           packs;   /* 1: bench_new_matrix_s() includes the time of preparing
                              chunks, because this variant packs A */
    hybrid_report report;  /* report of the call's run */
} bench_call;

/* All calls of one variant: the first, the timed ones, and those with kept results. */
typedef struct bench_calls {
    bench_call first, *timed, *kept;
    char       variant[BENCH_NAME]; /* name of the variant that the planner chose */
    char       details[BENCH_DETAILS]; /* hybrid_plan_details() of the last plan */
    int        first_in_process;    /* 1: `first` was the first product of this process */
} bench_calls;

hybrid_status bench_call_all(bench_case *c, const bench_product *product,
                             const hybrid_plan_options *o, bench_calls *all);

/* ---- times of calls ------------------------------------------------------------- */

/* Returns 1 if preparing a chunk is more than copying rows of A to pinned memory. */
int bench_packs(const char *variant);

/* A function that returns one of the times of a call, in seconds. */
typedef double (*bench_figure)(const bench_call *c);

double bench_wall_s(const bench_call *c);
double bench_kernels_s(const bench_call *c);    /* returns the seconds of the kernels,
                                                   without copies */
double bench_new_matrix_s(const bench_call *c); /* returns the seconds of planning,
                                                   kernels and, if call->packs is 1,
                                                   packing */

/* Returns the median, minimum and maximum of a time of `count` calls; NAN if count is
   0. */
bench_span        bench_span_of_calls(const bench_call *calls, int count, bench_figure of);

/* Returns the timed call whose time, given by `of`, is the median of `reps` calls. */
const bench_call *bench_median_call(const bench_calls *all, int reps, bench_figure of);

#endif /* BENCH_CALLS_H */
