/* tests/run/device/test_collect.c - products whose device reads rows of B from host
   memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/data/csr.h"
#include "engine/run/collect.h"
#include "engine/schedules/schedule.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/settings.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* A quarter of B fits BUDGET bytes. Rows of A are spread over all of B. */
enum { ROWS = 2000, EACH = 6, BUDGET = 48 << 10 };

typedef struct world {
    hybrid_csr A, B;
    oracle product;
    int64_t entries; /* entries of B that devices read in all runs */
} world;

/* Makes A, and a B in which every `step`-th row has entries. */
static void make(world *w, int64_t step)
{
    builder a = build_start(ROWS, ROWS), b = build_start(ROWS, ROWS);

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < EACH; k++) {
            const uint64_t n = (uint64_t)(i * EACH + k);
            build_add(&a, test_below(1, n, ROWS));
            if (i % step == 0)
                build_add(&b, test_below(2, n, ROWS));
        }
        build_end_row(&a);
        build_end_row(&b);
    }
    w->A       = build_finish(&a, 1, f64);
    w->B       = build_finish(&b, 2, f64);
    w->entries = 0;
    oracle_spgemm(&w->A, &w->B, &w->product);
}

static void clear(world *w)
{
    oracle_free(&w->product);
    matrix_free(&w->A);
    matrix_free(&w->B);
}

/* Computes the product with a schedule, and checks the result. NULL: the engine
   chooses. */
static hybrid_status compute_with(const hy_schedule *schedule, hybrid_engine *engine,
                                  world *w)
{
    const int64_t before = fake_collected();
    const size_t pinned  = engine->ctx.pins.count;
    hybrid_csr C;

    settings_of(engine)->schedule = schedule;
    const hybrid_status status =
        fake_explained(engine, hybrid_spgemm(engine, &w->A, &w->B, &C));
    w->entries += fake_collected() - before;
    assert_int_equal(engine->ctx.pins.count, pinned);
    if (status != HYBRID_OK)
        return status;
    assert_null(oracle_check(&w->product, &C, 1));
    hybrid_csr_free(engine, &C);
    return HYBRID_OK;
}

static hybrid_status compute(hybrid_engine *engine, void *arg)
{
    return compute_with(&hy_schedule_collect, engine, arg);
}

static void computed(world *w, int64_t budget)
{
    hybrid_engine *engine = fake_spmm((size_t)budget);

    assert_int_equal(compute(engine, w), HYBRID_OK);
    hybrid_engine_destroy(engine);
}

/* Chunks need all rows of B once at least. */
static void the_device_reads_rows(void **state)
{
    world w;

    (void)state;
    make(&w, 1);
    computed(&w, BUDGET);
    assert_true(w.entries >= w.B.nnz);
    clear(&w);
}

/* A large B is not copied if the engine may choose. */
static void a_b_that_does_not_fit_is_collected(void **state)
{
    hybrid_report report  = HYBRID_REPORT_INIT;
    hybrid_engine *engine = fake_spmm(BUDGET);
    world w;

    (void)state;
    make(&w, 1);
    assert_int_equal(compute_with(NULL, engine, &w), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_OK);
    assert_true(report.gathered == 1 && w.entries > 0);
    hybrid_engine_destroy(engine);
    clear(&w);
}

/* Arrays that the caller has pinned stay pinned. */
static void pinned_arrays_are_read_as_they_are(void **state)
{
    hybrid_engine *engine = fake_spmm(BUDGET);
    world w;

    (void)state;
    make(&w, 1);
    assert_int_equal(hybrid_pin(engine, w.B.val, (size_t)w.B.nnz * 8), HYBRID_OK);
    assert_int_equal(compute(engine, &w), HYBRID_OK);
    assert_true(w.entries >= w.B.nnz);
    assert_int_equal(hybrid_pin(engine, w.B.col, (size_t)w.B.nnz * 4), HYBRID_OK);
    assert_int_equal(compute(engine, &w), HYBRID_OK);
    assert_true(w.entries >= 2 * w.B.nnz);
    hybrid_engine_destroy(engine);
    clear(&w);
}

/* If the arrays of B cannot be pinned, because a part of one is pinned already, workers
   gather the rows. */
static void workers_gather_what_cannot_be_pinned(void **state)
{
    hybrid_engine *engine = fake_spmm(BUDGET);
    world w;

    (void)state;
    make(&w, 1);
    assert_int_equal(hybrid_pin(engine, w.B.val, 800), HYBRID_OK);
    assert_int_equal(compute(engine, &w), HYBRID_OK);
    assert_int_equal(w.entries, 0);
    assert_string_equal(hybrid_engine_message(engine), "");
    hybrid_engine_destroy(engine);
    clear(&w);
}

/* A device whose kernels cannot read pinned memory at the host's addresses gets another
   schedule. */
static void a_device_that_cannot_read_is_not_asked(void **state)
{
    hybrid_engine *engine = fake_spmm(BUDGET);
    world w;

    (void)state;
    make(&w, 1);
    engine->device->reads_host = 0;
    assert_int_equal(compute_with(NULL, engine, &w), HYBRID_OK);
    assert_int_equal(w.entries, 0);
    hybrid_engine_destroy(engine);
    clear(&w);
}

/* Two engines share B. The second one would find B pinned, but only until the run of the
   first one ends. */
static void another_engine_does_not_rely_on_it(void **state)
{
    hybrid_engine *first = fake_spmm(BUDGET), *second = fake_spmm(BUDGET);
    hybrid_plan *plan;
    hy_collect held;
    int collects;
    world w;

    (void)state;
    make(&w, 1);
    settings_of(first)->schedule = &hy_schedule_collect;
    assert_int_equal(hybrid_spgemm_plan(first, &w.A, &w.B, NULL, &plan), HYBRID_OK);
    assert_int_equal(hy_collect_begin(plan, &w.B, &collects, &held), HYBRID_OK);
    assert_int_equal(collects, 1);
    assert_int_equal(compute(second, &w), HYBRID_OK);
    assert_int_equal(w.entries, 0);
    hy_collect_end(&held);
    assert_int_equal(compute(second, &w), HYBRID_OK);
    assert_true(w.entries >= w.B.nnz);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(first);
    hybrid_engine_destroy(second);
    clear(&w);
}

/* Rows of B with hardly any entries leave no room for a list of their positions. */
static void workers_gather_rows_that_are_nearly_empty(void **state)
{
    world w;

    (void)state;
    make(&w, 20);
    computed(&w, BUDGET);
    assert_int_equal(w.entries, 0);
    clear(&w);
}

static void calls_fail(void **state)
{
    world w;
    const fake_failing f = {compute, &w, BUDGET, 1 << 20, 8};

    (void)state;
    make(&w, 1);
    assert_true(fake_fail_each(&f, &fault_device) > 100);
    assert_true(fake_fail_each(&f, &fault_lost) > 100);
    assert_true(fake_fail_each(&f, &fault_pin) > 1);
    assert_true(fake_fail_each(&f, &fault_allocation) > 20);
    clear(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_reads_rows),
        cmocka_unit_test(a_b_that_does_not_fit_is_collected),
        cmocka_unit_test(pinned_arrays_are_read_as_they_are),
        cmocka_unit_test(workers_gather_what_cannot_be_pinned),
        cmocka_unit_test(a_device_that_cannot_read_is_not_asked),
        cmocka_unit_test(another_engine_does_not_rely_on_it),
        cmocka_unit_test(workers_gather_rows_that_are_nearly_empty),
        cmocka_unit_test(calls_fail),
    };
    fake_delays(1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
