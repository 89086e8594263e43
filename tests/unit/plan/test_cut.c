/* tests/unit/plan/test_cut.c - planning runs out of memory at any point.

   A plan that fails must leave nothing of the layouts that it tried before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/plan/plan.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

enum { COLUMNS = 40, LEAST_KB = 8, MOST_KB = 512 };

/* How X lies on the device in the plan: in a ring of rows (WINDOW), in column blocks
   (PANELS), gathered with each chunk, or whole. */
typedef enum way { WINDOW, PANELS, GATHERED, WHOLE, WAYS } way;

typedef struct trying {
    const hybrid_csr *A;
    unsigned flags;
    int64_t seen[WAYS];
} trying;

static way way_of(const hy_layout *layout)
{
    if (layout->image.axis == HY_AXIS_ROWS)
        return WINDOW;
    if (layout->image.axis == HY_AXIS_COLS)
        return PANELS;
    return hy_image_is_gathered(&layout->image) ? GATHERED : WHOLE;
}

static hybrid_status make_plan(hybrid_engine *engine, void *arg)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    trying *t                   = arg;
    hybrid_plan *plan;

    options.variant            = "spmm.fake.rows";
    options.flags              = t->flags;
    const hybrid_status status = hybrid_spmm_plan(engine, t->A, COLUMNS, &options, &plan);
    if (status == HYBRID_OK) {
        t->seen[way_of(&plan->portions->layout)]++;
        hybrid_plan_destroy(plan);
    }
    return fake_explained(engine, status);
}

/* Makes a matrix. Each row has `entries` consecutive columns, and begins `step` columns
   after the row before. */
static hybrid_csr banded(int64_t rows, int64_t cols, int64_t step, int64_t entries)
{
    builder b = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = step * i; j < step * i + entries && j < cols; j++)
            build_add(&b, j);
        build_end_row(&b);
    }
    return build_finish(&b, 3, f64);
}

static int fits(const trying *t, size_t bytes)
{
    hybrid_engine *engine      = fake_spmm(bytes);
    trying once                = *t;
    const hybrid_status status = make_plan(engine, &once);

    hybrid_engine_destroy(engine);
    return status == HYBRID_OK;
}

/* Tries budgets, each twice or four times as large as the one before. `turn`: number of
   the first. */
static void fail_each(trying *t, size_t turn)
{
    const size_t step = (size_t)case_step(2);

    for (size_t bytes = (size_t)LEAST_KB << (10 + turn % step); bytes <= MOST_KB << 10;
         bytes <<= step) {
        const fake_failing f = {make_plan, t, bytes, 1000, 1000};
        if (fits(t, bytes))
            assert_true(fake_fail_each(&f, &fault_allocation) > 5);
    }
}

static void each_allocation_fails_once(void **state)
{
    hybrid_csr matrices[] = {
        banded(1000, 1000, 1, 5), banded(200, 2000, 10, 1), {.rows = 0}};
    trying t = {.A = NULL};

    (void)state;
    fake_delays(1, 0);
    matrix_random(800, 800, 9, 5, f64, &matrices[2]);
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        t.A     = &matrices[i];
        t.flags = 0;
        fail_each(&t, i);
        t.flags = HYBRID_RESIDENT;
        fail_each(&t, i + 1);
        matrix_free(&matrices[i]);
    }
    for (way w = 0; w < WAYS; w++)
        assert_true(t.seen[w] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
