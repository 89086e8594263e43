/* tests/run/ring/test_row_ring.c - X on the device in a ring of rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "partition/format/ring.h"
#include "support/inputs/builder.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"
#include "support/inputs/windows.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* ---- positions in the ring ---- */

/* Each row of X that a chunk needs has a place of its own in the ring: its number modulo
   the ring's rows. */
static void places_are_rows_modulo_the_window(void **state)
{
    const hy_image whole = hy_image_of_dense(HY_FORM_ROWS, 1000, 3, HYBRID_F64, 0);

    (void)state;
    for (int64_t window = 32; window < 90; window++)
        for (int64_t first = 0; first < 400; first += 7) {
            const hy_image image = hy_image_row_ring(&whole, window);
            const hy_chunk chunk = {.x_begin = first,
                                    .x_end   = first + hy_ring_max_span(window)};
            const hy_ring w      = hy_ring_of(&image, &chunk);
            assert_false(hy_ring_has(&w, (int32_t)first - 1));
            assert_false(hy_ring_has(&w, (int32_t)chunk.x_end));
            for (int64_t r = first; r < chunk.x_end; r++) {
                assert_true(hy_ring_has(&w, (int32_t)r));
                assert_int_equal(hy_ring_position(&w, (int32_t)r), r % window);
            }
        }
}

/* A piece that the loader copies can begin at any element, and ends within the ring. It
   must not replace rows that a chunk may need together with its last row. */
static void pieces_leave_room_for_a_chunk(void **state)
{
    const hy_image whole = hy_image_of_dense(HY_FORM_ROWS, 1000, 3, HYBRID_F64, 0);
    const int64_t ld     = hy_image_region(&whole, 0).ld;

    (void)state;
    for (int64_t window = 32; window < 90; window++) {
        const hy_image image   = hy_image_row_ring(&whole, window);
        const hy_region region = hy_image_region(&image, 0);
        for (int64_t done = 0; done < 5 * window * ld; done++) {
            const int64_t stop = hy_image_piece(&image, &region, done, image.rows * ld);
            assert_true(stop > done);
            assert_int_equal(done / (window * ld), (stop - 1) / (window * ld));
            const int64_t first = done / ld + 1 - hy_ring_max_span(window);
            assert_true(hy_image_displaced(&image, 0, stop) <= first);
        }
    }
}

/* ---- products ---- */

static void every_budget_is_kept(void **state)
{
    static const char *const names[] = {"spmm.fake.rows", NULL};
    int64_t checked = 0, windowed = 0;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(windows_check(fake_spmm_open, names, &checked, &windowed), 0);
    assert_true(checked > 300 && windowed > 40);
    assert_int_equal(fake_alive(), 0);
}

/* Makes a matrix of which row i has columns i - 2 to i + 2. */
static hybrid_csr five_diagonals(int64_t rows)
{
    builder b = build_start(rows, rows);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = i - 2; j <= i + 2; j++)
            if (j >= 0 && j < rows)
                build_add(&b, j);
        build_end_row(&b);
    }
    return build_finish(&b, 3, f64);
}

enum { ROWS = 2000, COLUMNS = 12 };

static hybrid_status multiply(hybrid_engine *engine, const hybrid_csr *A,
                              const hybrid_plan_options *options, int runs)
{
    hybrid_dense X, Y, before;
    hybrid_plan *plan;
    hybrid_status status = hybrid_spmm_plan(engine, A, COLUMNS, options, &plan);

    if (status != HYBRID_OK)
        return status;
    assert_int_equal(plan->portions->layout.image.axis, HY_AXIS_ROWS);
    assert_in_range(plan->portions->layout.image.held, 1, A->cols - 1);
    for (int k = 0; k < runs && status == HYBRID_OK; k++) {
        dense_make(A->cols, COLUMNS, 0, HYBRID_ROW_MAJOR, (unsigned)k, f64, &X);
        dense_make(A->rows, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, f64, &Y);
        dense_copy(&Y, &before);
        status = hybrid_spmm_run(plan, 1, A, &X, 0, &Y);
        if (status == HYBRID_OK)
            assert_null(oracle_check_spmm(1, A, &X, 0, &before, &Y, 1));
        dense_free(&X);
        dense_free(&Y);
        dense_free(&before);
    }
    hybrid_plan_destroy(plan);
    return status;
}

/* Several chunks are in flight in different stages, with random delays. No chunk may
   read rows of X before they are loaded or after they are replaced. */
