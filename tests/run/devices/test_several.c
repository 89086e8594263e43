/* tests/run/devices/test_several.c - products on several devices: division, report, and
   failures of one device.

   The tests devices_* (CMakeLists.txt) check the results of other tests on several
   devices, and that every call may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "support/runs/caps.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/fake/settings.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows, hy_spmm_host_rows;

static const hy_backend_ops *const places[] = {&hy_fault_backend_ops,
                                               &hy_host_backend_ops, NULL};
static const hy_variant *const variants[]   = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                               &hy_spgemm_host_rows, &hy_spmm_host_rows,
                                               NULL};

enum { ROWS = 4000, EACH = 8, COLUMNS = 40, CHUNK_ROWS = 50, MOST = 3 };

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    oracle square;
    int times[ROWS];       /* how often each row was multiplied in the last run */
    int64_t rows_of[MOST]; /* number of rows that each device computed */
    int host;              /* number of rows that the host computed */
} world;

/* Counts the rows of each chunk for the device of its lane: "run", "run1" or "run2". */
static void note(void *user, const hybrid_event *event)
{
    static const char *const lanes[MOST] = {"run", "run1", "run2"};
    world *w                             = user;

    if (event->part > 0 || (strcmp(event->stage, "multiply") != 0 &&
                            strcmp(event->stage, "accumulate") != 0))
        return;
    for (int64_t i = event->row_begin; i < event->row_end; i++)
        w->times[i]++;
    for (int k = 0; k < MOST; k++)
        if (strcmp(event->lane, lanes[k]) == 0)
            w->rows_of[k] += event->row_end - event->row_begin;
}

/* Opens an engine with `count` devices. `speeds` has the bus rate of each in bytes per
   second. */
static void open_world(world *w, int count, const double *speeds, size_t bytes)
{
    static const int devices[MOST] = {0, 1, 2};
    hybrid_engine_options options  = HYBRID_ENGINE_OPTIONS_INIT;

    memset(w, 0, sizeof *w);
    options.threads      = 2;
    options.devices      = devices;
    options.device_count = count;
    options.device_bytes = bytes;
    fake_delays(1, 0);
    assert_int_equal(fake_engine_open(&options, places, variants, &w->engine), HYBRID_OK);
    w->engine->host->measured.mem_Bps = 1e12; /* bytes per second; so much that host
                                                 memory does not limit any device */
    for (int i = 0; i < count; i++) {
        hy_measured *m = &w->engine->devices[i]->measured;
        m->h2d_Bps = m->d2h_Bps = speeds[i];
    }
    matrix_random(ROWS, ROWS, EACH, 5, kind, &w->A);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, kind, &w->X);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, kind, &w->Y);
    dense_copy(&w->Y, &w->before);
    oracle_spgemm(&w->A, &w->A, &w->square);
    hybrid_engine_trace(w->engine, note, w);
}

static void close_world(world *w)
{
    hybrid_engine_destroy(w->engine);
    oracle_free(&w->square);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    matrix_free(&w->A);
    assert_int_equal(fake_alive(), 0);
}

static hybrid_plan *plan_of(world *w, int sparse, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.flags      = flags;
    options.split      = HYBRID_SPLIT_GPU;
    options.chunk_rows = CHUNK_ROWS;
    const hybrid_status status =
        sparse ? hybrid_spgemm_plan(w->engine, &w->A, &w->A, &options, &plan)
               : hybrid_spmm_plan(w->engine, &w->A, COLUMNS, &options, &plan);
    assert_int_equal(status, HYBRID_OK);
    return plan;
}

static hybrid_status run_sparse(world *w, hybrid_plan *plan)
{
    hybrid_csr C;

    const hybrid_status status = hybrid_spgemm_run(plan, &w->A, &w->A, &C);
    if (status == HYBRID_OK) {
        assert_null(oracle_check(&w->square, &C, 1));
        hybrid_csr_free(w->engine, &C);
    }
    return status;
}

static hybrid_status run_dense(world *w, hybrid_plan *plan)
{
    const hybrid_status status = hybrid_spmm_run(plan, 1, &w->A, &w->X, 0, &w->Y);

    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    return status;
}

static int in_blocks(const hybrid_plan *plan)
{
    int some = 0;

    for (int i = 0; i < plan->count; i++)
        some = some || plan->portions[i].layout.image.axis == HY_AXIS_COLS;
    return some;
}

static void forget(world *w)
{
    memset(w->times, 0, sizeof w->times);
    memset(w->rows_of, 0, sizeof w->rows_of);
}

static void run(world *w, hybrid_plan *plan, int sparse)
{
    forget(w);
    assert_int_equal(sparse ? run_sparse(w, plan) : run_dense(w, plan), HYBRID_OK);
    for (int i = 0; i < ROWS; i++) /* a row is multiplied once, or once for each column
                                      block of X */
        assert_in_range(w->times[i], 1, in_blocks(plan) ? COLUMNS : 1);
    assert_true(caps_kept(plan, 0));
}

