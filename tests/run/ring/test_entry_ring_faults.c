/* tests/run/ring/test_entry_ring_faults.c - plans for a ring of entries that do not
   match their operands, and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "engine/schedules/schedule.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/settings.h"
#include "support/inputs/builder.h"
#include "support/device/on_device.h"

static const test_kind f64                = {HYBRID_F64, HYBRID_I64, 1};
static const hy_variant *const variants[] = {&hy_spgemm_fake_esc, NULL};

/* ---- products ---- */

enum { ROWS = 1500 };

/* Makes a matrix of which row i has up to 7 entries near column i; some rows have
   none. */
static hybrid_csr band(unsigned seed)
{
    builder b = build_start(ROWS, ROWS);

    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t count = test_below(seed, (uint64_t)i, 8);
        for (int64_t k = 0; k < count; k++) {
            const int64_t j = i - 4 + test_below(seed + 1, (uint64_t)(i * 8 + k), 9);
            if (j >= 0 && j < ROWS)
                build_add(&b, j);
        }
        build_end_row(&b);
    }
    return build_finish(&b, seed, f64);
}

typedef struct product {
    hybrid_csr A, B;
    oracle C;
} product;

static void open_product(unsigned seed, int squared, product *p)
{
    p->A = band(seed);
    p->B = squared ? p->A : band(seed + 7);
    oracle_spgemm(&p->A, &p->B, &p->C);
}

static void close_product(product *p)
{
    oracle_free(&p->C);
    if (p->B.row_ptr != p->A.row_ptr)
        matrix_free(&p->B);
    matrix_free(&p->A);
}

/* Makes a plan, runs it `runs` times, and checks C. Sets *held to the number of entries
   of B in the ring; 0: the plan has another schedule. Returns the status. */
static hybrid_status multiply(hybrid_engine *engine, const product *p, unsigned flags,
                              int runs, int64_t *held)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.flags        = flags;
    options.split        = HYBRID_SPLIT_GPU;
    hybrid_status status = hybrid_spgemm_plan(engine, &p->A, &p->B, &options, &plan);
    if (status != HYBRID_OK)
        return status;
    const hy_image *image = &plan->portions->layout.image;
    *held                 = image->axis == HY_AXIS_ENTRIES ? image->held : 0;
    for (int k = 0; k < runs && status == HYBRID_OK; k++) {
        hybrid_csr C;
        status = hybrid_spgemm_run(plan, &p->A, &p->B, &C);
        if (status == HYBRID_OK) {
            assert_null(oracle_check(&p->C, &C, 1));
            hybrid_csr_free(engine, &C);
        }
    }
    hybrid_plan_destroy(plan);
    return status;
}

/* ---- operands that were not planned ---- */

/* The plan has B in a ring. A run with another pattern, whose chunks need rows of B that
   are not in the ring, fails instead of reading other entries. A run with longer rows of
   B, which would wait for ever, fails too. */
static void other_patterns_are_refused(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_plan *plan;
    hybrid_csr C;
    product p;

    (void)state;
    open_product(3, 0, &p);
    assert_int_equal(fake_open(variants, (size_t)44 << 10, &engine), HYBRID_OK);
    settings_of(engine)->schedule = &hy_schedule_entry_ring;
    options.split                 = HYBRID_SPLIT_GPU;
    assert_int_equal(hybrid_spgemm_plan(engine, &p.A, &p.B, &options, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(plan, &p.A, &p.B, &C), HYBRID_OK);
    hybrid_csr_free(engine, &C);

    int32_t *last     = hy_cols(&p.A) + hy_offset(&p.A, 20) - 1;
    const int32_t was = *last;
    *last             = ROWS - 1;
    assert_int_equal(hybrid_spgemm_run(plan, &p.A, &p.B, &C), HYBRID_BAD_STATE);
    assert_non_null(strstr(hybrid_engine_message(engine), "make a new plan"));
    *last = was;

    int64_t *row_ptr = p.B.row_ptr;
    for (int64_t i = 1; i < ROWS; i++)
        row_ptr[i] = p.B.nnz; /* row 0 of B has all entries */
    assert_int_equal(hybrid_spgemm_run(plan, &p.A, &p.B, &C), HYBRID_BAD_STATE);
    assert_non_null(strstr(hybrid_engine_message(engine), "make a new plan"));
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    close_product(&p);
}

static void a_on_the_device_is_refused(void **state)
{
    hybrid_engine *engine;
    hybrid_plan *plan;
    product p;

    (void)state;
    open_product(3, 0, &p);
    assert_int_equal(fake_open(variants, 0, &engine), HYBRID_OK);
    settings_of(engine)->schedule = &hy_schedule_entry_ring;
    hybrid_csr a                  = on_device_csr(0, &p.A, 0);
    assert_int_equal(hybrid_spgemm_plan(engine, &a, &p.B, NULL, &plan),
                     HYBRID_UNSUPPORTED);
    assert_non_null(strstr(hybrid_engine_message(engine), "workers cannot read"));
    on_device_csr_free(&a);
    hybrid_engine_destroy(engine);
    close_product(&p);
}

/* ---- failures ---- */

static hybrid_status multiply_once(hybrid_engine *engine, void *arg)
{
    int64_t held = 0;

    settings_of(engine)->schedule = &hy_schedule_entry_ring;
    return multiply(engine, arg, 0, 1, &held);
}

static hybrid_status explained(hybrid_engine *engine, void *arg)
{
    return fake_explained(engine, multiply_once(engine, arg));
}

static void every_call_fails_once(void **state)
{
    product p;

    (void)state;
    open_product(3, 0, &p);
    const fake_failing f = {explained, &p, (size_t)44 << 10, 20000, 8};
    fake_delays(1, 0);
    assert_true(fake_fail_each(&f, &fault_allocation) > 5);
    assert_true(fake_fail_each(&f, &fault_device) > 50);
    close_product(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_patterns_are_refused),
        cmocka_unit_test(a_on_the_device_is_refused),
        cmocka_unit_test(every_call_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
