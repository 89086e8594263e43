/* tests/run/device/test_together.c - combinations of options of a plan, on a fake
   device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"
#include "support/engines/world.h"

enum { CHUNK_ROWS = 100, FLAT = 20, PADDED = 19 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* ---- one product ---- */

static hybrid_plan *plan_spmm(world *w, unsigned flags, hybrid_split split, double share)
{
    return world_plan(w, CHUNK_ROWS, flags, split, share);
}

/* Runs the plan after filling Y with another number: the run must write every
   element. */
static hybrid_report run_spmm(world *w, hybrid_plan *plan)
{
    dense_set(&w->Y, 1e9);
    assert_int_equal(hybrid_spmm_run(plan, 1, &w->A, &w->X, 0, &w->Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    return report_of(plan);
}

/* ---- HYBRID_RESIDENT with other options ---- */

static void a_resident_plan_takes_other_flags(void **state)
{
    const unsigned flags = HYBRID_RESIDENT | HYBRID_CHECK | HYBRID_ALLOW_TF32 |
                           HYBRID_DETERMINISTIC | HYBRID_EXPLAIN;
    char text[4096];
    world w;

    (void)state;
    for (int64_t width = PADDED; width <= FLAT; width++) {
        fake_delays(3, 50);
        world_open(&w, &hy_fake_backend_ops, &hy_spmm_fake_rows, 0, width);
        world_pin(&w, BOTH, 1);
        hybrid_plan *plan    = plan_spmm(&w, flags, HYBRID_SPLIT_AUTO, 0);
        const int64_t direct = fake_direct();
        for (int run = 0; run < 3; run++) {
            const hybrid_report r = run_spmm(&w, plan);
            assert_int_equal(r.resident_chunks, ROWS / CHUNK_ROWS);
            assert_int_equal(r.h2d_bytes, r.predicted_h2d_bytes);
            assert_true(run == 0 || r.h2d_bytes == COLS * FLAT * 8);
        }
        assert_int_equal(fake_direct() - direct,
                         3 * ((width == FLAT ? COLS : 0) + ROWS) * width * 8);
        hybrid_plan_details(plan, text, sizeof text);
        assert_non_null(strstr(text, "the GPU alone: the CPU rounds differently"));
        hybrid_plan_destroy(plan);
        world_pin(&w, BOTH, 0);
        world_close(&w);
    }
}

static void a_resident_plan_refuses_what_it_cannot(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;
    world w;

    (void)state;
    world_open(&w, &hy_fake_backend_ops, &hy_spmm_fake_rows, 0, FLAT);
    options.flags      = HYBRID_RESIDENT | HYBRID_CHECK | HYBRID_DETERMINISTIC;
    options.split      = HYBRID_SPLIT_SHARE;
    options.host_share = 0.5;
    assert_int_equal(hybrid_spmm_plan(w.engine, &w.A, FLAT, &options, &plan),
                     HYBRID_UNSUPPORTED);
    assert_non_null(
        strstr(hybrid_engine_message(w.engine), "the CPU rounds differently"));
    options.split    = HYBRID_SPLIT_DEFAULT;
    hy_cols(&w.A)[3] = -1;
    assert_int_equal(hybrid_spmm_plan(w.engine, &w.A, FLAT, &options, &plan),
                     HYBRID_BAD_MATRIX);
    world_close(&w);
}

/* A run fails before or after A changes. Later runs must multiply the A that was last
   announced by hybrid_plan_refresh(). */
static void refreshing_is_heard_around_a_failure(void **state)
{
    world w;

    (void)state;
    fake_delays(4, 0);
    world_open(&w, &hy_fault_backend_ops, &hy_spmm_fake_rows, 0, FLAT);
    hybrid_plan *plan = plan_spmm(&w, HYBRID_RESIDENT, HYBRID_SPLIT_DEFAULT, 0);
    run_spmm(&w, plan);
    for (int64_t call = 1; call < 60; call += 7)
        for (int when = 0; when < 3; when++) {
            world_negate(&w); /* A changes; hybrid_plan_refresh() is called before the
                                 failing run (when == 0) or after it */
            if (when == 0)
                hybrid_plan_refresh(plan);
            fault_arm(call);
            assert_int_equal(hybrid_spmm_run(plan, 1, &w.A, &w.X, 0, &w.Y),
                             HYBRID_DEVICE_FAILED);
            fault_arm(0);
            if (when == 1) {
                world_negate(&w); /* A has the values again that are cached on the
                                     device */
                run_spmm(&w, plan);
                world_negate(&w);
            }
            if (when > 0)
                hybrid_plan_refresh(plan);
            run_spmm(&w, plan);
            const hybrid_report r = run_spmm(&w, plan);
            assert_int_equal(r.h2d_bytes, world_bytes(&w.X));
        }
    hybrid_plan_destroy(plan);
    world_close(&w);
}

/* ---- TF32 ---- */

static int allowed;       /* value that features.allow_tf32 must have whenever
                             listening_cost() is called */
static int64_t deaf, all; /* number of calls of listening_cost() with another value, and
                             of all calls */

static hy_cost listening_cost(const hy_features *f, const hy_rates *r)
{
    __atomic_fetch_add(&all, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&deaf, f->allow_tf32 != allowed, __ATOMIC_RELAXED);
    return hy_spmm_fake_rows.cost(f, r);
}

static void every_part_of_a_product_knows_of_tf32(void **state)
{
    const hybrid_split splits[] = {HYBRID_SPLIT_GPU, HYBRID_SPLIT_SHARE};
    hy_variant listening        = hy_spmm_fake_rows;
    int gathered                = 0;
    world w;

    (void)state;
    listening.cost = listening_cost;
    for (size_t budget = 4 << 20; budget > 100 << 10; budget /= 6)
        for (int i = 0; i < 6; i++) {
            const unsigned resident = i < 2 ? HYBRID_RESIDENT : 0;
            allowed                 = i % 2;
            world_open(&w, &hy_fake_backend_ops, &listening, budget, FLAT);
            hybrid_plan *plan =
                plan_spmm(&w, resident | (allowed ? HYBRID_ALLOW_TF32 : 0),
                          splits[i >= 4], i < 4 ? 0 : 0.4);
            gathered += run_spmm(&w, plan).gathered;
            hybrid_plan_destroy(plan);
            world_close(&w);
        }
    assert_true(all > 100 && gathered >= 2);
    assert_int_equal(deaf, 0);
}

/* ---- shared with the host ---- */

/* X and Y are pinned, and host and device share the product. The device copies its own
   rows of Y directly, and X as far as its rows need it. */
static void a_shared_product_uses_pinned_arrays(void **state)
{
    static const double shares[] = {0, 0.25, 0.61, 1};
    world w;

    (void)state;
    for (int64_t width = PADDED; width <= FLAT; width++)
        for (int s = 0; s < 4; s++) {
            fake_delays((unsigned)s, 100);
            world_open(&w, &hy_fake_backend_ops, &hy_spmm_fake_rows, 0, width);
            world_pin(&w, BOTH, 1);
            hybrid_plan *plan     = plan_spmm(&w, 0, HYBRID_SPLIT_SHARE, shares[s]);
            const int64_t up      = width == FLAT ? (int64_t)world_bytes(&w.X) : 0;
            const int64_t before  = fake_direct();
            const hybrid_report r = run_spmm(&w, plan);
            assert_int_equal(r.host_chunks > 0, s > 0);
            assert_in_range(fake_direct() - before, r.d2h_bytes, r.d2h_bytes + up);
            assert_int_equal(r.d2h_bytes % (width * 8), 0);
            assert_in_range(r.d2h_bytes / (width * 8) + (int64_t)(shares[s] * ROWS),
                            ROWS - CHUNK_ROWS, ROWS + CHUNK_ROWS);
            hybrid_plan_destroy(plan);
            world_pin(&w, BOTH, 0);
            world_close(&w);
        }
}

static double share_of(world *w)
{
    hybrid_plan *plan  = plan_spmm(w, 0, HYBRID_SPLIT_AUTO, 0);
    const double share = plan->forecasts[HY_RUNS_PINNED].share;

    hybrid_plan_destroy(plan);
    return share;
}

/* The default share of the host follows the measured rates: the slower site gets less
   work. */
static void the_split_follows_measured_speeds(void **state)
{
    world w;

    (void)state;
    world_open(&w, &hy_fake_backend_ops, &hy_spmm_fake_rows, 0, FLAT);
    hy_measured *device = &w.engine->device->measured, *host = &w.engine->host->measured;
    const double built_in = share_of(&w);
    device->d2h_Bps       = 1e8;
    const double slow_bus = share_of(&w);
    host->mem_Bps         = 1e6;
    host->flops           = 1e6;
    const double slow_cpu = share_of(&w);
    assert_true(slow_bus > built_in && slow_cpu < slow_bus);
    assert_true(built_in >= 0 && slow_bus < 1 && slow_cpu >= 0);
    world_close(&w);
}

/* ---- results as operands ---- */

static void square(world *w, const hybrid_csr *A, const hybrid_csr *B, hybrid_csr *C)
{
    oracle reference;

    oracle_spgemm(A, B, &reference);
    assert_int_equal(hybrid_spgemm(w->engine, A, B, C), HYBRID_OK);
    assert_null(oracle_check(&reference, C, 1));
    oracle_free(&reference);
}

/* The engine pins pages of a result when they are used for a second time. The caller
   cannot pin them then, and need not. Pages that are used for the first time can be
   pinned by the caller. */
static void results_are_pinned_by_whoever_comes_first(void **state)
{
    int by_caller = 0, by_engine = 0;
    hybrid_csr S;
    world w;

    (void)state;
    fake_delays(6, 100);
    world_open(&w, &hy_fake_backend_ops, &hy_spmm_fake_rows, 0, FLAT);
    matrix_random(1500, 1500, 6, 9, f64, &S);
    for (int run = 0; run < 5; run++) {
        hybrid_csr C, D;
        square(&w, &S, &S, &C);
        const size_t bytes         = (size_t)C.nnz * 8;
        const hybrid_status pinned = hybrid_pin(w.engine, C.val, bytes);
        assert_true(pinned == HYBRID_OK || pinned == HYBRID_NO_MEMORY);
        by_caller += pinned == HYBRID_OK;
        by_engine += pinned != HYBRID_OK;
        const int64_t before = fake_direct();
        square(&w, &S, &C, &D);
        assert_true(fake_direct() - before > (int64_t)bytes / 2);
        if (pinned == HYBRID_OK)
            assert_int_equal(hybrid_unpin(w.engine, C.val), HYBRID_OK);
        hybrid_csr_free(w.engine, &C);
        hybrid_csr_free(w.engine, &D);
    }
    assert_true(by_caller > 0 && by_engine > 0);
    matrix_free(&S);
    world_close(&w);
}

/* ---- sizes ---- */

static void work_that_overflows_is_refused(void **state)
{
    int64_t row_ptr[]  = {0, 1};
    int32_t col[]      = {0};
    double val[]       = {1};
    const hybrid_csr A = {1, INT32_MAX, 1, HYBRID_I64, row_ptr, col, val, HYBRID_F64};
    const int64_t wide = (int64_t)1 << 40;
    hybrid_plan *plan  = NULL;
    world w;

    (void)state;
    world_open(&w, &hy_fake_backend_ops, &hy_spmm_fake_rows, 0, FLAT);
    assert_int_equal(hybrid_spmm_plan(w.engine, &A, wide, NULL, &plan),
                     HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(hybrid_engine_message(w.engine),
                           "dense_cols is 1099511627776, and must be in 0.."));
    assert_null(plan);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resident_plan_takes_other_flags),
        cmocka_unit_test(a_resident_plan_refuses_what_it_cannot),
        cmocka_unit_test(refreshing_is_heard_around_a_failure),
        cmocka_unit_test(every_part_of_a_product_knows_of_tf32),
        cmocka_unit_test(a_shared_product_uses_pinned_arrays),
        cmocka_unit_test(the_split_follows_measured_speeds),
        cmocka_unit_test(results_are_pinned_by_whoever_comes_first),
        cmocka_unit_test(work_that_overflows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
