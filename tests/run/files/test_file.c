/* tests/run/files/test_file.c - products with X in a file.

   Tests every way in which a product reads X, on the host and on a device, and how much
   of X is in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/schedules/schedule.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/inputs/hypersparse.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/fake/settings.h"
#include "support/inputs/stored.h"

extern const hy_variant hy_spmm_host_rows;

enum { WIDTH = 13, WIDE = 200, SMALL = 600 << 10 };

/* ---- on a device ---- */

static int64_t run_schedule(const hy_schedule *schedule, size_t budget, int banded)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, &hy_spmm_fake_tiled,
                                              &hy_spmm_host_rows, NULL};
    const int step                         = case_step(2);
    int64_t made                           = 0;

    for (int k = 0; k < 2; k++)
        for (int orders = 0; orders < 4; orders++)
            for (int64_t gap = 0; gap < 10; gap += 5)
                for (int i = (k + orders + (int)gap) % step; i < 3; i += step) {
                    const int64_t width = (int64_t[]){1, WIDTH, WIDE}[i];
                    stored_trial t      = {.options = NULL};
                    assert_int_equal(fake_open(table, budget, &t.engine), HYBRID_OK);
                    settings_of(t.engine)->schedule = schedule;
                    stored_make(&t, stored_matrix(banded, stored_kinds[k]), width, orders,
                                gap, stored_kinds[k]);
                    made += stored_run(&t, 2, orders & 1 ? 0 : -1);
                    stored_free(&t);
                    hybrid_engine_destroy(t.engine);
                }
    return made;
}

static void every_schedule_is_right(void **state)
{
    (void)state;
    fake_delays(1, 0);
    for (int i = 0; hy_schedules[i]; i++) {
        const int64_t made = run_schedule(hy_schedules[i], 0, 1) +
                             run_schedule(hy_schedules[i], SMALL, 1) +
                             run_schedule(hy_schedules[i], SMALL, 0);
        print_message("%s: %lld\n", hy_schedules[i]->name, (long long)made);
        assert_int_equal(made > 0, hy_schedules[i] != &hy_schedule_entry_ring &&
                                       hy_schedules[i] != &hy_schedule_collect &&
                                       hy_schedules[i] != &hy_schedule_passes);
    }
    assert_int_equal(fake_alive(), 0);
}

/* Only some columns of A have entries, so that only some rows of X are read from its
   file. Y is right, whether chunks gather rows of X or not. */
static void a_reduced_matrix_is_right(void **state)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, NULL};

    (void)state;
    for (int i = 0; hy_schedules[i]; i++)
        for (int k = 0; k < 2; k++)
            for (int orders = 0; orders < 4; orders++) {
                stored_trial t = {.options = NULL};
                hybrid_csr A;
                assert_int_equal(fake_open(table, 0, &t.engine), HYBRID_OK);
                settings_of(t.engine)->hypersparse_bytes = 1;
                settings_of(t.engine)->schedule          = hy_schedules[i];
                hypersparse_make(0, stored_kinds[k], &A);
                stored_make(&t, A, 32, orders, 0, stored_kinds[k]);
                stored_run(&t, 1, 0);
                stored_free(&t);
                hybrid_engine_destroy(t.engine);
            }
}

/* If X is in a file, the host takes no rows although half of them are demanded for it,
   because it would have to read X in place. */
static void nothing_is_shared(void **state)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, &hy_spmm_host_rows,
                                              NULL};
    hybrid_plan_options options            = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_report report                   = HYBRID_REPORT_INIT;
    stored_trial t                         = {.options = &options};

    (void)state;
    options.split      = HYBRID_SPLIT_SHARE;
    options.host_share = 0.5;
    assert_int_equal(fake_open(table, 0, &t.engine), HYBRID_OK);
    stored_make(&t, stored_matrix(0, stored_kinds[0]), WIDTH, 3, 0, stored_kinds[0]);
    assert_true(stored_run(&t, 1, 0));
    assert_int_equal(hybrid_engine_report(t.engine, &report), HYBRID_OK);
    assert_true(report.chunks > 0 && report.host_chunks == 0);
    stored_free(&t);
    hybrid_engine_destroy(t.engine);
}

/* ---- on the host ---- */

