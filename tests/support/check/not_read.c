/* tests/support/check/not_read.c - operands that must not be read if alpha or beta is
   0. */
#include "tests/support/check/not_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/support/inputs/cases.h"
#include "tests/support/check/oracle.h"

enum { ROWS = 300, COLS = 200, EACH = 6, GAP = 3 };

static const size_t ROOM = 1 << 20; /* bytes: more than any array of this test */

typedef struct trial {
    hybrid_engine *engine;
    const char *variant; /* name of the variant; NULL: one-shot calls without a plan */
    unsigned flags;
    hybrid_csr A;
    hybrid_dense X;
    void *nowhere; /* pages that cannot be read: arrays of A and X if alpha is 0 */
} trial;

static hybrid_status multiply(const trial *t, hybrid_plan *plan, double alpha,
                              double beta, hybrid_dense *Y)
{
    hybrid_csr A   = t->A;
    hybrid_dense X = t->X;

    if (alpha == 0) {
        A.row_ptr = A.val = X.data = t->nowhere;
        A.col                      = t->nowhere;
    }
    return plan ? hybrid_spmm_run(plan, alpha, &A, &X, beta, Y)
                : hybrid_spmm(t->engine, alpha, &A, &X, beta, Y);
}

static int check_product(const trial *t, hybrid_plan *plan, double alpha, double beta,
                         test_kind kind)
{
    const int64_t cols = t->X.cols;
    hybrid_dense Y, before;

    dense_make(ROWS, cols, GAP, t->X.order, 3, kind, &Y);
    if (beta == 0)
        dense_set(&Y, (double)NAN);
    dense_copy(&Y, &before);
    const hybrid_status status = multiply(t, plan, alpha, beta, &Y);
    const char *wrong          = status != HYBRID_OK ? hybrid_engine_message(t->engine)
                                                     : oracle_check_spmm(alpha, &t->A, &t->X, beta,
                                                                         &before, &Y, 1);
    if (!wrong && !dense_gaps_intact(&Y))
        wrong = "a gap was written";
    if (wrong)
        fprintf(stderr,
                "%s, flags %#x, f%d, %lld columns, order %d, alpha %g, beta %g: %s\n",
                t->variant ? t->variant : "no plan", t->flags,
                kind.type == HYBRID_F64 ? 64 : 32, (long long)cols, (int)t->X.order,
                alpha, beta, wrong);
    dense_free(&Y);
    dense_free(&before);
    return wrong != NULL;
}

/* Runs the plan five times, with alpha 0 and 2. A run with alpha 0 leaves out reading A
   and X; the next run with alpha 2 must read them. Returns the number of wrong runs. */
static int check_runs(const trial *t, hybrid_plan *plan, test_kind kind, int64_t *checked)
{
    static const double alphas[] = {0, 2, 0, 0, 2}, betas[] = {3, 0, 0, 1, 3};
    int failed = 0;

    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++, ++*checked)
        failed += check_product(t, plan, alphas[i], betas[i], kind);
    return failed;
}

/* Returns the number of wrong products; 0 also if the variant refuses the plan. */
static int check_trial(const trial *t, test_kind kind, int64_t *checked)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan     = NULL;

    o.variant = t->variant;
    o.flags   = t->flags;
    if (t->variant &&
        hybrid_spmm_plan(t->engine, &t->A, t->X.cols, &o, &plan) != HYBRID_OK)
        return 0;
    const int failed = check_runs(t, plan, kind, checked);
    hybrid_plan_destroy(plan);
    return failed;
}

static int check_variant(trial *t, int64_t *checked)
{
    static const int64_t widths[] = {1, 4, 33};
    int failed                    = 0;

    for (unsigned i = 0; i < 12; i++) {
        const test_kind kind     = {i % 2 ? HYBRID_F64 : HYBRID_F32, HYBRID_I64, 1};
        const hybrid_order order = i / 2 % 2 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR;
        matrix_random(ROWS, COLS, EACH, 1, kind, &t->A);
        dense_make(COLS, widths[i / 4], GAP, order, 2, kind, &t->X);
        failed += check_trial(t, kind, checked);
        matrix_free(&t->A);
        dense_free(&t->X);
    }
    return failed;
}

int not_read_check(hybrid_engine *engine, const char *const *variants, int64_t *checked)
{
    trial t    = {.engine = engine};
    int failed = 0;

    t.nowhere = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t.nowhere == MAP_FAILED)
        abort();
    failed += check_variant(&t, checked);
    for (; *variants; variants++)
        for (int resident = 0; resident < 2; resident++) {
            t.variant = *variants;
            t.flags   = resident ? HYBRID_RESIDENT : 0;
            failed += check_variant(&t, checked);
        }
    munmap(t.nowhere, ROOM);
    return failed;
}
