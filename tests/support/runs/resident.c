/* tests/support/runs/resident.c - repeated runs of plans with HYBRID_RESIDENT. */
#include "support/runs/resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "base/contract/image.h"
#include "support/runs/caps.h"
#include "support/check/oracle.h"
#include "support/runs/plans.h"
#include "support/products/usage.h"

enum { CHUNKINGS = 2, WIDTHS = 4, COLUMNS = 20 };

static const int64_t widths[] = {1, 4, 33, 129};

/* One plan and the operands of its runs. */
typedef struct trial {
    hybrid_engine *engine;
    hybrid_plan *plan;
    const char *name;
    int64_t width, rows; /* columns of X; rows of a chunk */
    int exact;
    test_kind kind;
    unsigned turn; /* number of the run, from 0; each run has an X of its own */
} trial;

static int complain(const trial *t, const char *what)
{
    fprintf(stderr, "resident %s, %lld columns, %lld rows a chunk, run %u: %s\n", t->name,
            (long long)t->width, (long long)t->rows, t->turn, what);
    return 1;
}

static hybrid_report report_of_last(const trial *t)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    if (hybrid_plan_report(t->plan, &report) != HYBRID_OK)
        abort();
    const char *wrong = report.total_s > 0 ? usage_check(&report) : NULL;
    if (wrong) {
        complain(t, wrong);
        abort();
    }
    return report;
}

/* Runs the plan with the arrays of `given`, as number t->turn. Y must be that of `A`.
   Returns the number of errors. */
static int run(trial *t, const hybrid_csr *given, const hybrid_csr *A)
{
    const hybrid_order order = t->turn % 2 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
    hybrid_dense X, Y, before;
    int failed = 0;

    dense_make(A->cols, t->width, 0, order, t->turn + 1, t->kind, &X);
    dense_make(A->rows, t->width, 1, HYBRID_ROW_MAJOR, t->turn + 9, t->kind, &Y);
    dense_copy(&Y, &before);
    if (hybrid_spmm_run(t->plan, 2, given, &X, 3, &Y) != HYBRID_OK) {
        failed = complain(t, hybrid_engine_message(t->engine));
    } else {
        const char *wrong = oracle_check_spmm(2, A, &X, 3, &before, &Y, t->exact);
        failed            = wrong ? complain(t, wrong) : 0;
    }
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    t->turn++;
    return failed;
}

/* Returns a matrix with A's shape and invalid arrays, for runs that must not read A. */
static hybrid_csr without_arrays(const hybrid_csr *A)
{
    static int64_t nothing[1] = {-1};
    hybrid_csr bare           = *A;

    bare.row_ptr = bare.val = nothing;
    bare.col                = (void *)nothing;
    return bare;
}

static size_t value_bytes(const hybrid_csr *A)
{
    return (size_t)A->nnz * (A->type == HYBRID_F64 ? 8 : 4);
}

/* Returns 1 if the prediction for a later run is right: one X for one device. Several
   devices copy from each other, or receive a part of X. */
static int predicts_x(const trial *t, const hybrid_report *r, int64_t x)
{
    if (t->plan->count == 1)
        return r->predicted_h2d_bytes == x;
    return r->predicted_h2d_bytes >= r->h2d_bytes &&
           r->predicted_h2d_bytes <= t->plan->count * x;
}

/* Checks the report of a later run: it must have sent no more than X to each device, and
   packed nothing. Rows of X that A does not need may be missing. Returns the number of
   errors. */
static int sends_x_alone(const trial *t, const hybrid_csr *A)
{
    const hybrid_report r = report_of_last(t);
    const hy_image image =
        hy_variant_image(t->plan->portions->variant, A->cols, t->width, 0, A->type);
    const int64_t x = (int64_t)hy_image_bytes(&image);

    if (r.h2d_bytes > t->plan->count * x || (r.chunks > 0 && !predicts_x(t, &r, x)))
        return complain(t, "a later run sends more than X");
    return r.prepare_s > 0 ? complain(t, "a later run packs") : 0;
}

/* Checks later runs of a plan that caches all of A, and changes A's values on the way.
   Returns the number of errors. */
static int check_whole(trial *t, const hybrid_csr *A)
{
    const hybrid_csr bare = without_arrays(A);
    hybrid_csr old        = *A;
    int failed            = run(t, &bare, A) + sends_x_alone(t, A);

    old.val = malloc(value_bytes(A) + 1);
    if (!old.val)
        abort();
    memcpy(old.val, A->val, value_bytes(A));
    for (int64_t k = 0; k < A->nnz; k++)
        value_set(A->val, A->type, k, -value_at(A->val, A->type, k));
    failed += run(t, A, &old); /* the result is that of the old values, because the plan
                                  was not told of the change */
    hybrid_plan_refresh(t->plan);
    failed += run(t, A, A);
    failed += run(t, &bare, A) + sends_x_alone(t, A);
    free(old.val);
    return failed;
}

