/* bench/bench_calls.c - call the library again and again: plan, run and destroy, or the
   one call that does all three; or, with an A that is resident, runs of one plan. */
#include "bench/bench_calls.h"

#include "bench/peers.h"

static void note_variant(const hybrid_plan *plan, char *name)
{
    hybrid_candidate c;

    for (int i = 0; hybrid_plan_candidate(plan, i, &c) == HYBRID_OK; i++)
        if (c.chosen)
            snprintf(name, BENCH_NAME, "%s", c.variant);
}

/* Whether one call is another way, and gives what a caller gets who asks for nothing. */
static int is_one_shot(const bench_product *product, const hybrid_plan_options *o)
{
    return product->once && !o->flags && !o->variant && o->depth == 0 &&
           o->chunk_rows == 0 && o->split == HYBRID_SPLIT_DEFAULT;
}

/* One product from host arrays to host arrays, without a plan to ask. */
static hybrid_status call_one_shot(bench_case *c, const bench_product *product,
                                   bench_call *out)
{
    const double begin         = bench_now();
    const hybrid_status status = product->once(c);

    out->seconds = bench_now() - begin;
    out->report  = (hybrid_report)HYBRID_REPORT_INIT;
    c->bench->calls++;
    return status == HYBRID_OK ? hybrid_engine_report(c->engine, &out->report) : status;
}

/* The same, planned. */
static hybrid_status call_planned(bench_case *c, const bench_product *product,
                                  const hybrid_plan_options *o, bench_call *out,
                                  char *variant)
{
    hybrid_plan *plan;
    const double begin = bench_now();

    hybrid_status status = product->plan(c, o, &plan);
    if (status != HYBRID_OK)
        return status;
    status             = product->run(c, plan);
    const double pause = bench_now();
    out->report        = (hybrid_report)HYBRID_REPORT_INIT;
    if (status == HYBRID_OK)
        status = hybrid_plan_report(plan, &out->report);
    note_variant(plan, variant);
    const double resume = bench_now();
    hybrid_plan_destroy(plan);
    out->seconds = bench_now() - begin - (resume - pause);
    c->bench->calls++;
    return status;
}

static hybrid_status call_once(bench_case *c, const bench_product *product,
                               const hybrid_plan_options *o, bench_call *out,
                               char *variant)
{
    return is_one_shot(product, o) ? call_one_shot(c, product, out)
                                   : call_planned(c, product, o, out, variant);
}

/* What only a plan tells of calls that had none of their own to ask. */
static hybrid_status ask_plan(bench_case *c, const bench_product *product,
                              const hybrid_plan_options *o, bench_calls *all)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_plan *plan;

    hybrid_status status = product->plan(c, o, &plan);
    if (status != HYBRID_OK)
        return status;
    note_variant(plan, all->variant);
    status = hybrid_plan_report(plan, &report);
    hybrid_plan_destroy(plan);
    for (int i = 0; i < c->bench->options.reps; i++) {
        all->timed[i].report.predicted_h2d_bytes = report.predicted_h2d_bytes;
        all->timed[i].report.predicted_d2h_bytes = report.predicted_d2h_bytes;
    }
    return status;
}

static hybrid_status call_again(bench_case *c, const bench_product *product,
                                const hybrid_plan_options *o, bench_call *out,
                                char *variant)
{
    product->clear(c);
    if (c->bench->options.cold)
        hybrid_engine_trim(c->engine);
    return call_once(c, product, o, out, variant);
}

/* A run of a plan that has run before. */
static hybrid_status run_again(bench_case *c, const bench_product *product,
                               hybrid_plan *plan, bench_call *out)
{
    product->clear(c);
    if (c->hold && peer_hold_start(c->hold))
        return HYBRID_DEVICE_FAILED;
    const double begin         = bench_now();
    const hybrid_status status = product->run(c, plan);
    out->seconds               = bench_now() - begin;
    out->report                = (hybrid_report)HYBRID_REPORT_INIT;
    c->bench->calls++;
    return status == HYBRID_OK ? hybrid_plan_report(plan, &out->report) : status;
}

/* The first call plans, and packs A. */
static hybrid_status run_all(bench_case *c, const bench_product *product,
                             const hybrid_plan_options *o, bench_calls *all)
{
    const bench_options *options = &c->bench->options;
    const double begin           = bench_now();
    hybrid_plan *plan;

    all->first           = c->bench->calls == 0;
    hybrid_status status = product->plan(c, o, &plan);
    if (status != HYBRID_OK)
        return status;
    const double planned = bench_now() - begin;
    note_variant(plan, all->variant);
    status = run_again(c, product, plan, &all->cold);
    all->cold.seconds += planned;
    for (int i = 0; i < options->warmup && status == HYBRID_OK; i++)
        status = run_again(c, product, plan, &all->timed[0]);
    for (int i = 0; i < options->reps && status == HYBRID_OK; i++)
        status = run_again(c, product, plan, &all->timed[i]);
    hybrid_plan_destroy(plan);
    return status;
}

hybrid_status bench_call_all(bench_case *c, const bench_product *product,
                             const hybrid_plan_options *o, bench_calls *all)
{
    const bench_options *options = &c->bench->options;

    if (o->flags & HYBRID_RESIDENT)
        return run_all(c, product, o, all);
    all->first           = c->bench->calls == 0;
    hybrid_status status = call_once(c, product, o, &all->cold, all->variant);
    for (int i = 0; i < options->warmup && !options->cold && status == HYBRID_OK; i++)
        status = call_again(c, product, o, &all->timed[0], all->variant);
    for (int i = 0; i < options->reps && status == HYBRID_OK; i++)
        status = call_again(c, product, o, &all->timed[i], all->variant);
    if (is_one_shot(product, o) && status == HYBRID_OK)
        status = ask_plan(c, product, o, all);
    return status;
}
