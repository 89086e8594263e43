/* tests/unit/rates/test_estimate.c - estimates, the seconds predicted from them, and
   reports of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "engine/rates/estimate.h"
#include "engine/plan/plan.h"
#include "support/fake/fake_backend.h"
#include "support/runs/pinned_runs.h"
#include "support/engines/places.h"

enum {
    FIELDS    = 9,
    RESOURCES = 7 /* number of the leading fields of hy_estimate that count use of
                     resources; the other fields are fixed costs */
};

static const hy_rates device = {.h2d_Bps  = 50e9,
                                .d2h_Bps  = 50e9,
                                .both_Bps = 88.5e9,
                                .mem_Bps  = 4e12},
                      host   = {.mem_Bps = 80e9, .width = 10};

static const hy_estimate typical = {.first_bytes  = 1e6,
                                    .up_bytes     = 2e7,
                                    .down_bytes   = 3e7,
                                    .device_s     = 1e-3,
                                    .core_s       = 5e-3,
                                    .memory_bytes = 6e7,
                                    .stored_bytes = 5e7,
                                    .call_s       = 1e-4,
                                    .chunk_s      = 1e-5,
                                    .chunks       = 8};

static double *field(hy_estimate *e, int i)
{
    double *const all[FIELDS] = {&e->first_bytes,  &e->up_bytes, &e->down_bytes,
                                 &e->device_s,     &e->core_s,   &e->memory_bytes,
                                 &e->stored_bytes, &e->call_s,   &e->chunk_s};
    return all[i];
}

static void grows_with_each_field(void **state)
{
    const double before = hy_seconds(&typical, &device, &host);

    (void)state;
    for (int i = 0; i < FIELDS; i++) {
        hy_estimate more = typical;
        *field(&more, i) *= 2;
        assert_true(hy_seconds(&more, &device, &host) > before);
    }
}

/* The predicted time is at least that of each resource alone. */
static void is_no_less_than_the_longest_resource(void **state)
{
    const double scales[] = {0, 1, 1e3, 1e6};

    (void)state;
    for (int i = 0; i < RESOURCES; i++)
        for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
            hy_estimate e = typical;
            *field(&e, i) *= scales[k];
            const double s = hy_seconds(&e, &device, &host);
            assert_true(s >= (e.first_bytes + e.up_bytes) / device.h2d_Bps);
            assert_true(s >= e.down_bytes / device.d2h_Bps);
            assert_true(s >= e.device_s);
            assert_true(s >= e.core_s / host.width);
            assert_true(s >= (e.memory_bytes + e.stored_bytes) / host.mem_Bps);
            assert_true(s >= e.call_s + (double)e.chunks * e.chunk_s);
        }
}

/* An estimate with one field that is not 0 takes the seconds of that field: use divided
   by rate. */
static void has_units(void **state)
{
    const double alone[FIELDS] = {50e9, 50e9, 50e9, 1, 10, 80e9, 80e9, 1, 0.25};
    const double nothing_s     = hy_seconds(&(hy_estimate){.chunks = 4}, &device, &host);

    (void)state;
    assert_true(nothing_s >= 0 && nothing_s <= 0);
    for (int i = 0; i < FIELDS; i++) {
        hy_estimate e = {.chunks = 4};
        *field(&e, i) = alone[i];
        assert_true(fabs(hy_seconds(&e, &device, &host) - 1) < 1e-9);
    }
}

/* With one chunk the predicted time is the sum of all stages; with many chunks it
   approaches the time of the longest stage. */
static void chunks_overlap(void **state)
{
    hy_estimate e = {.up_bytes = 50e9, .device_s = 0.1, .chunks = 1};

    (void)state;
    assert_true(fabs(hy_seconds(&e, &device, &host) - 1.1) < 1e-9);
    e.chunks = 1 << 20;
    assert_true(fabs(hy_seconds(&e, &device, &host) - 1) < 1e-3);
}

/* One slot takes the sum of all stages, and more slots take no longer. From four slots on
   the number makes no difference. */
static void slots_bound_the_overlap(void **state)
{
    hy_estimate e = {.up_bytes     = 50e9,
                     .down_bytes   = 25e9,
                     .device_s     = 1,
                     .memory_bytes = 80e9,
                     .chunks       = 1 << 20};
    double before = INFINITY;

    (void)state;
    const double unlimited = hy_seconds(&e, &device, &host);
    for (e.slots = 1; e.slots <= 8; e.slots++) {
        const double s = hy_seconds(&e, &device, &host);
        assert_true(e.slots > 1 || fabs(s - 3.5) < 1e-3);
        assert_true(e.slots != 2 || s > 1.05 * unlimited);
        assert_true(e.slots < 4 || s <= unlimited);
        assert_true(s <= before && s >= unlimited);
        before = s;
    }
}

/* A bus that carries data in both directions at once carries less than the sum of both
   directions alone. */
static void both_ways_share_the_bus(void **state)
{
    const hy_estimate e = {.up_bytes = 50e9, .down_bytes = 50e9, .chunks = 1 << 20};
    const double s      = hy_seconds(&e, &device, &host);

    (void)state;
    assert_true(s > 1.05 && s < 1.5);
}

/* With column blocks two things add to the predicted time: bytes to the host when
   nothing goes to the device any more, and rows that are too short for the bus's full
   rate. */
static void panels_use_one_way_at_last(void **state)
{
    hy_estimate e       = {.up_bytes = 50e9, .down_bytes = 50e9, .chunks = 1 << 20};
    const double both_s = hy_seconds(&e, &device, &host);

    (void)state;
    e.last_bytes        = 25e9;
    const double last_s = hy_seconds(&e, &device, &host);
    assert_true(last_s > 1.3 * both_s && fabs(last_s - 1.5) < 1e-3);
    e.short_bytes = 75e9;
    assert_true(hy_seconds(&e, &device, &host) > last_s);
}

