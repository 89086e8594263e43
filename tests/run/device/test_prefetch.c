/* tests/run/device/test_prefetch.c - B of a one-shot product is sent to the device during
   planning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/inputs/cases.h"
#include "support/runs/prefetches.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"

/* ---- the plan uses B ---- */

static void the_plan_takes_over_what_was_begun(void **state)
{
    prefetch_world w;

    (void)state;
    prefetch_operands(&w, 5);
    prefetch_open(&w, prefetch_staying, 0);
    hy_loader *loader            = prefetch_begin(&w);
    const hy_lane_set *lane_set  = loader->lane_set;
    hybrid_plan *plan            = prefetch_plan(&w, loader);
    hybrid_plan *other           = prefetch_plan(&w, NULL);
    const prefetch_shape with    = prefetch_shape_of(plan),
                         without = prefetch_shape_of(other);
    assert_ptr_equal(plan->portions->site->loader, loader);
    assert_ptr_equal(plan->portions->site->lane_set, lane_set);
    assert_memory_equal(&with, &without, sizeof with);
    hybrid_plan_destroy(other);
    hybrid_plan_destroy(plan); /* waits for the copy of B that was begun for this plan,
                                  which never ran */
    /* lanes of the destroyed plan can be reused */
    assert_ptr_equal(w.engine->ctx.lane_sets, lane_set);
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

typedef struct record {
    int64_t loads, load_bytes, load_begin, load_end, first_multiply;
} record;

static void watch(void *user, const hybrid_event *event)
{
    record *r = user;

    if (strcmp(event->stage, "load") == 0) {
        assert_true(event->begin_ns <= event->end_ns);
        r->loads++;
        r->load_bytes = event->bytes;
        r->load_begin = event->begin_ns;
        r->load_end   = event->end_ns;
    }
    if (strcmp(event->stage, "multiply") == 0 && r->first_multiply == 0)
        r->first_multiply = event->begin_ns;
}

/* B is sent once, during planning. The report is that of a run of a plan, except for
   times. */
static void b_is_sent_once(void **state)
{
    record r = {0};
    hybrid_csr C;
    prefetch_world w;

    (void)state;
    fake_delays(2, 50);
    prefetch_operands(&w, 5);
    prefetch_open(&w, prefetch_late, 0);
    hybrid_plan *plan = prefetch_plan(&w, NULL);
    assert_int_equal(hybrid_spgemm_run(plan, &w.A, &w.B, &C), HYBRID_OK);
    const hybrid_report planned = prefetch_report(&w);
    assert_memory_equal(&planned, &plan->history.report, sizeof planned);
    hybrid_csr_free(w.engine, &C);
    hybrid_plan_destroy(plan);

    hybrid_engine_trace(w.engine, watch, &r);
    assert_int_equal(prefetch_multiply(&w, 0), HYBRID_OK);
    const hybrid_report once = prefetch_report(&w);
    assert_int_equal(once.h2d_bytes, planned.h2d_bytes);
    assert_int_equal(once.nnz_out, w.product.nnz);
    assert_true(once.load_s > 0);
    /* seconds; the total time includes planning */
    assert_true(once.total_s > PREFETCH_SLOW_US * 1e-6);
    assert_int_equal(r.loads, 1);
    assert_true(r.load_bytes > w.B.nnz * 12);
    assert_true(r.load_end < r.first_multiply);
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

/* B is being sent before the plan is made. On a busy machine the loader's thread may be
   late in many rounds, but not in all. */
static void b_is_on_its_way_before_there_is_a_plan(void **state)
{
    record r   = {0};
    int before = 0;
    hybrid_csr C;
    prefetch_world w;

    (void)state;
    prefetch_operands(&w, 5);
    prefetch_open(&w, prefetch_late, 0);
    hybrid_engine_trace(w.engine, watch, &r);
    hybrid_plan *plan = prefetch_plan(&w, NULL);
    assert_int_equal(hybrid_spgemm_run(plan, &w.A, &w.B, &C), HYBRID_OK);
    assert_true(r.load_begin > prefetch_planned_ns);
    hybrid_csr_free(w.engine, &C);
    hybrid_plan_destroy(plan);
    for (int turn = 0; turn < 1000 && !before; turn++) {
        assert_int_equal(prefetch_multiply(&w, 0), HYBRID_OK);
        before = r.load_begin < prefetch_planned_ns;
    }
    assert_true(before);
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

/* For A*A, once all of B (which is A) has arrived, the device counts the scalar products
   of rows. The plan is the plan that is made without prefetching. Every row of A needs
   late rows of B, so that no chunk begins before all of B has arrived. */
static void the_device_counts_when_it_has_both(void **state)
{
    const hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hy_loader *loader;
    hybrid_plan *plan, *other;
    prefetch_world w;

    (void)state;
    fake_delays(4, 50);
    prefetch_operands(&w, 5);
    prefetch_open(&w, prefetch_staying, 0);
    const int64_t before = fake_counts();
    assert_int_equal(prefetch_multiply(&w, 0), HYBRID_OK);
    assert_int_equal(fake_counts(), before); /* for A*B the device does not count, because
                                                it has no columns of A */
    assert_int_equal(prefetch_multiply(&w, 1), HYBRID_OK);
    assert_int_equal(fake_counts(), before + 1);

    assert_int_equal(hy_prefetch_begin(w.engine, &w.A, &w.A, &loader), HYBRID_OK);
    const hy_one_shot once = {.prefetcher = loader}, late = {0};
    assert_int_equal(hy_plan_make(w.engine, &w.A, &w.A, 0, &options, &once, &plan),
                     HYBRID_OK);
    assert_int_equal(fake_counts(), before + 2);
    assert_int_equal(hy_plan_make(w.engine, &w.A, &w.A, 0, &options, &late, &other),
                     HYBRID_OK);
    assert_int_equal(fake_counts(), before + 2);
    const prefetch_shape with    = prefetch_shape_of(plan),
                         without = prefetch_shape_of(other);
    assert_memory_equal(&with, &without, sizeof with);
    hybrid_plan_destroy(other);
    hybrid_plan_destroy(plan);
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

static void delays_change_no_result(void **state)
{
    prefetch_world w;

    (void)state;
    prefetch_operands(&w, 5);
    for (unsigned seed = 1; seed < 12; seed++) {
        fake_delays(seed, 150);
        prefetch_open(&w, seed % 3 == 0 ? prefetch_late : prefetch_staying, 0);
        for (int run = 0; run < 4; run++)
            assert_int_equal(prefetch_multiply(&w, run % 2), HYBRID_OK);
        prefetch_close(&w);
    }
    prefetch_operands_free(&w);
}

static void pinned_operands_come_from_where_they_are(void **state)
{
    prefetch_world w;

    (void)state;
    fake_delays(3, 20);
    prefetch_operands(&w, 5);
    prefetch_open(&w, prefetch_late, 0);
    assert_int_equal(hybrid_pin(w.engine, w.B.val, (size_t)w.B.nnz * 8), HYBRID_OK);
    const int64_t before = fake_direct();
    assert_int_equal(prefetch_multiply(&w, 0), HYBRID_OK);
    assert_true(fake_direct() - before >= w.B.nnz * 8);
    assert_int_equal(hybrid_unpin(w.engine, w.B.val), HYBRID_OK);
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

static void empty_operands_are_no_exception(void **state)
{
    static int64_t zeros[PREFETCH_ROWS + 1];
    hybrid_csr none  = {PREFETCH_ROWS, PREFETCH_ROWS, 0,    HYBRID_I64,
                        zeros,         NULL,          NULL, HYBRID_F64};
    hybrid_csr empty = {0, PREFETCH_ROWS, 0, HYBRID_I64, zeros, NULL, NULL, HYBRID_F64};
    hybrid_csr C;
    prefetch_world w;

    (void)state;
    prefetch_operands(&w, 5);
    prefetch_open(&w, prefetch_late, 0);
    const hybrid_csr *const pairs[][2] = {
        {&w.A, &none}, {&none, &w.B}, {&none, &none}, {&empty, &w.B}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_int_equal(hybrid_spgemm(w.engine, pairs[i][0], pairs[i][1], &C),
                         HYBRID_OK);
        assert_true(C.rows == pairs[i][0]->rows && C.cols == PREFETCH_ROWS && C.nnz == 0);
        hybrid_csr_free(w.engine, &C);
    }
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

/* ---- the plan does not use B ---- */

static void small_ones_and_hosts_do_without(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    prefetch_world w;

    (void)state;
    prefetch_operands(&w, 5);
    prefetch_open(&w, prefetch_staying, 0);
    settings_of(w.engine)->prefetch_bytes = HY_PREFETCH_BYTES;
    assert_null(prefetch_begin(&w));
    prefetch_close(&w);
    options.backend = HYBRID_HOST;
    assert_int_equal(hybrid_engine_create(&options, &w.engine), HYBRID_OK);
    settings_of(w.engine)->prefetch_bytes = 1;
    assert_null(prefetch_begin(&w));
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

/* If the plan does not need B on the device, the memory of the prefetched B is freed. */
static void what_nobody_wants_is_given_back(void **state)
{
    static const hy_variant *const *const tables[] = {prefetch_on_host,
                                                      prefetch_carrying};
    prefetch_world w;

    (void)state;
    prefetch_operands(&w, 5);
    for (unsigned seed = 1; seed < 5; seed++)
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
            fake_delays(seed, 100);
            prefetch_open(&w, tables[i], 0);
            hy_loader *loader = prefetch_begin(&w);
            assert_non_null(loader);
            hybrid_plan *plan = prefetch_plan(&w, loader);
            assert_null(plan->portions->site->loader);
            hybrid_plan_destroy(plan);
            assert_int_equal(prefetch_multiply(&w, 0), HYBRID_OK);
            prefetch_close(&w);
        }
    prefetch_open(&w, prefetch_nowhere, 0);
    assert_int_equal(prefetch_multiply(&w, 0), HYBRID_UNSUPPORTED);
    assert_non_null(strstr(hybrid_engine_message(w.engine), "nothing is computed"));
    prefetch_close(&w);
    prefetch_operands_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_takes_over_what_was_begun),
        cmocka_unit_test(b_is_sent_once),
        cmocka_unit_test(b_is_on_its_way_before_there_is_a_plan),
        cmocka_unit_test(the_device_counts_when_it_has_both),
        cmocka_unit_test(delays_change_no_result),
        cmocka_unit_test(pinned_operands_come_from_where_they_are),
        cmocka_unit_test(empty_operands_are_no_exception),
        cmocka_unit_test(small_ones_and_hosts_do_without),
        cmocka_unit_test(what_nobody_wants_is_given_back),
    };
    return cmocka_run_group_tests_name("early", tests, NULL, NULL);
}
