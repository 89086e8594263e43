/* bench/program/bench_calls.c - makes the timed calls of the library.

   A call is plan, run and destroy, or the one-shot call. With a resident A or a known
   pattern, a call is a run of one plan. */
#include "bench/program/bench_calls.h"

#include <stdlib.h>

#include "bench/program/neighbour.h"
#include "bench/program/peers.h"

/* The operands, the options and the plan of timed calls. */
typedef struct caller {
    bench_case *c;
    const bench_product *product;
    const hybrid_plan_options *options;
    hybrid_plan *plan; /* plan of all calls; NULL: each call makes its own */
    bench_calls *all;  /* receives the planner's choice and the details of the plan */
} caller;

static void note_plan(const hybrid_plan *plan, bench_calls *all)
{
    hybrid_candidate c;

    for (int i = 0; hybrid_plan_candidate(plan, i, &c) == HYBRID_OK; i++)
        if (c.chosen)
            snprintf(all->variant, sizeof all->variant, "%s", c.variant);
    hybrid_plan_details(plan, all->details, sizeof all->details);
}

/* Returns 1 if the product has a one-shot call and all options have the values that this
   call uses. HYBRID_EXPLAIN is for the plan that ask_plan() makes. */
static int is_one_shot(const caller *k)
{
    const hybrid_plan_options *o = k->options;

    return k->product->once && !k->c->bench->options.each &&
           !(o->flags & ~(unsigned)HYBRID_EXPLAIN) && !o->variant && o->depth == 0 &&
           o->chunk_rows == 0 && o->split == HYBRID_SPLIT_DEFAULT;
}

/* ---- one call --------------------------------------------------------------------- */

/* Times a one-shot call from host arrays to host arrays. */
static hybrid_status call_one_shot(const caller *k, bench_call *out)
{
    const double begin         = bench_now();
    const hybrid_status status = k->product->once(k->c);

    out->seconds = bench_now() - begin;
    return status == HYBRID_OK ? hybrid_engine_report(k->c->engine, &out->report)
                               : status;
}

/* Times making a plan, running it and destroying it. */
static hybrid_status call_planned(const caller *k, bench_call *out)
{
    hybrid_plan *plan;
    const double begin = bench_now();

    hybrid_status status = k->product->plan(k->c, k->options, &plan);
    if (status != HYBRID_OK)
        return status;
    out->plan_s        = bench_now() - begin;
    status             = k->product->run(k->c, plan);
    const double pause = bench_now();
    if (status == HYBRID_OK)
        status = hybrid_plan_report(plan, &out->report);
    note_plan(plan, k->all);
    const double resume = bench_now();
    hybrid_plan_destroy(plan);
    out->seconds = bench_now() - begin - (resume - pause);
    return status;
}

/* Times a run of k->plan, the one plan that all calls share. */
static hybrid_status call_run(const caller *k, bench_call *out)
{
    if (k->c->hold && peer_hold_start(k->c->hold))
        return HYBRID_DEVICE_FAILED;
    const double begin         = bench_now();
    const hybrid_status status = k->product->run(k->c, k->plan);
    out->seconds               = bench_now() - begin;
    return status == HYBRID_OK ? hybrid_plan_report(k->plan, &out->report) : status;
}

static hybrid_status call(const caller *k, bench_call *out)
{
    *out = (bench_call){.report = HYBRID_REPORT_INIT};
    k->c->bench->calls++;
    if (k->c->bench->neighbour)
        neighbour_disturb(k->c->bench->neighbour);
    if (k->plan)
        return call_run(k, out);
    return is_one_shot(k) ? call_one_shot(k, out) : call_planned(k, out);
}

/* ---- all calls ------------------------------------------------------------------- */

/* Makes the first call. If all calls share a plan, the first call's time includes making
   it. */
static hybrid_status call_first(caller *k, bench_calls *all)
{
    const unsigned again = HYBRID_RESIDENT | HYBRID_REUSE;
    const double begin   = bench_now();
    double planned       = 0;

    all->first_in_process = k->c->bench->calls == 0;
    if (k->options->flags & again) {
        const hybrid_status status = k->product->plan(k->c, k->options, &k->plan);
        if (status != HYBRID_OK)
            return status;
        planned = bench_now() - begin;
        note_plan(k->plan, k->all);
    }
    const hybrid_status status = call(k, &all->first);
    all->first.seconds += planned;
    all->first.plan_s += planned;
    return status;
}

static hybrid_status call_freed(const caller *k, int count, bench_call *calls)
{
    hybrid_status status = HYBRID_OK;

    for (int i = 0; i < count && status == HYBRID_OK; i++) {
        k->product->clear(k->c);
        status = call(k, &calls[i]);
    }
    return status;
}

/* Times calls whose results are all kept, so that each result has pages of its own. The
   first of these calls may reuse pages that earlier calls freed, and does not count. */
static hybrid_status call_kept(const caller *k, int count, bench_call *calls)
{
    void **kept          = calloc((size_t)count + 1, sizeof *kept);
    hybrid_status status = kept ? HYBRID_OK : HYBRID_NO_MEMORY;
    int taken            = 0;

    while (taken <= count && status == HYBRID_OK) {
        kept[taken] = k->product->keep(k->c);
        status =
            kept[taken] ? call(k, &calls[taken > 0 ? taken - 1 : 0]) : HYBRID_NO_MEMORY;
        taken++;
    }
    for (int i = 0; i < taken; i++)
        k->product->drop(k->c, kept[i]);
    free(kept);
    return status;
}

/* For one-shot calls: makes a plan afterwards, and gives all timed calls its predicted
   bytes, since only a plan reports them. A call that does not report its own seconds of
   planning gets those of the plan. */
static hybrid_status ask_plan(const caller *k, bench_calls *all)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    const double begin   = bench_now();
    hybrid_plan *plan;

    hybrid_status status = k->product->plan(k->c, k->options, &plan);
    if (status != HYBRID_OK)
        return status;
    const double plan_s = bench_now() - begin;
    note_plan(plan, k->all);
    status = hybrid_plan_report(plan, &report);
    hybrid_plan_destroy(plan);
    for (int i = 0; i < k->c->bench->options.reps; i++) {
        bench_call *call                 = &all->timed[i];
        call->plan_s                     = call->report.plan_s;
        call->report.predicted_h2d_bytes = report.predicted_h2d_bytes;
        call->report.predicted_d2h_bytes = report.predicted_d2h_bytes;
        call->report.b_h2d_bytes         = report.b_h2d_bytes;
        call->report.least_b_h2d_bytes   = report.least_b_h2d_bytes;
        if (call->plan_s == 0)
            call->plan_s = plan_s;
    }
    return status;
}

hybrid_status bench_call_all(bench_case *c, const bench_product *product,
                             const hybrid_plan_options *o, bench_calls *all)
{
    const bench_options *options = &c->bench->options;
    caller k                     = {.c = c, .product = product, .options = o, .all = all};

    product->clear(c);
    hybrid_status status = call_first(&k, all);
    for (int i = 0; i < options->warmup && status == HYBRID_OK; i++)
        status = call_freed(&k, 1, all->timed);
    if (status == HYBRID_OK)
        status = call_freed(&k, options->reps, all->timed);
    if (status == HYBRID_OK && all->kept)
        status = call_kept(&k, options->keep, all->kept);
    hybrid_plan_destroy(k.plan);
    if (status == HYBRID_OK && is_one_shot(&k))
        status = ask_plan(&k, all);
    return status;
}
