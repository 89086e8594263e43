/* tests/run/devices/test_split_pinned.c - the host's share in runs with X and Y pinned,
   and in others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/fake/fake_backend.h"
#include "support/runs/pinned_runs.h"
#include "support/engines/places.h"

/* ---- which runs ---- */

/* Makes six runs: with both, one or none of X and Y pinned, and with and without beta.
   The host must take part in runs with both pinned and beta 0 exactly if in_pinned, and
   in the others exactly if in_others. */
static void check_runs(world *w, hybrid_plan *plan, int in_pinned, int in_others)
{
    static const int pinned[]  = {NONE, BOTH, X_PINNED, Y_PINNED, BOTH, NONE};
    static const double beta[] = {0, 0, 0, 3, 3, 3};

    for (int i = 0; i < 6; i++) {
        world_pin(w, pinned[i], 1);
        const hybrid_report r = run_once(w, plan, beta[i]);
        /* 1: workers neither load X nor store Y, and are idle unless the host helps */
        const int idle = pinned[i] == BOTH && beta[i] == 0;
        assert_int_equal(r.host_chunks > 0, idle ? in_pinned : in_others);
        world_pin(w, pinned[i], 0);
    }
}

static void assert_explained(const hybrid_plan *plan, const char *words)
{
    char text[4096];

    hybrid_plan_details(plan, text, sizeof text);
    assert_non_null(strstr(text, words));
}

static void the_default_shares_runs_with_both_pinned(void **state)
{
    world w;

    (void)state;
    fake_delays(1, 50);
    runs_open(&w, &hy_spmm_fake_rows, 0);
    runs_slow_down(&w);
    hybrid_plan *plan = runs_plan(&w, 0, HYBRID_SPLIT_DEFAULT, 0);
    check_runs(&w, plan, 1, 0);
    assert_explained(plan, "if X and Y are pinned, else the GPU alone: the CPU is busy");
    hybrid_plan_destroy(plan);
    world_close(&w);
}

static void each_kind_of_run_has_its_prediction(void **state)
{
    world w;

    (void)state;
    fake_delays(1, 50);
    runs_open(&w, &hy_spmm_fake_rows, 0);
    runs_slow_down(&w);
    hybrid_plan *plan = runs_plan(&w, 0, HYBRID_SPLIT_AUTO, 0);
    check_runs(&w, plan, 1, 0);
    assert_explained(
        plan,
        "pinned, else the GPU alone: the help of the CPU would save too little time");
    hybrid_plan_destroy(plan);
    w.engine->host->measured.mem_Bps = 1e9; /* bytes per second; workers have time for
                                               both copies and rows */
    plan = runs_plan(&w, 0, HYBRID_SPLIT_AUTO, 0);
    check_runs(&w, plan, 1, 1);
    assert_true(plan->forecasts[HY_RUNS_PAGEABLE].share <
                plan->forecasts[HY_RUNS_PINNED].share);
    hybrid_plan_destroy(plan);
    plan = runs_plan(&w, 0, HYBRID_SPLIT_SHARE, 0.5);
    check_runs(&w, plan, 1, 1);
    hybrid_plan_destroy(plan);
    world_close(&w);
}

static void check_alone(world *w, unsigned flags, hybrid_split split, const char *why)
{
    hybrid_plan *plan = runs_plan(w, flags, split, 0);

    assert_explained(plan, why);
    check_runs(w, plan, 0, 0);
    hybrid_plan_destroy(plan);
}

static void the_device_is_alone_where_it_must_be(void **state)
{
    world w;

    (void)state;
    fake_delays(1, 0);
    runs_open(&w, &hy_spmm_fake_rows, 0);
    check_alone(&w, 0, HYBRID_SPLIT_DEFAULT,
                "the help of the CPU would save too little time");
    runs_slow_down(&w);
    check_alone(&w, 0, HYBRID_SPLIT_GPU, "the GPU alone: as requested");
    check_alone(&w, HYBRID_DETERMINISTIC, HYBRID_SPLIT_DEFAULT,
                "the CPU rounds differently");
    world_close(&w);
    runs_open(&w, &hy_spmm_fake_tiled, 0); /* a variant for which workers convert rows of
                                              X and Y to columns */
    runs_slow_down(&w);
    check_alone(&w, 0, HYBRID_SPLIT_DEFAULT, "the CPU is busy moving X and Y");
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_shares_runs_with_both_pinned),
        cmocka_unit_test(each_kind_of_run_has_its_prediction),
        cmocka_unit_test(the_device_is_alone_where_it_must_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
