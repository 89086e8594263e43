/* bench/program/bench_spgemm.c - C = A*A, or A times its transpose if A is not square. */
#include "bench/program/bench.h"

#include <stdlib.h>

enum { SEED = 3 };

static int open_case(bench_case *c)
{
    c->C = (hybrid_csr){0};
    return 0;
}

static hybrid_status plan(bench_case *c, const hybrid_plan_options *o, hybrid_plan **out)
{
    const bench_problem *p = &c->bench->problem;
    return hybrid_spgemm_plan(c->engine, &p->A, bench_second(p), o, out);
}

/* Reads what a caller would read at least: the offsets of the rows. */
static int count_entries(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    const int64_t *offsets = rows->row_ptr;

    (void)row_begin;
    *(int64_t *)user += offsets[rows->rows];
    return 0;
}

static hybrid_status run(bench_case *c, hybrid_plan *planned)
{
    const bench_problem *p = &c->bench->problem;
    int64_t entries        = 0;

    return c->bench->options.each
               ? hybrid_spgemm_each(planned, &p->A, bench_second(p), count_entries,
                                    &entries)
               : hybrid_spgemm_run(planned, &p->A, bench_second(p), &c->C);
}

/* Makes the one-shot call, which prefetches B while it makes the plan. */
static hybrid_status once(bench_case *c)
{
    const bench_problem *p = &c->bench->problem;
    return hybrid_spgemm(c->engine, &p->A, bench_second(p), &c->C);
}

static void clear(bench_case *c)
{
    if (c->C.row_ptr)
        hybrid_csr_free(c->engine, &c->C);
}

static void *keep(bench_case *c)
{
    hybrid_csr *kept = malloc(sizeof *kept);

    if (kept)
        *kept = c->C;
    c->C = (hybrid_csr){0};
    return kept;
}

static void drop(bench_case *c, void *kept)
{
    if (kept)
        hybrid_csr_free(c->engine, kept);
    free(kept);
}

static hybrid_status verify(bench_case *c, int64_t *row)
{
    const bench_problem *p = &c->bench->problem;
    return hybrid_verify_spgemm(c->bench->tools, &p->A, bench_second(p), &c->C,
                                BENCH_TRIALS, SEED, row);
}

const bench_product bench_spgemm = {
    .name   = "spgemm",
    .family = "spgemm.",
    .open   = open_case,
    .plan   = plan,
    .run    = run,
    .once   = once,
    .clear  = clear,
    .keep   = keep,
    .drop   = drop,
    .verify = verify,
    .close  = clear,
};