/* ---- division of rows ---- */

static void all_that_shorten_a_product_compute_it(void **state)
{
    static const double alike[] = {1e8, 1e8, 1e8};
    world w;

    (void)state;
    for (int count = 2; count <= MOST; count++)
        for (int sparse = 0; sparse < 2; sparse++) {
            open_world(&w, count, alike, 0);
            hybrid_plan *plan = plan_of(&w, sparse, HYBRID_REUSE);
            assert_int_equal(plan->count, count);
            for (int k = 0; k < 3; k++)
                run(&w, plan, sparse);
            for (int k = 0; k < count; k++)
                assert_true(w.rows_of[k] > 0);
            hybrid_plan_destroy(plan);
            close_world(&w);
        }
}

static void who_does_not_is_left_out(void **state)
{
    static const double uneven[] = {1e6, 1e9, 1e9};
    world w;

    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        open_world(&w, 3, uneven, 0);
        hybrid_plan *plan = plan_of(&w, sparse, 0);
        assert_int_equal(plan->count, 2);
        run(&w, plan, sparse);
        assert_int_equal(w.rows_of[0], 0);
        hybrid_plan_destroy(plan);
        close_world(&w);
    }
}

/* Copying X and B takes both devices the same time; only the speed of copying C back
   differs, and rows are divided by it. */
static void the_faster_device_has_more_rows(void **state)
{
    static const double down[] = {1e8, 3e8}, up[] = {1e10, 1e10};
    world w;

    (void)state;
    open_world(&w, 2, up, 0);
    for (int i = 0; i < 2; i++)
        w.engine->devices[i]->measured.d2h_Bps = down[i];
    hybrid_plan *plan = plan_of(&w, 0, 0);
    assert_int_equal(plan->count, 2);
    const hy_portion *p = plan->portions;
    assert_true(p[1].weight > 2 * p[0].weight);
    assert_true(p[0].begin == 0 && p[0].end == p[1].begin && p[1].end == ROWS);
    run(&w, plan, 0);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

/* Returns 1 if the device holds less than all of B or X at a time. */
static int has_parts(const hy_portion *portion)
{
    return portion->layout.image.axis != HY_AXIS_NONE;
}

/* Speeds and budgets differ: the faster device has more rows and less memory. */
static void the_faster_device_has_less_memory(void **state)
{
    static const double uneven[] = {1e8, 1e9};
    world w;

    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        open_world(&w, 2, uneven, 0);
        settings_of(w.engine)->all_devices = 1;
        w.engine->devices[1]->device.cap   = 200 << 10;
        hybrid_plan *plan                  = plan_of(&w, sparse, HYBRID_REUSE);
        assert_int_equal(plan->count, 2);
        assert_true(!has_parts(&plan->portions[0]) && has_parts(&plan->portions[1]));
        assert_true(plan->portions[1].weight > plan->portions[0].weight);
        for (int k = 0; k < 3; k++) {
            run(&w, plan, sparse);
            assert_true(w.rows_of[0] > 0 && w.rows_of[1] > 0);
        }
        hybrid_plan_destroy(plan);
        close_world(&w);
    }
}

/* Devices with different budgets have different schedules and chunks, and each keeps to
   its budget. */
static void each_keeps_to_its_own_budget(void **state)
{
    static const double alike[] = {1e8, 1e8, 1e8};
    world w;

    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        open_world(&w, 3, alike, 0);
        settings_of(w.engine)->all_devices = 1;
        w.engine->devices[1]->device.cap   = 512 << 10;
        w.engine->devices[2]->device.cap   = 200 << 10;
        hybrid_plan *plan                  = plan_of(&w, sparse, HYBRID_REUSE);
        assert_int_equal(plan->count, 3);
        assert_true(!has_parts(&plan->portions[0]) && has_parts(&plan->portions[2]));
        for (int k = 0; k < 2; k++) {
            run(&w, plan, sparse);
            assert_true(w.rows_of[2] > 0);
        }
        hybrid_plan_destroy(plan);
        close_world(&w);
    }
}

/* ---- report ---- */

