/* tests/run/devices/test_split_resident.c - A cached on a fake device in products shared
   with the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/run/resident.h"
#include "support/fake/fake_backend.h"
#include "support/runs/pinned_runs.h"
#include "support/engines/places.h"

/* ---- shares and cached A ---- */

static void shares_of_a_resident_plan_are_kept(void **state)
{
    static const double shares[] = {0, 0.3, 0.7, 1};
    world w;

    (void)state;
    for (unsigned seed = 1; seed < 9; seed++) {
        const double share = shares[seed % 4];
        fake_delays(seed, 100);
        runs_open(&w, &hy_spmm_fake_rows, 0);
        world_pin(&w, seed % 4, 1);
        hybrid_plan *plan = runs_plan(&w, HYBRID_RESIDENT, HYBRID_SPLIT_SHARE, share);
        assert_int_equal(report_of(plan).resident_chunks, 0);
        for (int i = 0; i < 6; i++) {
            const hybrid_report r = run_once(&w, plan, i % 2 ? 3 : 0);
            const int64_t x       = COLS * WIDTH * 8;
            assert_int_equal(r.host_chunks > 0, share > 0);
            assert_in_range(r.host_products,
                            (int64_t)((share - 0.1) * (double)r.flops / 2) * (share > 0),
                            (int64_t)((share + 0.1) * (double)r.flops / 2));
            assert_int_equal(r.resident_chunks, hy_plan_resident_chunks(plan));
            assert_in_range(r.resident_chunks + (int64_t)(share * CHUNKS), CHUNKS - 1,
                            CHUNKS + 1);
            /* but for the first run and those after a refresh, A is not sent again: its
               rows are cached */
            assert_true(i % 3 == 0 || r.h2d_bytes <= x);
            if (i % 3 == 2) {
                world_negate(&w);
                hybrid_plan_refresh(plan);
                assert_int_equal(hy_resident_bytes(plan->portions), 0);
            }
        }
        hybrid_plan_destroy(plan);
        world_pin(&w, seed % 4, 0);
        world_close(&w);
    }
}

/* Rows that the host computed are packed and sent when the device gets them in a later
   run. When all of A is cached, runs no longer need the arrays of A. */
static void what_the_host_had_comes_when_the_device_takes_it(void **state)
{
    static const double shares[] = {1, 0.7, 0.7, 0.3, 0.5, 0};
    int64_t there                = 0;
    world w;

    (void)state;
    fake_delays(3, 100);
    runs_open(&w, &hy_spmm_fake_rows, 0);
    const hybrid_csr bare = runs_without_arrays(&w.A);
    hybrid_plan *plan     = runs_plan(&w, HYBRID_RESIDENT, HYBRID_SPLIT_SHARE, 0.5);
    for (int i = 0; i < 6; i++) {
        runs_share(plan, shares[i]);
        const hybrid_report r = run_once(&w, plan, 0);
        assert_in_range(r.resident_chunks, there, CHUNKS);
        assert_int_equal(r.prepare_s > 0, r.resident_chunks > there);
        there = r.resident_chunks;
    }
    assert_int_equal(there, CHUNKS);
    runs_share(plan, 0.7);
    assert_int_equal(run_with(&w, plan, &bare, 3).host_chunks, 0);
    world_negate(&w);
    hybrid_plan_refresh(plan);
    assert_true(run_once(&w, plan, 3).host_chunks > 0);
    hybrid_plan_destroy(plan);
    world_close(&w);
}

/* A run that the device computes alone reports that all of A is cached. Later runs then
   do not need the arrays of A. */
static void a_may_go_when_it_is_told_to_be_there(void **state)
{
    world w;

    (void)state;
    fake_delays(5, 100);
    runs_open(&w, &hy_spmm_fake_rows, 0);
    runs_slow_down(&w);
    const hybrid_csr bare = runs_without_arrays(&w.A);
    hybrid_plan *plan     = runs_plan(&w, HYBRID_RESIDENT, HYBRID_SPLIT_DEFAULT, 0);
    assert_true(report_of(plan).resident_chunks < report_of(plan).chunks);
    for (int i = 0; i < 3; i++) {
        hybrid_report r = run_once(&w, plan, 0);
        assert_int_equal(r.resident_chunks, r.chunks);
        world_pin(&w, BOTH, 1);
        r = run_with(&w, plan, &bare, 0);
        assert_int_equal(r.host_chunks, 0);
        assert_int_equal(r.resident_chunks, r.chunks);
        world_negate(&w);
        hybrid_plan_refresh(plan);
        assert_true(run_once(&w, plan, 0).host_chunks > 0);
        /* none, because with beta != 0 workers store Y and are busy */
        assert_int_equal(run_once(&w, plan, 3).host_chunks, 0);
        world_pin(&w, BOTH, 0);
    }
    hybrid_plan_destroy(plan);
    world_close(&w);
}