static void chunks_overtake_nothing(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr A                = five_diagonals(ROWS);

    (void)state;
    options.variant = "spmm.fake.rows";
    for (unsigned seed = 1; seed < 7; seed++) {
        hybrid_engine *engine;
        fake_delays(seed, 50);
        options.flags = seed % 2 ? HYBRID_RESIDENT : 0;
        engine        = fake_spmm((size_t)32 << 10);
        assert_int_equal(multiply(engine, &A, &options, 3), HYBRID_OK);
        hybrid_engine_destroy(engine);
    }
    fake_delays(1, 0);
    matrix_free(&A);
    assert_int_equal(fake_alive(), 0);
}

/* ---- the planner ---- */

static hybrid_plan *plan_with(hybrid_engine *engine, const hybrid_csr *A, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.variant = "spmm.fake.rows";
    options.flags   = flags;
    assert_int_equal(hybrid_spmm_plan(engine, A, COLUMNS, &options, &plan), HYBRID_OK);
    return plan;
}

static void a_plan_says_what_it_does(void **state)
{
    hybrid_csr A = five_diagonals(ROWS);
    hybrid_engine *engine;
    char text[4096];

    (void)state;
    engine                = fake_spmm((size_t)60 << 10);
    hybrid_plan *plan     = plan_with(engine, &A, HYBRID_EXPLAIN);
    const hybrid_report r = report_of(plan);
    hybrid_plan_details(plan, text, sizeof text);
    assert_non_null(strstr(text, "X passes through the device, "));
    assert_int_equal(r.gathered, 0);
    /* the prediction says that gathering rows would send more bytes */
    assert_true(r.other_h2d_bytes > r.predicted_h2d_bytes);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* A plan with gathered chunks sends only rows of X in whose column A has entries. */
static void few_rows_of_x_are_gathered(void **state)
{
    builder b = build_start(ROWS / 10, ROWS);
    hybrid_engine *engine;

    (void)state;
    for (int64_t i = 0; i < b.rows; i++) {
        build_add(&b, 10 * i);
        build_end_row(&b);
    }
    hybrid_csr A      = build_finish(&b, 3, f64);
    engine            = fake_spmm((size_t)60 << 10);
    hybrid_plan *plan = plan_with(engine, &A, 0);
    assert_int_not_equal(plan->portions->layout.image.axis, HY_AXIS_ROWS);
    const hybrid_report r = report_of(plan);
    assert_true(r.gathered && r.predicted_h2d_bytes < r.other_h2d_bytes);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* The plan has X in a ring of rows. A run with another pattern, whose chunks need rows
   that are not in the ring, must fail instead of reading other rows. */
static void other_patterns_are_refused(void **state)
{
    hybrid_csr A = five_diagonals(ROWS);
    hybrid_engine *engine;
    hybrid_dense X, Y;

    (void)state;
    engine            = fake_spmm((size_t)60 << 10);
    hybrid_plan *plan = plan_with(engine, &A, 0);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, f64, &X);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, f64, &Y);
    assert_int_equal(hybrid_spmm_run(plan, 1, &A, &X, 0, &Y), HYBRID_OK);
    hy_cols(&A)[2] = ROWS - 1;
    assert_int_equal(hybrid_spmm_run(plan, 1, &A, &X, 0, &Y), HYBRID_BAD_STATE);
    assert_non_null(strstr(hybrid_engine_message(engine), "have columns outside"));
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    dense_free(&X);
    dense_free(&Y);
    matrix_free(&A);
}

/* ---- failures ---- */

static hybrid_status multiply_once(hybrid_engine *engine, void *arg)
{
    return fake_explained(engine, multiply(engine, arg, NULL, 1));
}

static void every_call_fails_once(void **state)
{
    hybrid_csr A         = five_diagonals(ROWS / 4);
    const fake_failing f = {multiply_once, &A, (size_t)32 << 10, 20000, 8};

    (void)state;
    fake_delays(1, 0);
    assert_true(fake_fail_each(&f, &fault_allocation) > 5);
    assert_true(fake_fail_each(&f, &fault_device) > 50);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_rows_modulo_the_window),
        cmocka_unit_test(pieces_leave_room_for_a_chunk),
        cmocka_unit_test(every_budget_is_kept),
        cmocka_unit_test(chunks_overtake_nothing),
        cmocka_unit_test(a_plan_says_what_it_does),
        cmocka_unit_test(few_rows_of_x_are_gathered),
        cmocka_unit_test(other_patterns_are_refused),
        cmocka_unit_test(every_call_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
