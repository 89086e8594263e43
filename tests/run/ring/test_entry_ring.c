/* tests/run/ring/test_entry_ring.c - B on the device in a ring of its entries. */
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
#include "support/subjects/ring_products.h"

extern const hy_backend_ops hy_host_backend_ops;

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* The planner chooses freely. If B takes more than seven eighths of device memory, it
   prefers a ring of entries to gathering rows of B several times. */
static void budgets_choose_the_ring(void **state)
{
    int64_t rings = 0, smaller = 0, held = 0;
    ring_product p;

    (void)state;
    fake_delays(1, 0);
    for (int squared = 0; squared < 2; squared++) {
        ring_open(3, squared, &p);
        for (size_t kb = 30; kb < 110; kb += 4) {
            hybrid_engine *engine;
            assert_int_equal(fake_open(ring_variants, kb << 10, &engine), HYBRID_OK);
            assert_int_equal(
                ring_multiply(engine, &p, kb % 8 ? HYBRID_DETERMINISTIC : 0, 2, &held),
                HYBRID_OK);
            rings += held > 0;
            smaller += held > 0 && held < p.B.nnz;
            hybrid_engine_destroy(engine);
        }
        ring_close(&p);
    }
    assert_true(rings >= 10 && smaller >= 10);
    assert_int_equal(fake_alive(), 0);
}

/* Makes a matrix of which row i has entries in columns i - 4 to i + 4. */
static hybrid_csr full_band(int64_t rows)
{
    builder b = build_start(rows, rows);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = i - 4; j <= i + 4; j++)
            if (j >= 0 && j < rows)
                build_add(&b, j);
        build_end_row(&b);
    }
    return build_finish(&b, 1, f64);
}

/* Rows of a narrow band touch few entries of B. The ring then leaves most of the budget
   to the slots, and a run sends at most a quarter of B twice. */
