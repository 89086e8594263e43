/* tests/support/products/odd_bits_spmm.c - Y = alpha*A*X + beta*Y with zeros of both
   signs, infinities and NaN.

   All other numbers are small and whole, so that every order of additions, fused or not,
   gives the same sum. */
#include <math.h>
#include <stdio.h>

#include "base/data/csr.h"
#include "engine/schedules/schedule.h"
#include "support/inputs/builder.h"
#include "support/products/odd_bits.h"
#include "support/check/plain_rows.h"
#include "support/fake/settings.h"

enum { ROWS = 90, COLS = 70, FACTORS = 4, ENDS = 3, WIDTHS = 3 };

static const double alphas[FACTORS] = {1, -1, 2, 0}, betas[ENDS] = {0, 1, -1};
static const int64_t widths[WIDTHS] = {1, 3, 34};

typedef struct trial {
    hybrid_engine *engine;
    const char *variant; /* name of the variant; NULL: the engine chooses */
    const hy_schedule *schedule;
    hybrid_csr A;
    hybrid_dense X, before;
    test_kind kind;
} trial;

/* Returns number k of a sequence: half are zeros of either sign, most others small whole
   numbers; one of 64 is infinite or NaN. */
static double odd_number(uint64_t seed, int64_t k)
{
    static const double odd[]  = {0.0, -0.0, 0.0, -0.0, 1, -1, 3, -2};
    static const double last[] = {INFINITY, -INFINITY, NAN};
    const int64_t dice         = test_below(seed, (uint64_t)k, 192);

    return dice < 3 ? last[dice] : odd[dice % 8];
}

static void set_odd(hybrid_dense *X, uint64_t seed)
{
    for (int64_t k = 0; k < X->rows * X->cols; k++)
        value_set(X->data, X->type, k, odd_number(seed, k));
}

static hybrid_csr make_a(test_kind kind)
{
    builder b = build_start(ROWS, COLS);

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < i % 5; k++)
            build_add(&b, test_below(7, (uint64_t)(i * 8 + k), COLS));
        build_end_row(&b);
    }
    hybrid_csr A = build_finish(&b, 1, kind);
    for (int64_t k = 0; k < A.nnz; k++)
        value_set(A.val, A.type, k, odd_number(8, k));
    return A;
}

static double expected(const trial *t, double alpha, double beta, int64_t i, int64_t j)
{
    double sum = 0;

    for (int64_t k = hy_offset(&t->A, i); k < hy_offset(&t->A, i + 1); k++)
        sum += value_at(t->A.val, t->A.type, k) * dense_at(&t->X, hy_cols(&t->A)[k], j);
    if (alpha == 0 && beta == 0)
        return 0;
    if (alpha == 0)
        return beta * dense_at(&t->before, i, j);
    return beta == 0 ? alpha * sum : alpha * sum + beta * dense_at(&t->before, i, j);
}

static int complain(const trial *t, double alpha, double beta, const char *what)
{
    fprintf(stderr,
            "odd numbers: %s, %s, f%d, %lld columns, orders %d and %d, alpha %g, beta "
            "%g: %s\n",
            t->variant ? t->variant : "any variant",
            t->schedule ? t->schedule->name : "any schedule",
            t->kind.type == HYBRID_F64 ? 64 : 32, (long long)t->X.cols, (int)t->X.order,
            (int)t->before.order, alpha, beta, what);
    return 1;
}

static int judge(const trial *t, double alpha, double beta, const hybrid_dense *Y)
{
    char what[96];

    for (int64_t i = 0; i < Y->rows; i++)
        for (int64_t j = 0; j < Y->cols; j++) {
            const int64_t at =
                Y->order == HYBRID_ROW_MAJOR ? i * Y->ld + j : i + j * Y->ld;
            const double right = expected(t, alpha, beta, i, j);
            if (plain_same_bits(Y->type, Y->data, at, right))
                continue;
            snprintf(what, sizeof what, "(%lld, %lld) is %g, not %g", (long long)i,
                     (long long)j, value_at(Y->data, Y->type, at), right);
            return complain(t, alpha, beta, what);
        }
    return 0;
}

static int run(const trial *t, hybrid_plan *plan, double alpha, double beta)
{
    hybrid_dense Y;

    dense_copy(&t->before, &Y);
    const hybrid_status status = hybrid_spmm_run(plan, alpha, &t->A, &t->X, beta, &Y);
    const int failed           = status == HYBRID_OK
                                     ? judge(t, alpha, beta, &Y)
                                     : complain(t, alpha, beta, hybrid_engine_message(t->engine));
    dense_free(&Y);
    return failed;
}

static int check_plan(trial *t, int64_t *checked)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    int failed                  = 0;
    hybrid_plan *plan;

    options.variant                  = t->variant;
    options.order                    = t->before.order;
    settings_of(t->engine)->schedule = t->schedule;
    const hybrid_status status =
        hybrid_spmm_plan(t->engine, &t->A, t->X.cols, &options, &plan);
    settings_of(t->engine)->schedule = NULL;
    if (status == HYBRID_UNSUPPORTED)
        return 0;
    if (status != HYBRID_OK)
        return complain(t, 0, 0, hybrid_engine_message(t->engine));
    for (int k = 0; k < FACTORS * ENDS; k++, ++*checked)
        failed += run(t, plan, alphas[k % FACTORS], betas[k / FACTORS]);
    hybrid_plan_destroy(plan);
    return failed;
}

/* Runs plans for which the engine chooses the variant, and plans for each variant.
   Returns the number of failures. */
static int check_variants(trial *t, int64_t *checked)
{
    int failed = 0;

    t->variant = NULL;
    failed += check_plan(t, checked);
    for (const hy_variant *const *v = t->engine->variants; *v; v++) {
        t->variant = (*v)->name;
        if ((*v)->op == HY_SPMM)
            failed += check_plan(t, checked);
    }
    return failed;
}

static int check_width(trial *t, int64_t width, int orders, int64_t *checked)
{
    int failed = 0;

    dense_make(COLS, width, 0, orders & 1 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR, 1,
               t->kind, &t->X);
    dense_make(ROWS, width, 0, orders & 2 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR, 2,
               t->kind, &t->before);
    set_odd(&t->X, 9);
    set_odd(&t->before, 10);
    for (int k = 0; k < ODD_SCHEDULES; k++) {
        t->schedule = hy_schedules[k];
        failed += check_variants(t, checked);
    }
    dense_free(&t->X);
    dense_free(&t->before);
    return failed;
}

int odd_bits_check_spmm(hybrid_engine *engine, int64_t *checked)
{
    trial t    = {.engine = engine};
    int failed = 0;

    *checked = 0;
    for (hybrid_type type = HYBRID_F32; type <= HYBRID_F64; type++) {
        t.kind = (test_kind){type, HYBRID_I64, 1};
        t.A    = make_a(t.kind);
        for (int k = 0; k < WIDTHS * 4; k++)
            failed += check_width(&t, widths[k / 4], k % 4, checked);
        matrix_free(&t.A);
    }
    return failed;
}
