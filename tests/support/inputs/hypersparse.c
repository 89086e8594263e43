/* tests/support/inputs/hypersparse.c - SpMM with matrices that have many empty rows and
   columns. */
#include "support/inputs/hypersparse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "support/runs/caps.h"
#include "support/inputs/builder.h"
#include "support/check/oracle.h"
#include "support/runs/plans.h"
#include "support/fake/settings.h"
#include "support/products/usage.h"

enum { ROWS = 700, ENTRIES = 6, TURNS = 4 };

/* ---- matrices ---- */

typedef enum shape {
    SCATTERED, /* rows and columns drawn at random, about half of them, are empty */
    ENDS,      /* at both ends of the matrix more than 64 rows, and as many columns, are
                  empty */
    FAR_APART, /* one of 64 rows, and one of 64 columns, have entries; all others are
                  empty */
    NO_ROWS,   /* four of five rows are empty, and no column */
    NO_COLS,   /* four of five columns are empty, and no row */
    HUB,       /* as SCATTERED, but one row and one column have all possible entries */
    WIDE,      /* as SCATTERED, with five times as many columns as rows */
    TALL,      /* as SCATTERED, with five times as many rows as columns */
    BANDED,
    SHAPES
} shape;

int hypersparse_shapes(void)
{
    return SHAPES;
}

static int is_empty(shape s, int64_t i, int64_t all, unsigned side)
{
    switch (s) {
    case ENDS:
        return i < 129 || i > all - 200;
    case FAR_APART:
        return i % 64 != 5;
    case NO_ROWS:
        return side == 0 && i % 5 != 0;
    case NO_COLS:
        return side == 1 && i % 5 != 0;
    default:
        return test_below(77 + side, (uint64_t)i, 2) == 0;
    }
}

static void add(builder *b, shape s, int64_t col)
{
    if (col >= 0 && col < b->cols && !is_empty(s, col, b->cols, 1))
        build_add(b, col);
}

static void add_row(builder *b, shape s)
{
    const int64_t row = b->row, middle = row * b->cols / b->rows;

    if (is_empty(s, row, b->rows, 0))
        return;
    for (int64_t j = 0; j < b->cols && s == HUB && row == 301; j++)
        add(b, s, j);
    for (int64_t k = 0; k < ENTRIES; k++) {
        const int64_t drawn = test_below(s, (uint64_t)(row * ENTRIES + k), b->cols);
        add(b, s,
            s == BANDED          ? middle + drawn % 19 - 9
            : s == HUB && k == 0 ? 4
            : s == FAR_APART     ? drawn / 64 * 64 + 5
                                 : drawn);
    }
}

void hypersparse_make(int s, test_kind kind, hybrid_csr *out)
{
    builder b = build_start(s == TALL ? 5 * ROWS : ROWS, s == WIDE ? 5 * ROWS : ROWS);

    for (int64_t i = 0; i < b.rows; i++) {
        add_row(&b, (shape)s);
        build_end_row(&b);
    }
    *out = build_finish(&b, (uint64_t)s, kind);
}

/* ---- one plan ---- */

typedef struct trial {
    hybrid_engine *engine;
    hybrid_plan *plan;
    const char *name;
    size_t budget;
    int shape;
    test_kind kind;
    unsigned flags;
    int64_t width;
} trial;

static int complain(const trial *t, const char *what)
{
    fprintf(stderr,
            "hypersparse %s, shape %d, f%d, budget %zu, flags %u, %lld columns: %s\n",
            t->name, t->shape, t->kind.type == HYBRID_F64 ? 64 : 32, t->budget, t->flags,
            (long long)t->width, what);
    return 1;
}

/* Sets the rows of X that no entry of A needs to NaN: they must not be read. */
static void poison_rest(const hybrid_csr *A, hybrid_dense *X)
{
    for (int64_t j = 0; j < A->cols; j++) {
        int named = 0;
        for (int64_t k = 0; k < A->nnz && !named; k++)
            named = hy_cols(A)[k] == j;
        for (int64_t c = 0; c < X->cols && !named; c++)
            value_set(X->data, X->type,
                      X->order == HYBRID_ROW_MAJOR ? j * X->ld + c : j + c * X->ld, NAN);
    }
}

/* Checks the report and the bytes copied by a run: no more to the device than predicted,
   and from the device only rows of Y that are not empty. Returns the number of
   errors. */
