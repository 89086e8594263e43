/* tests/run/device/test_transposed.c - column-major X and Y that the device
   transposes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/forgetful.h"
#include "support/check/oracle.h"

enum { ROWS = 1300, COLS = 1100 };

static const test_kind kinds[] = {{HYBRID_F64, HYBRID_I64, 1},
                                  {HYBRID_F32, HYBRID_I32, 1}};

typedef struct trial {
    const char *variant;
    int64_t width;
    hybrid_order x, y;
    double alpha, beta;
    test_kind kind;
} trial;

/* Runs the product and checks Y. Returns the maximum of device memory in the run, in
   bytes. */
static int64_t run_trial(hybrid_engine *engine, const trial *t)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_report report        = HYBRID_REPORT_INIT;
    hybrid_dense X, Y, before;
    hybrid_plan *plan;
    hybrid_csr A;

    matrix_random(ROWS, COLS, 6, 31, t->kind, &A);
    dense_make(COLS, t->width, 3, t->x, 32, t->kind, &X);
    dense_make(ROWS, t->width, 5, t->y, 33, t->kind, &Y);
    dense_copy(&Y, &before);
    options.variant    = t->variant;
    options.chunk_rows = ROWS / 4;
    assert_int_equal(hybrid_spmm_plan(engine, &A, t->width, &options, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spmm_run(plan, t->alpha, &A, &X, t->beta, &Y), HYBRID_OK);
    assert_null(oracle_check_spmm(t->alpha, &A, &X, t->beta, &before, &Y, 1));
    assert_true(dense_gaps_intact(&Y));
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    hybrid_plan_destroy(plan);
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    matrix_free(&A);
    return report.peak_device_bytes;
}

static const trial plain = {.variant = "spmm.fake.rows",
                            .width   = 20,
                            .x       = HYBRID_COL_MAJOR,
                            .y       = HYBRID_COL_MAJOR,
                            .alpha   = 1,
                            .kind    = {HYBRID_F64, HYBRID_I64, 1}};

/* Runs the product with `device_bytes` of device memory (0: no cap). Returns how many
   parts of X and Y the device transposed. */
static int64_t transposes_of(const trial *t, size_t device_bytes)
{
    hybrid_engine *engine = fake_spmm(device_bytes);
    const int64_t before  = fake_transposes();

    run_trial(engine, t);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
    return fake_transposes() - before;
}

static void every_width_and_order(void **state)
{
    static const int64_t widths[] = {2, 3, 4, 31, 32, 33, 129};

    (void)state;
    fake_delays(1, 50);
    for (int w = 0; w < 7; w++)
        for (int k = 0; k < 2; k++)
            for (int orders = 0; orders < 4; orders++) {
                trial t = plain;
                t.width = widths[w];
                t.kind  = kinds[k];
                t.x     = orders & 1 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
                t.y     = orders & 2 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
                t.alpha = w % 2 ? 1 : 2;
                t.beta  = w % 3 ? 0 : 3;
                assert_int_equal(transposes_of(&t, 0) > 0, orders > 0);
            }
}

static void what_is_in_columns_already_is_not_turned(void **state)
{
    trial t = plain;

    (void)state;
    t.variant = "spmm.fake.tiled";
    assert_int_equal(transposes_of(&t, 0), 0);
    t       = plain;
    t.width = 1;
    assert_int_equal(transposes_of(&t, 0), 0);
}

/* With less device memory the room for transposing shrinks: it holds a whole chunk of Y
   and a piece of X, or parts of them (more are transposed), or is too small, so that
   workers transpose. */
static void room_is_a_part_of_the_budget(void **state)
{
    const int64_t all = transposes_of(&plain, 0);
    int none = 0, parts = 0;

    (void)state;
    for (size_t budget = 250000; budget < 3000000; budget += 100000) {
        const int64_t transposes = transposes_of(&plain, budget);
        none += transposes == 0;
        parts += transposes > all;
    }
    assert_true(all >= 8); /* four chunks of Y, and four pieces of X */
    assert_true(none > 0);
    assert_true(parts > 0);
}

/* X counts as pinned in the planner, the prediction and the loader, and is then unpinned
   during the run, which must fail with a message. The test is skipped with several
   devices: these ask in random order, and fake devices refuse to copy pageable
   memory. */
static void what_is_unpinned_in_a_run_is_told(void **state)
{
    hybrid_dense X, Y;
    hybrid_csr A;

    (void)state;
    if (getenv("HYBRID_DEVICES"))
        skip();
    hybrid_engine *engine = fake_spmm(0);
    matrix_random(ROWS, COLS, 6, 31, plain.kind, &A);
    dense_make(COLS, 20, 0, HYBRID_COL_MAJOR, 32, plain.kind, &X);
    dense_make(ROWS, 20, 0, HYBRID_ROW_MAJOR, 33, plain.kind, &Y);
    forgetful_begin(engine, X.data, (size_t)(COLS * X.cols) * 8,
                    3); /* the first three questions: of planner, prediction and
                           loader */
    assert_int_equal(hybrid_spmm(engine, 1, &A, &X, 0, &Y), HYBRID_BAD_STATE);
    assert_true(forgetful_end(engine) > 3);
    assert_non_null(strstr(hybrid_engine_message(engine), "X was unpinned"));
    dense_free(&X);
    dense_free(&Y);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static hybrid_status try_one(hybrid_engine *engine, void *arg)
{
    const trial *t = arg;
    hybrid_dense X, Y;
    hybrid_csr A;

    matrix_random(ROWS, COLS, 6, 31, t->kind, &A);
    dense_make(COLS, t->width, 0, t->x, 32, t->kind, &X);
    dense_make(ROWS, t->width, 0, t->y, 33, t->kind, &Y);
    const hybrid_status status =
        fake_explained(engine, hybrid_spmm(engine, 1, &A, &X, 0, &Y));
    dense_free(&X);
    dense_free(&Y);
    matrix_free(&A);
    return status;
}

static void every_call_may_fail(void **state)
{
    trial t                = plain;
    const fake_failing all = {try_one, &t, 0, 10000, 20};

    (void)state;
    fake_delays(3, 20);
    assert_true(fake_fail_each(&all, &fault_device) > 30);
    assert_true(fake_fail_each(&all, &fault_allocation) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_and_order),
        cmocka_unit_test(what_is_in_columns_already_is_not_turned),
        cmocka_unit_test(room_is_a_part_of_the_budget),
        cmocka_unit_test(what_is_unpinned_in_a_run_is_told),
        cmocka_unit_test(every_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