static void the_host_is_right(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int orders = 0; orders < 4; orders++)
            for (int64_t gap = 0; gap < 10; gap += 5)
                for (int64_t width = 0; width <= WIDTH; width++) {
                    stored_trial t = {.engine = open_host(2, 0)};
                    stored_make(&t, stored_matrix(0, stored_kinds[k]), width, orders, gap,
                                stored_kinds[k]);
                    assert_true(stored_run(&t, 3, orders & 1));
                    stored_free(&t);
                    hybrid_engine_destroy(t.engine);
                }
}

/* Products are right if rows, or columns, of X in a file are longer than a piece. */
static void large_lines_are_right(void **state)
{
    (void)state;
    for (int orders = 0; orders < 4; orders++) {
        stored_trial t = {.engine = open_host(2, 0)};
        hybrid_csr A;
        matrix_random(20, orders & 1 ? 40 : 20000, 9, 7, stored_kinds[0], &A);
        stored_make(&t, A, orders & 1 ? 20000 : 6, orders, 1, stored_kinds[0]);
        assert_true(stored_run(&t, 1, 0));
        stored_free(&t);
        hybrid_engine_destroy(t.engine);
    }
}

/* X takes 32 MiB, ten times the cap of the engine. */
enum { PEAK_ROWS = 1 << 15, PEAK_COLS = 128, PEAK_BYTES = PEAK_ROWS * PEAK_COLS * 8 };

static void memory_holds_a_part_of_x(void **state)
{
    (void)state;
    for (int orders = 0; orders < 4; orders++) {
        stored_trial t       = {.engine = open_host(2, PEAK_BYTES / 10)};
        hybrid_report report = HYBRID_REPORT_INIT;
        hybrid_csr A;
        matrix_random(100, PEAK_ROWS, 30, 7, stored_kinds[1], &A);
        stored_make(&t, A, PEAK_COLS, orders, 0, stored_kinds[1]);
        assert_true(stored_run(&t, 1, 1));
        assert_int_equal(hybrid_engine_report(t.engine, &report), HYBRID_OK);
        assert_true(report.peak_host_bytes <= PEAK_BYTES / 10);
        assert_true(report.chunks >= 10); /* one chunk per block of rows */
        stored_free(&t);
        hybrid_engine_destroy(t.engine);
    }
}

/* Each column of X takes twice the memory of the engine. */
static void a_column_need_not_fit(void **state)
{
    (void)state;
    for (int orders = 0; orders < 4; orders++) {
        stored_trial t = {.engine = open_host(2, 1 << 20)};
        hybrid_csr A;
        matrix_random(5, 1 << 18, 30, 7, stored_kinds[1], &A);
        stored_make(&t, A, 2, orders, 0, stored_kinds[1]);
        assert_true(stored_run(&t, 1, 1));
        stored_free(&t);
        hybrid_engine_destroy(t.engine);
    }
}

static void a_row_must_fit(void **state)
{
    stored_trial t = {.engine = open_host(2, 1 << 20)};
    hybrid_plan *plan;
    hybrid_file *file;
    hybrid_csr A;

    (void)state;
    matrix_random(5, 2, 30, 7, stored_kinds[1], &A);
    stored_make(&t, A, 1 << 18, 1, 0, stored_kinds[1]);
    assert_int_equal(hybrid_spmm_plan(t.engine, &t.A, 1 << 18, NULL, &plan), HYBRID_OK);
    assert_int_equal(hybrid_file_open(t.engine, io_temp("x.json"), &file), HYBRID_OK);
    assert_int_equal(hybrid_spmm_run_file(plan, 1, &t.A, file, 0, &t.Y),
                     HYBRID_NO_MEMORY);
    assert_non_null(strstr(hybrid_engine_message(t.engine), "rows of X"));
    hybrid_file_close(file);
    hybrid_plan_destroy(plan);
    stored_free(&t);
    hybrid_engine_destroy(t.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_is_right),
        cmocka_unit_test(a_reduced_matrix_is_right),
        cmocka_unit_test(nothing_is_shared),
        cmocka_unit_test(the_host_is_right),
        cmocka_unit_test(large_lines_are_right),
        cmocka_unit_test(memory_holds_a_part_of_x),
        cmocka_unit_test(a_column_need_not_fit),
        cmocka_unit_test(a_row_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
