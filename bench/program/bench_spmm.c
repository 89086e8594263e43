/* bench/program/bench_spmm.c - Y = A*X. SpMV has one column. */
#include "bench/program/bench.h"

#include <stdlib.h>

#include "bench/program/peers.h"

enum { SEED = 4 };

static int open_case(bench_case *c)
{
    const bench_options *o = &c->bench->options;
    const hybrid_csr *A    = &c->bench->problem.A;

    c->X = c->Y = (hybrid_dense){0};
    if (bench_dense_make(c->bench->tools, A->cols, o->cols, o->order, o->type, 1,
                         o->pinned, &c->X))
        return -1;
    return bench_dense_make(c->bench->tools, A->rows, o->cols, o->order, o->type, 0,
                            o->pinned, &c->Y);
}

static hybrid_status plan(bench_case *c, const hybrid_plan_options *o, hybrid_plan **out)
{
    return hybrid_spmm_plan(c->engine, &c->bench->problem.A, c->X.cols, o, out);
}

static hybrid_status run(bench_case *c, hybrid_plan *planned)
{
    return hybrid_spmm_run(planned, 1, &c->bench->problem.A, &c->X, 0, &c->Y);
}

/* Does nothing, because Y is overwritten by every call. */
static void clear(bench_case *c)
{
    (void)c;
}

/* Takes Y away. The pages of the next Y are not yet present. */
static void *keep(bench_case *c)
{
    const size_t size = c->Y.type == HYBRID_F64 ? 8 : 4;
    void *fresh       = bench_array((size_t)c->Y.rows * (size_t)c->Y.cols * size);
    void *kept        = fresh ? c->Y.data : NULL;

    if (fresh)
        c->Y.data = fresh;
    return kept;
}

static void drop(bench_case *c, void *kept)
{
    (void)c;
    free(kept);
}

static hybrid_status verify(bench_case *c, int64_t *row)
{
    return (c->bench->options.tf32 ? hybrid_verify_spmm_tf32 : hybrid_verify_spmm)(
        c->bench->tools, &c->bench->problem.A, &c->X, &c->Y, BENCH_TRIALS, SEED, row);
}

static void close_case(bench_case *c)
{
    bench_dense_free(&c->X);
    bench_dense_free(&c->Y);
}

const bench_product bench_spmm = {
    .name   = "spmm",
    .family = "spmm.",
    .open   = open_case,
    .plan   = plan,
    .run    = run,
    .clear  = clear,
    .keep   = keep,
    .drop   = drop,
    .verify = verify,
    .close  = close_case,
};

const bench_product bench_spmv = {
    .name   = "spmv",
    .family = "spm", /* prefix of spmv and spmm */
    .open   = open_case,
    .plan   = plan,
    .run    = run,
    .clear  = clear,
    .keep   = keep,
    .drop   = drop,
    .verify = verify,
    .close  = close_case,
};