static void the_plan_names_its_sites(void **state)
{
    static const double alike[] = {1e8, 1e8};
    hybrid_report report        = HYBRID_REPORT_INIT;
    char text[8192];
    world w;

    (void)state;
    open_world(&w, 2, alike, 0);
    hybrid_plan *plan = plan_of(&w, 0, HYBRID_RESIDENT);
    hybrid_plan_details(plan, text, sizeof text);
    assert_non_null(strstr(text, "site      0, spmm.fake.rows: rows 0 to 2 0"));
    assert_non_null(strstr(text, "site      1, spmm.fake.rows: rows 2 0"));
    assert_non_null(strstr(text, " to 4 000, 50 % of the work\n"));
    run(&w, plan, 0);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    int64_t peaks = 0, chunks = 0;
    for (int i = 0; i < 2; i++) {
        peaks += hy_meter_peak(&w.engine->devices[i]->device);
        chunks += plan->portions[i].layout.count;
    }
    assert_int_equal(report.peak_device_bytes, peaks);
    assert_int_equal(report.chunks, chunks);
    assert_int_equal(report.resident_chunks, chunks); /* each device caches its own rows
                                                         of A */
    assert_int_equal(report.d2h_bytes, (int64_t)ROWS * COLUMNS * 8);
    assert_true(report.use[HYBRID_BUS_UP].rate > 1.9e8);
    const int64_t first = report.h2d_bytes;
    run(&w, plan, 0);
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    assert_true(report.h2d_bytes < first);
    /* at most X for each of the two devices */
    assert_true(report.h2d_bytes <= 2 * (int64_t)ROWS * COLUMNS * 8);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

/* The bits of sums of real numbers depend on the chunk of the row, so that devices must
   not take rows from each other. */
static void deterministic_runs_have_the_same_bits(void **state)
{
    static const double alike[] = {1e8, 1e8, 1e8};
    world w;

    (void)state;
    open_world(&w, 3, alike, 0);
    hybrid_plan *plan = plan_of(&w, 0, HYBRID_DETERMINISTIC);
    assert_int_equal(plan->count, 3);
    for (int i = 0; i < 3; i++)
        assert_null(plan->portions[i].taking.variant);
    fake_delays(3, 100);
    run(&w, plan, 0);
    int64_t before[MOST];
    memcpy(before, w.rows_of, sizeof before);
    run(&w, plan, 0);
    assert_memory_equal(before, w.rows_of, sizeof before);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

/* ---- a device that fails ---- */

/* Makes a plan for a test in which `device` fails, or any device (-1). If a single device
   fails, no device takes rows from others, so that its number of calls does not depend on
   timing. */
static hybrid_plan *plan_to_fail(world *w, int sparse, int device)
{
    hybrid_plan *plan = plan_of(w, sparse, HYBRID_REUSE);

    for (int i = 0; i < plan->count && device >= 0; i++)
        plan->portions[i].taking.variant = NULL;
    return plan;
}

/* Lets some calls and some chunks succeed before one call fails, or that and all later
   calls. Returns in how many runs a device failed that had already computed rows. */
static int fails_half_way(int sparse, int device, void (*arm)(int64_t calls))
{
    static const double alike[] = {1e8, 1e8, 1e8};
    const int64_t step          = device < 0 ? 150 : 40;
    const char *const words[]   = {"fake device", "device 0:", "device 1:", "device 2:"};
    int half_way                = 0;
    world w;

    open_world(&w, 3, alike, 0);
    settings_of(w.engine)->all_devices = 1;
    hybrid_plan *plan                  = plan_to_fail(&w, sparse, device);
    fault_arm(1 << 20);
    run(&w, plan, sparse);
    fault_arm_of(device);
    for (int64_t calls = step; calls < 6 * step; calls += step) {
        forget(&w);
        arm(calls);
        const hybrid_status status = sparse ? run_sparse(&w, plan) : run_dense(&w, plan);
        fault_arm(0);
        assert_int_equal(status, HYBRID_DEVICE_FAILED);
        assert_non_null(strstr(hybrid_engine_message(w.engine), words[device + 1]));
        half_way += w.rows_of[device < 0 ? 0 : device] > 0;
        if (arm == fault_arm_for_good) { /* work in flight stays on the lost device */
            hybrid_plan_destroy(plan);
            plan = plan_to_fail(&w, sparse, device);
        }
        run(&w, plan, sparse); /* an earlier failure has no effect on this run */
    }
    fault_arm_of(-1);
    hybrid_plan_destroy(plan);
    close_world(&w);
    return half_way;
}

static void one_that_fails_ends_the_run_and_nothing_else(void **state)
{
    (void)state;
    for (int device = -1; device < MOST; device++) {
        int half_way = 0;
        for (int sparse = 0; sparse < 2; sparse++)
            half_way += fails_half_way(sparse, device, fault_arm) +
                        fails_half_way(sparse, device, fault_arm_for_good);
        assert_true(half_way > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_shorten_a_product_compute_it),
        cmocka_unit_test(who_does_not_is_left_out),
        cmocka_unit_test(the_faster_device_has_more_rows),
        cmocka_unit_test(the_faster_device_has_less_memory),
        cmocka_unit_test(each_keeps_to_its_own_budget),
        cmocka_unit_test(the_plan_names_its_sites),
        cmocka_unit_test(deterministic_runs_have_the_same_bits),
        cmocka_unit_test(one_that_fails_ends_the_run_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