static int check_plan(trial *t, const hybrid_csr *A)
{
    int failed            = run(t, A, A);
    const hybrid_report r = report_of_last(t);

    if (r.resident_chunks != r.chunks)
        return failed + complain(t, "not all of A is resident");
    return failed + check_whole(t, A);
}

static int check_variant(trial t, const hybrid_csr *A, int64_t *checked)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;

    o.variant           = t.name;
    o.flags             = HYBRID_RESIDENT;
    o.chunk_rows        = t.rows;
    const char *refused = plan_spmm(t.engine, A, t.width, &o, &t.plan);
    if (refused)
        return complain(&t, refused);
    if (!t.plan)
        return 0;
    const int failed = check_plan(&t, A);
    hybrid_plan_destroy(t.plan);
    ++*checked;
    return failed;
}

static int check_case(hybrid_engine *engine, int i, int kind, const char *const *names,
                      int64_t *checked)
{
    trial t = {
        .engine = engine, .kind = plan_kinds[kind], .exact = plan_kinds[kind].integers};
    int failed = 0;
    test_case c;

    case_make(i, plan_kinds[kind], &c);
    for (const char *const *name = names; *name; name++)
        for (int k = 0; k < WIDTHS * CHUNKINGS; k++) {
            t.name  = *name;
            t.width = widths[k % WIDTHS];
            t.rows  = k < WIDTHS ? plan_prime_rows(&c.A) : 0;
            if (strncmp(*name, "spgemm", 6) != 0)
                failed += check_variant(t, &c.A, checked);
        }
    case_free(&c);
    return failed;
}

int resident_check(hybrid_engine *engine, const char *const *names, int64_t *checked)
{
    const int step = case_step(2);
    int failed     = 0;

    for (int i = 0; i < case_count(); i++)
        for (int kind = i % step; kind < PLAN_KINDS; kind += step)
            failed += check_case(engine, i, kind, names, checked);
    return failed;
}

/* ---- budgets ---- */

/* Number of device memory caps by outcome of the plan: all of A is cached, a part, none;
   refused; wrong. */
typedef struct tally {
    int whole, part, none, refused, failed;
} tally;

static int other_bytes(const trial *t, const hybrid_report *r)
{
    char text[80];

    snprintf(text, sizeof text, "%lld bytes were sent, and %lld predicted",
             (long long)r->h2d_bytes, (long long)r->predicted_h2d_bytes);
    return complain(t, text);
}

static void note(tally *sum, const trial *t, size_t budget, int again)
{
    const hybrid_report r = report_of_last(t);

    sum->whole += r.resident_chunks == r.chunks;
    sum->part += r.resident_chunks > 0 && r.resident_chunks < r.chunks;
    sum->none += r.resident_chunks == 0;
    if (!caps_kept(t->plan, budget))
        sum->failed += complain(t, "more device memory was used than there is");
    if (again && r.resident_chunks == r.chunks && r.h2d_bytes != r.predicted_h2d_bytes)
        sum->failed += other_bytes(t, &r);
}

static void try_budget(hybrid_engine *engine, const hybrid_csr *A, size_t budget,
                       tally *sum)
{
    trial t               = {.engine = engine,
                             .name   = "within a budget",
                             .width  = COLUMNS,
                             .exact  = 1,
                             .kind   = {HYBRID_F64, HYBRID_I64, 1}};
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plain;

    const hybrid_status without = hybrid_spmm_plan(engine, A, COLUMNS, &o, &plain);
    if (without == HYBRID_OK)
        hybrid_plan_destroy(plain);
    o.flags                  = HYBRID_RESIDENT;
    const hybrid_status with = hybrid_spmm_plan(engine, A, COLUMNS, &o, &t.plan);
    sum->refused += with == HYBRID_NO_DEVICE_MEMORY;
    if (with != without)
        sum->failed += complain(&t, "planned with the flag alone, or without it");
    if (with != HYBRID_OK)
        return;
    for (int again = 0; again < 2; again++) {
        sum->failed += run(&t, A, A);
        note(sum, &t, budget, again);
    }
    hybrid_plan_destroy(t.plan);
}

int resident_budgets(budget_open open, int64_t rows)
{
    tally sum = {0};
    hybrid_csr A;

    matrix_random(rows, rows, 9, 5, plan_kinds[0], &A);
    for (size_t budget = (size_t)256 << 20; budget >= 256; budget -= budget / 5) {
        hybrid_engine *engine;
        if (open(budget, &engine) != HYBRID_OK) {
            sum.failed++;
            continue;
        }
        /* seconds; so that launches do not keep chunks from being small. Other devices
           keep their rate, so that they may choose another variant. */
        engine->device->measured.launch_s = 1e-9;
        try_budget(engine, &A, budget, &sum);
        hybrid_engine_destroy(engine);
    }
    matrix_free(&A);
    printf("A resident in %d runs, in part in %d, not in %d; %d budgets refused, %d "
           "failures\n",
           sum.whole, sum.part, sum.none, sum.refused, sum.failed);
    return sum.failed + (sum.whole < 8) + (sum.part < 2) + (sum.none < 2) +
           (sum.refused < 1);
}