/* The host copies nothing over a bus and has no rate for it. */
static void the_host_has_no_bus(void **state)
{
    const hy_estimate e = {.core_s = 10, .memory_bytes = 4e10, .chunks = 1};
    const double s      = hy_seconds(&e, &host, &host);

    (void)state;
    assert_true(s >= 1 && s < 1.1);
}

/* ---- reports ---- */

/* Returns 1 if the report's predicted time is the plan's estimate plus the time that
   planning had taken before the run. */
static int says(const hybrid_report *r, const hybrid_plan *plan,
                const hy_circumstances *found)
{
    const double s = hy_portions_s(plan->portions, 1, found);
    return s > 0 && r->predicted_s >= s && r->predicted_s <= s + r->total_s;
}

/* Opens a world of which bus and host memory have rates so low that each byte is visible
   beside the time that the fake device's work takes. */
static void open_slow(world *w)
{
    fake_delays(1, 0);
    runs_open(w, &hy_spmm_fake_rows, 0);
    w->engine->device->measured.h2d_Bps = 1e3;
    w->engine->host->measured.mem_Bps   = 1e3;
}

static void a_plan_predicts_a_run_whose_operands_are_not_pinned(void **state)
{
    const hy_circumstances first = {0};
    world w;

    (void)state;
    open_slow(&w);
    hybrid_plan *plan       = runs_plan(&w, 0, HYBRID_SPLIT_GPU, 0);
    const hybrid_report was = report_of(plan);
    assert_true(was.total_s <= 0 && says(&was, plan, &first));
    const hybrid_report is = run_once(&w, plan, 0);
    assert_true(is.total_s > 0 && says(&is, plan, &first));
    hybrid_plan_destroy(plan);
    world_close(&w);
}

static void a_run_knows_what_is_pinned_and_what_is_there(void **state)
{
    const hy_circumstances first = {0}, later = {.cached = 1},
                           pinned = {.cached = 1, .pinned = 1};
    world w;

    (void)state;
    open_slow(&w);
    hybrid_plan *plan     = runs_plan(&w, HYBRID_RESIDENT, HYBRID_SPLIT_GPU, 0);
    const hybrid_report a = run_once(&w, plan, 0), b = run_once(&w, plan, 0);
    world_pin(&w, BOTH, 1);
    const hybrid_report c = run_once(&w, plan, 0), d = run_once(&w, plan, 1);
    assert_true(says(&a, plan, &first) && !says(&a, plan, &later));
    assert_true(says(&b, plan, &later) && !says(&b, plan, &first));
    assert_true(says(&c, plan, &pinned) && !says(&c, plan, &later));
    assert_true(says(&d, plan, &later)); /* with beta != 0 workers store Y, which takes
                                            longer */
    world_pin(&w, BOTH, 0);
    hybrid_plan_destroy(plan);
    world_close(&w);
}

static void the_share_of_the_host_is_not_the_device_s(void **state)
{
    const hy_circumstances half = {.share = 0.5}, all = {0};
    world w;

    (void)state;
    open_slow(&w);
    hybrid_plan *plan     = runs_plan(&w, 0, HYBRID_SPLIT_SHARE, 0.5);
    const hybrid_report r = run_once(&w, plan, 0);
    assert_true(says(&r, plan, &half) && !says(&r, plan, &all));
    hybrid_plan_destroy(plan);
    world_close(&w);
}

/* Makes a one-shot call and returns its report. */
static hybrid_report call_once(world *w, double alpha, double beta)
{
    hybrid_report r = HYBRID_REPORT_INIT;

    assert_int_equal(hybrid_spmm(w->engine, alpha, &w->A, &w->X, beta, &w->Y), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(w->engine, &r), HYBRID_OK);
    return r;
}

/* In a one-shot call the time of planning (plan_s) is a part of the total time. Runs of
   a plan do not change its plan_s. */
static void planning_is_told(void **state)
{
    world w;

    (void)state;
    open_slow(&w);
    const hybrid_report once = call_once(&w, 1, 0);
    assert_true(once.plan_s > 0 && once.plan_s < once.total_s);
    hybrid_plan *plan       = runs_plan(&w, 0, HYBRID_SPLIT_GPU, 0);
    const hybrid_report was = report_of(plan), is = run_once(&w, plan, 0);
    assert_true(was.plan_s > 0 && !(is.plan_s < was.plan_s) && !(is.plan_s > was.plan_s));
    hybrid_plan_destroy(plan);
    world_close(&w);
}

static void nothing_is_predicted_where_alpha_is_0(void **state)
{
    world w;

    (void)state;
    open_slow(&w);
    assert_true(call_once(&w, 1, 0).predicted_s > 0);
    assert_true(call_once(&w, 0, 1).predicted_s <= 0);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_with_each_field),
        cmocka_unit_test(is_no_less_than_the_longest_resource),
        cmocka_unit_test(has_units),
        cmocka_unit_test(chunks_overlap),
        cmocka_unit_test(slots_bound_the_overlap),
        cmocka_unit_test(both_ways_share_the_bus),
        cmocka_unit_test(panels_use_one_way_at_last),
        cmocka_unit_test(the_host_has_no_bus),
        cmocka_unit_test(a_plan_predicts_a_run_whose_operands_are_not_pinned),
        cmocka_unit_test(a_run_knows_what_is_pinned_and_what_is_there),
        cmocka_unit_test(the_share_of_the_host_is_not_the_device_s),
        cmocka_unit_test(planning_is_told),
        cmocka_unit_test(nothing_is_predicted_where_alpha_is_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