static void a_narrow_band_takes_a_small_ring(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr A                = full_band(6000);
    const size_t offsets = (size_t)(A.rows + 1) * 8, entries = (size_t)A.nnz * 12;
    const size_t budget = (offsets + entries) / 3 * 2;
    hybrid_engine *engine;
    hybrid_plan *plan;

    (void)state;
    options.split = HYBRID_SPLIT_GPU;
    assert_int_equal(fake_open(ring_variants, budget, &engine), HYBRID_OK);
    settings_of(engine)->schedule     = &hy_schedule_entry_ring;
    engine->device->measured.launch_s = 5e-6; /* seconds of a launch; chunks then cost
                                                 time */
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
    const hy_layout *layout = &plan->portions->layout;
    assert_true(layout->image_room < budget / 4);
    assert_true(layout->image_bytes <= offsets + entries / 4 * 5);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* Several chunks are in flight in different stages, with random delays. No chunk may
   read entries of B before they are loaded or after they are replaced. */
static void chunks_overtake_nothing(void **state)
{
    ring_product p;

    (void)state;
    ring_open(5, 0, &p);
    for (unsigned seed = 1; seed < 7; seed++) {
        hybrid_engine *engine;
        int64_t held = 0;
        fake_delays(seed, 50);
        assert_int_equal(fake_open(ring_variants, (size_t)44 << 10, &engine), HYBRID_OK);
        settings_of(engine)->schedule = &hy_schedule_entry_ring;
        assert_int_equal(ring_multiply(engine, &p, 0, 2, &held), HYBRID_OK);
        assert_true(held > 0 && held < p.B.nnz);
        hybrid_engine_destroy(engine);
    }
    fake_delays(1, 0);
    ring_close(&p);
    assert_int_equal(fake_alive(), 0);
}

static void note_load(void *user, const hybrid_event *event)
{
    if (strcmp(event->stage, "load") == 0)
        *(int64_t *)user += event->bytes;
}

static hybrid_engine *open_two(size_t device_bytes)
{
    static const int devices[]                  = {0, 1};
    static const hy_backend_ops *const places[] = {&hy_fake_backend_ops,
                                                   &hy_host_backend_ops, NULL};
    hybrid_engine_options options               = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads      = 3;
    options.devices      = devices;
    options.device_count = 2;
    options.device_bytes = device_bytes;
    assert_int_equal(fake_engine_open(&options, places, ring_variants, &engine),
                     HYBRID_OK);
    settings_of(engine)->all_devices = 1;
    settings_of(engine)->schedule    = &hy_schedule_entry_ring;
    return engine;
}

/* Two devices take rows in turns in the first run, and each has rows of its own in the
   second, which knows where rows of C begin. A device then receives the rows of B that
   its rows touch, and no others. */
static void each_device_has_a_window(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine       = open_two((size_t)44 << 10);
    int64_t loaded              = 0;
    hybrid_plan *plan;
    hybrid_csr C;
    ring_product p;

    (void)state;
    ring_open(5, 0, &p);
    const int64_t all = (p.B.rows + 1) * 8 + p.B.nnz * 12;
    options.flags     = HYBRID_REUSE;
    options.split     = HYBRID_SPLIT_GPU;
    assert_int_equal(hybrid_spgemm_plan(engine, &p.A, &p.B, &options, &plan), HYBRID_OK);
    assert_int_equal(plan->count, 2);
    hybrid_engine_trace(engine, note_load, &loaded);
    for (unsigned seed = 1; seed < 7; seed++) {
        fake_delays(seed, 50);
        loaded = 0;
        assert_int_equal(hybrid_spgemm_run(plan, &p.A, &p.B, &C), HYBRID_OK);
        assert_null(oracle_check(&p.C, &C, 1));
        hybrid_csr_free(engine, &C);
        if (seed > 1)
            assert_true(loaded < 2 * (p.B.rows + 1) * 8 + all / 2 * 3);
    }
    fake_delays(1, 0);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    ring_close(&p);
    assert_int_equal(fake_alive(), 0);
}

/* A slow device claims few rows, far from each other. Rows of B before each claim are
   then free, although no chunk of this device has touched them. */
static void a_device_may_skip_rows(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine       = open_two((size_t)44 << 10);
    hybrid_plan *plan;
    hybrid_csr C;
    ring_product p;

    (void)state;
    ring_open(5, 0, &p);
    options.split      = HYBRID_SPLIT_GPU;
    options.chunk_rows = 8;
    for (int i = 0; i < 2; i++)
        engine->devices[i]->measured.h2d_Bps = engine->devices[i]->measured.d2h_Bps =
            i ? 1e7 : 1e9;
    assert_int_equal(hybrid_spgemm_plan(engine, &p.A, &p.B, &options, &plan), HYBRID_OK);
    assert_int_equal(plan->count, 2);
    for (int k = 0; k < 10; k++) {
        assert_int_equal(hybrid_spgemm_run(plan, &p.A, &p.B, &C), HYBRID_OK);
        assert_null(oracle_check(&p.C, &C, 1));
        hybrid_csr_free(engine, &C);
    }
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    ring_close(&p);
}

/* Entries of A far from the band make chunks touch nearly all rows of B, so that the
   plan gathers rows instead of using a ring. */
static void far_entries_are_gathered(void **state)
{
    hybrid_engine *engine;
    int64_t held = 0;
    ring_product p;

    (void)state;
    ring_open(3, 0, &p);
    for (int64_t i = 0; i < RING_ROWS; i += 10)
        if (hy_offset(&p.A, i + 1) > hy_offset(&p.A, i))
            hy_cols(&p.A)[hy_offset(&p.A, i + 1) - 1] = RING_ROWS - 1;
    oracle_free(&p.C);
    oracle_spgemm(&p.A, &p.B, &p.C);
    assert_int_equal(fake_open(ring_variants, (size_t)60 << 10, &engine), HYBRID_OK);
    assert_int_equal(ring_multiply(engine, &p, 0, 1, &held), HYBRID_OK);
    assert_int_equal(held, 0);
    hybrid_engine_destroy(engine);
    ring_close(&p);
}

/* Chunks at the end touch only empty rows at the end of B. The loader skips the rows
   before them, which no chunk needs, and then has no entries left to send. The chunks
   begin nevertheless. */
static void empty_rows_at_the_end_are_not_awaited(void **state)
{
    builder a = build_start(RING_ROWS, RING_ROWS), b = build_start(RING_ROWS, RING_ROWS);
    int64_t held = 0;
    hybrid_engine *engine;
    ring_product p;

    (void)state;
    for (int64_t i = 0; i < RING_ROWS; i++) {
        build_add(&a, RING_ROWS - 1);
        build_end_row(&a);
        for (int64_t j = 0; j < 4 && i < RING_ROWS - 1; j++)
            build_add(&b, (i + j) % RING_ROWS);
        build_end_row(&b);
    }
    p.A = build_finish(&a, 1, f64);
    p.B = build_finish(&b, 2, f64);
    oracle_spgemm(&p.A, &p.B, &p.C);
    assert_int_equal(fake_open(ring_variants, (size_t)44 << 10, &engine), HYBRID_OK);
    settings_of(engine)->schedule = &hy_schedule_entry_ring;
    assert_int_equal(ring_multiply(engine, &p, 0, 2, &held), HYBRID_OK);
    assert_true(held > 0 && held < p.B.nnz);
    hybrid_engine_destroy(engine);
    ring_close(&p);
}

static void a_plan_says_what_it_does(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_plan *plan;
    char text[4096];
    ring_product p;

    (void)state;
    ring_open(3, 0, &p);
    assert_int_equal(fake_open(ring_variants, (size_t)44 << 10, &engine), HYBRID_OK);
    settings_of(engine)->schedule = &hy_schedule_entry_ring;
    options.flags                 = HYBRID_EXPLAIN;
    assert_int_equal(hybrid_spgemm_plan(engine, &p.A, &p.B, &options, &plan), HYBRID_OK);
    hybrid_plan_details(plan, text, sizeof text);
    assert_non_null(strstr(text, "B passes through the device, "));
    assert_non_null(strstr(text, " entries at a time"));
    hybrid_plan_explain(plan, text, sizeof text);
    assert_non_null(strstr(text, "B passes through the memory of the GPU"));
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    ring_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets_choose_the_ring),
        cmocka_unit_test(a_narrow_band_takes_a_small_ring),
        cmocka_unit_test(chunks_overtake_nothing),
        cmocka_unit_test(each_device_has_a_window),
        cmocka_unit_test(a_device_may_skip_rows),
        cmocka_unit_test(far_entries_are_gathered),
        cmocka_unit_test(empty_rows_at_the_end_are_not_awaited),
        cmocka_unit_test(a_plan_says_what_it_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