static int sends_less(const trial *t, const hybrid_csr *A)
{
    const hy_hypersparse *c = &t->plan->product.hypersparse;
    const int64_t size      = A->type == HYBRID_F64 ? 8 : 4;
    hybrid_report r         = HYBRID_REPORT_INIT;
    int failed              = 0;

    if (hybrid_plan_report(t->plan, &r) != HYBRID_OK)
        return complain(t, "no report");
    const char *wrong = usage_check(&r);
    if (wrong)
        failed += complain(t, wrong);
    if (r.rows != A->rows ||
        r.h2d_bytes > r.predicted_h2d_bytes + caps_spare(t->plan, r.chunks))
        failed += complain(t, "rows are not those of A, or more was sent than predicted");
    if (!caps_kept(t->plan, t->budget))
        failed += complain(t, "more device memory was used");
    if (hy_is_hypersparse(c) && r.d2h_bytes != c->A.rows * t->width * size)
        failed += complain(t, "more of Y came back than rows that are not empty");
    return failed;
}

static int run(const trial *t, const hybrid_csr *A, int turn)
{
    static const double alphas[TURNS] = {1, 2, -1, 3}, betas[TURNS] = {0, 3, 0, 1};
    const hybrid_order orders[] = {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR};
    const double alpha = alphas[turn], beta = betas[turn];
    hybrid_dense X, Y, before;
    int failed = 0;

    dense_make(A->cols, t->width, turn, orders[turn / 2], (unsigned)turn, t->kind, &X);
    dense_make(A->rows, t->width, turn % 3, orders[turn % 2], 2, t->kind, &Y);
    dense_copy(&Y, &before);
    poison_rest(A, &X);
    if (beta == 0)
        dense_set(&Y, NAN);
    if (hybrid_spmm_run(t->plan, alpha, A, &X, beta, &Y) != HYBRID_OK) {
        failed = complain(t, hybrid_engine_message(t->engine));
    } else {
        const char *wrong =
            oracle_check_spmm(alpha, A, &X, beta, &before, &Y, t->kind.integers);
        failed = wrong ? complain(t, wrong) : 0;
        failed += dense_gaps_intact(&Y) ? 0 : complain(t, "gaps of Y were written");
        failed += sends_less(t, A);
    }
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    return failed;
}

static int check_plan(trial t, const hybrid_csr *A, int64_t *checked)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    int failed            = 0;

    o.variant                  = t.name;
    o.flags                    = t.flags;
    o.order                    = t.width > 16 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
    const hybrid_status status = hybrid_spmm_plan(t.engine, A, t.width, &o, &t.plan);
    if (status == HYBRID_NO_DEVICE_MEMORY || status == HYBRID_UNSUPPORTED)
        return 0;
    if (status != HYBRID_OK)
        return complain(&t, hybrid_engine_message(t.engine));
    if (!hy_is_hypersparse(&t.plan->product.hypersparse))
        failed = complain(&t, "empty rows and columns were sent");
    for (int turn = 0; turn < TURNS; turn++)
        failed += run(&t, A, turn);
    hybrid_plan_destroy(t.plan);
    ++*checked;
    return failed;
}

static int check_budget(trial t, const char *const *names, int64_t *checked)
{
    static const int64_t widths[] = {16, 33, 70};
    int failed                    = 0;

    for (; *names; names++)
        for (int k = 0; k < 2 * SHAPES && strncmp(*names, "spmm.", 5) == 0; k++) {
            hybrid_csr A;
            t.name  = *names;
            t.shape = k / 2;
            t.kind  = plan_kinds[k % PLAN_KINDS];
            t.flags = (k / 2 + k) % 2 ? HYBRID_RESIDENT : 0;
            t.width = widths[k % 3];
            hypersparse_make(t.shape, t.kind, &A);
            failed += check_plan(t, &A, checked);
            matrix_free(&A);
        }
    return failed;
}

int hypersparse_check(budget_open open, const char *const *names, int64_t *checked)
{
    static const size_t budgets[] = {0, (size_t)1 << 20, 150000, 80000, 40000};
    int failed                    = 0;

    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        trial t = {.budget = budgets[i]};
        if (open(t.budget, &t.engine) != HYBRID_OK)
            return failed + 1;
        settings_of(t.engine)->hypersparse_bytes = 1;
        failed += check_budget(t, names, checked);
        hybrid_engine_destroy(t.engine);
    }
    return failed;
}
