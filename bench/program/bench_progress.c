/* bench/program/bench_progress.c - measures the pauses between progress callbacks, and
   how fast a call ends when it is cancelled. */
#include "bench/program/bench.h"

enum {
    POINTS = 9
}; /* number of calls that are cancelled: after 1/10, 2/10, ... 9/10 of
      a whole call's time */

typedef struct watch {
    double begin, last; /* times in seconds: when the call began, and when the latest
                           callback ended */
    double pause;       /* longest time without a callback, in seconds */
    double after;       /* seconds from the start of the call to its cancellation; 0: it
                           is not cancelled */
    double ended;       /* time when the call was cancelled, in seconds; 0: it was not */
    int64_t calls;
} watch;

static void note_pause(watch *w, double now)
{
    if (now - w->last > w->pause)
        w->pause = now - w->last;
    w->last = now;
}

static int on_progress(void *user, int64_t rows_done, int64_t rows)
{
    watch *w = user;

    (void)rows_done;
    (void)rows;
    note_pause(w, bench_now());
    w->calls++;
    if (w->after > 0 && w->last - w->begin >= w->after)
        w->ended = w->last;
    w->last = bench_now();
    return w->ended > 0;
}

/* Plans and runs. Sets *seconds to the time of both. If the call was cancelled, sets it
   to the time from the cancellation to the end of the call. */
static hybrid_status call(bench_case *c, const bench_product *product, watch *w,
                          double *seconds)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan     = NULL;

    product->clear(c);
    o.variant            = c->bench->options.variant;
    o.order              = c->bench->options.order;
    w->begin             = bench_now();
    w->last              = w->begin;
    w->ended             = 0;
    hybrid_status status = product->plan(c, &o, &plan);
    if (status == HYBRID_OK)
        status = product->run(c, plan);
    note_pause(w, bench_now());
    *seconds = w->last - (w->ended > 0 ? w->ended : w->begin);
    hybrid_plan_destroy(plan);
    return status;
}

int bench_progress(bench_case *c, const bench_product *product)
{
    watch w      = {.begin = 0};
    double whole = 0, longest = 0, seconds;
    int ended = 0;

    hybrid_engine_progress(c->engine, on_progress, &w);
    /* this call is not timed, because it bears costs that occur only once */
    hybrid_status status = call(c, product, &w, &seconds);
    if (status == HYBRID_OK)
        status = call(c, product, &w, &whole);
    const double pause  = w.pause;
    const int64_t calls = w.calls;
    for (int i = 1; i <= POINTS && status == HYBRID_OK; i++) {
        w.after = whole * i / (POINTS + 1);
        status  = call(c, product, &w, &seconds);
        if (status != HYBRID_CANCELLED)
            continue;
        status  = HYBRID_OK;
        longest = seconds > longest ? seconds : longest;
        ended++;
    }
    hybrid_engine_progress(c->engine, NULL, NULL);
    if (status != HYBRID_OK) {
        fprintf(stderr, "hybrid_spmm_bench: %s\n", hybrid_engine_message(c->engine));
        return -1;
    }
    printf("  progress: longest pause %.1f ms, in %lld calls of two products of %.2f s; "
           "ended %d times, within %.1f ms\n",
           pause * 1e3, (long long)calls, whole, ended, longest * 1e3);
    return 0;
}
