/* tests/unit/rates/test_least_bytes.c - the reference time, and where rates come from. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "support/fake/fake_backend.h"
#include "support/engines/places.h"
#include "support/products/usage.h"
#include "support/products/usage_runs.h"

enum { WIDTH = 20, CHUNK = 60, CHUNKS = 15 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* ---- bytes computed by hand ---- */

/* ---- rates ---- */

static void rates_say_where_they_come_from(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    hybrid_report r = usage_run(&w, CHUNK, HYBRID_SPLIT_GPU, 0, 0);
    assert_int_equal(r.rates_measured, 0);
    for (int k = HYBRID_HOST_MEMORY; k < HYBRID_RESOURCES; k++)
        assert_int_equal(r.use[k].origin, HYBRID_BUILT_IN);
    assert_true(fabs(r.use[HYBRID_BUS_UP].rate - 50e9) < 1);
    assert_true(fabs(r.use[HYBRID_DEVICE].rate - 1e12) < 1);
    w.engine->device->measured =
        (hy_measured){.h2d_Bps = 2e12, .d2h_Bps = 3e12, .mem_Bps = 4e12};
    r = usage_run(&w, CHUNK, HYBRID_SPLIT_GPU, 0, 0);
    assert_int_equal(r.rates_measured, 0); /* the host's rates are built in */
    assert_int_equal(r.use[HYBRID_HOST_MEMORY].origin, HYBRID_BUILT_IN);
    assert_int_equal(r.use[HYBRID_BUS_DOWN].origin, HYBRID_MEASURED);
    assert_true(fabs(r.use[HYBRID_BUS_DOWN].rate - 3e12) < 1);
    assert_int_equal(usage_run(&w, CHUNK, HYBRID_SPLIT_HOST, 0, 0).rates_measured, 0);
    w.engine->host->measured.mem_Bps = 1e12;
    assert_int_equal(usage_run(&w, CHUNK, HYBRID_SPLIT_GPU, 0, 0).rates_measured, 1);
    assert_int_equal(usage_run(&w, CHUNK, HYBRID_SPLIT_HOST, 0, 0).rates_measured, 1);
    world_close(&w);
}

/* ---- the reference ---- */

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g, not %.17g", value, wanted);
}

static void operands_and_result_move_once(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    const double a = 8.0 + (double)usage_csr_rows(ROWS, w.A.nnz);
    const double x = (double)world_bytes(&w.X), y = (double)world_bytes(&w.Y);
    usage_set_rates(w.engine, 1e12);
    w.engine->host->measured.mem_Bps = 1e15;
    assert_near(usage_run(&w, CHUNK, HYBRID_SPLIT_GPU, 0, 1).reference_s, (a + x) / 1e12);
    assert_near(usage_run(&w, CHUNK, HYBRID_SPLIT_HOST, 0, 1).reference_s,
                (a + x + y) / 1e15);
    w.engine->device->measured.d2h_Bps = 1e11;
    assert_near(usage_run(&w, CHUNK, HYBRID_SPLIT_GPU, 0, 0).reference_s, y / 1e11);
    w.engine->device->measured.d2h_Bps = 1e13;
    hybrid_plan *plan = world_plan(&w, CHUNK, HYBRID_RESIDENT, HYBRID_SPLIT_GPU, 0);
    assert_near(usage_run_plan(&w, plan, 0).reference_s, (a + x) / 1e12);
    assert_near(usage_run_plan(&w, plan, 0).reference_s, (8 + x) / 1e12);
    hybrid_plan_destroy(plan);
    world_close(&w);
}

static void a_matrix_that_is_both_operands_moves_once(void **state)
{
    hybrid_engine *engine = place_open(ON_DEVICE, 0);
    hybrid_csr A, B, C;
    int64_t nnz;

    (void)state;
    matrix_random(300, 300, 6, 3, f64, &A);
    matrix_random(300, 300, 6, 4, f64, &B);
    usage_set_rates(engine, 1e12);
    engine->device->measured.d2h_Bps = 1e15;
    const double a                   = 8.0 + (double)usage_csr_rows(300, A.nnz);
    const double b                   = 8.0 + (double)usage_csr_rows(300, B.nnz);
    assert_near(usage_square(engine, &A, &nnz).reference_s, a / 1e12);
    assert_int_equal(hybrid_spgemm(engine, &A, &B, &C), HYBRID_OK);
    assert_near(engine->report.reference_s, (a + b) / 1e12);
    hybrid_csr_free(engine, &C);
    engine->device->measured.d2h_Bps = 1e9;
    const hybrid_report r            = usage_square(engine, &A, &nnz);
    assert_near(r.reference_s, 8e-9 + (double)usage_csr_rows(300, nnz) / 1e9);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
    matrix_free(&B);
}

/* With rates of 1 byte/s the run is faster than the reference. */
static void the_speedup_may_exceed_one(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    usage_set_rates(w.engine, 1);
    assert_true(usage_run(&w, CHUNK, HYBRID_SPLIT_HOST, 0, 0).speedup_over_reference > 1);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_say_where_they_come_from),
        cmocka_unit_test(operands_and_result_move_once),
        cmocka_unit_test(a_matrix_that_is_both_operands_moves_once),
        cmocka_unit_test(the_speedup_may_exceed_one),
    };
    return cmocka_run_group_tests_name("least_bytes", tests, NULL, NULL);
}