/* Tests caps on device memory that decrease from one with which all of A is cached to one
   with which none is. Host and device share the rows that are not cached. */
static void every_budget_is_kept(void **state)
{
    int whole = 0, part = 0, none = 0;
    world w;

    (void)state;
    fake_delays(2, 0);
    for (size_t budget = 1 << 20; budget > 120 << 10; budget -= budget / 20) {
        runs_open(&w, &hy_spmm_fake_rows, budget);
        hybrid_plan *plan = runs_plan(&w, HYBRID_RESIDENT, HYBRID_SPLIT_SHARE, 0.4);
        for (int i = 0; i < 3; i++) {
            const hybrid_report r = run_once(&w, plan, i);
            assert_true(r.peak_device_bytes <= (int64_t)budget);
            assert_true(r.host_chunks > 0);
        }
        const int64_t kept = plan->portions->site->cache.count;
        whole += kept == plan->portions->layout.count;
        part += kept > 0 && kept < plan->portions->layout.count;
        none += kept == 0;
        hybrid_plan_destroy(plan);
        world_close(&w);
    }
    assert_true(whole > 2 && part > 2 && none > 2);
}

/* ---- failures ---- */

/* After a failed run that was packing chunks of A, no chunk counts as cached. If all of
   A was cached before the run, it stays. */
static void a_run_that_fails_leaves_nothing_half_done(void **state)
{
    int64_t failed = 0;
    world w;

    (void)state;
    for (int64_t call = 1; call < 200; call += 3) {
        fake_delays((unsigned)call, 0);
        runs_open(&w, &hy_spmm_fake_rows, 0);
        world_pin(&w, BOTH, 1);
        hybrid_plan *plan = runs_plan(&w, HYBRID_RESIDENT, HYBRID_SPLIT_SHARE, 0.5);
        for (int i = 0; i < 2; i++) { /* the second run begins with some chunks cached */
            fault_arm(call);
            const hybrid_status status = hybrid_spmm_run(plan, 1, &w.A, &w.X, 0, &w.Y);
            fault_arm(0);
            failed += status != HYBRID_OK;
            assert_true(status == HYBRID_OK || hy_plan_resident_chunks(plan) == 0);
            assert_true(run_once(&w, plan, 0).host_chunks > 0);
            assert_true(run_once(&w, plan, 3).host_chunks > 0);
        }
        hybrid_plan_destroy(plan);
        world_pin(&w, BOTH, 0);
        world_close(&w);
    }
    assert_true(failed > 20);
}

static void an_a_that_is_there_outlives_a_failure(void **state)
{
    world w;

    (void)state;
    fake_delays(6, 0);
    runs_open(&w, &hy_spmm_fake_rows, 0);
    const hybrid_csr bare = runs_without_arrays(&w.A);
    hybrid_plan *plan     = runs_plan(&w, HYBRID_RESIDENT, HYBRID_SPLIT_SHARE, 0.5);
    runs_share(plan, 0);
    run_once(&w, plan, 0);
    runs_share(plan, 0.5);
    for (int64_t call = 1; call < 60; call += 2) {
        fault_arm(call);
        assert_int_equal(hybrid_spmm_run(plan, 1, &bare, &w.X, 0, &w.Y),
                         HYBRID_DEVICE_FAILED);
        fault_arm(0);
        assert_int_equal(run_with(&w, plan, &bare, 3).host_chunks, 0);
    }
    hybrid_plan_destroy(plan);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_a_resident_plan_are_kept),
        cmocka_unit_test(what_the_host_had_comes_when_the_device_takes_it),
        cmocka_unit_test(a_may_go_when_it_is_told_to_be_there),
        cmocka_unit_test(every_budget_is_kept),
        cmocka_unit_test(a_run_that_fails_leaves_nothing_half_done),
        cmocka_unit_test(an_a_that_is_there_outlives_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
