/* tests/run/ring/test_column_blocks.c - X on the device in column blocks, and A for all
   of them. */
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
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/check/oracle.h"
#include "support/runs/column_block_runs.h"
#include "support/engines/places.h"
#include "support/fake/settings.h"

static void every_case_is_right(void **state)
{
    static const char *const names[] = {"spmm.fake.rows", "spmm.fake.tiled", NULL};
    int64_t checked                  = 0;

    (void)state;
    fake_delays(1, 0);
    hybrid_engine *engine = fake_spmm(0);
    assert_int_equal(column_blocks_check(engine, names, &checked), 0);
    assert_true(checked > 300);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

/* ---- budgets ---- */

enum { ROWS = 500, COLUMNS = 70 };

/* Number of plans by layout. whole: X is whole on the device or in a ring of rows. kept:
   X in column blocks, all of A cached. part: X in column blocks, some of A cached.
   gathered: chunks gather rows of X. refused: no row fits the budget. */
typedef struct tally {
    int whole, kept, part, gathered, refused;
} tally;

static void run_once(hybrid_plan *plan, const hybrid_csr *A, test_kind kind, int turn)
{
    const hybrid_order order = turn % 2 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
    hybrid_dense X, Y, before;

    dense_make(A->cols, COLUMNS, turn, order, (unsigned)turn, kind, &X);
    dense_make(A->rows, COLUMNS, turn % 3 ? 1 : 10, HYBRID_ROW_MAJOR, 2, kind, &before);
    void *line = dense_move(&before, 16 + (size_t)turn * 8, &Y);
    assert_int_equal(hybrid_spmm_run(plan, 2, A, &X, turn, &Y), HYBRID_OK);
    assert_null(oracle_check_spmm(2, A, &X, turn, &before, &Y, kind.integers));
    assert_true(dense_gaps_intact(&Y) && dense_moved_intact(line, &Y));
    if (plan->portions->layout.image.axis == HY_AXIS_COLS)
        assert_null(column_blocks_misplaced(plan, &Y));
    free(line);
    dense_free(&X);
    dense_free(&before);
}

/* Checks the report of a run: it sent about as many bytes as predicted, not more, and no
   operand twice. `again`: A was cached by an earlier run, and must not be sent. */
static void check_bytes(const hybrid_plan *plan, const hybrid_csr *A, int again)
{
    const hybrid_report r   = report_of(plan);
    const int64_t size      = A->type == HYBRID_F64 ? 8 : 4;
    const int64_t x         = A->cols * COLUMNS * size;
    const int64_t a         = A->nnz * (4 + size) + (A->rows + 1) * 8;
    const int64_t alignment = (r.chunks + 1) * 3 * 256 + A->cols * 8 * size;

    assert_true(r.h2d_bytes >= r.predicted_h2d_bytes - alignment);
    assert_true(r.h2d_bytes <= r.predicted_h2d_bytes);
    assert_int_equal(r.d2h_bytes, A->rows * COLUMNS * size);
    if (plan->portions->layout.chunks[plan->portions->layout.count - 1].cached &&
        plan->portions->layout.image.axis == HY_AXIS_COLS)
        assert_in_range(r.h2d_bytes, again ? x : x + a, x + (again ? 0 : a) + alignment);
    if (plan->portions->layout.ways_up.gathered >= 0 &&
        plan->portions->layout.ways_up.ring >= 0) {
        assert_int_equal(r.gathered, plan->portions->layout.ways_up.gathered <=
                                         plan->portions->layout.ways_up.ring);
        assert_int_equal(r.other_h2d_bytes,
                         r.gathered ? plan->portions->layout.ways_up.ring
                                    : plan->portions->layout.ways_up.gathered);
    }
}

static void count(const hybrid_plan *plan, tally *sum)
{
    const int kept =
        plan->portions->layout.chunks[plan->portions->layout.count - 1].cached;

    sum->gathered += hy_image_is_gathered(&plan->portions->layout.image);
    sum->whole += !hy_image_is_gathered(&plan->portions->layout.image) &&
                  plan->portions->layout.image.axis != HY_AXIS_COLS;
    sum->kept += plan->portions->layout.image.axis == HY_AXIS_COLS && kept;
    sum->part += plan->portions->layout.image.axis == HY_AXIS_COLS && !kept;
}

static void try_budget(size_t budget, unsigned flags, const hybrid_csr *A, test_kind kind,
                       tally *sum)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine       = fake_spmm(budget);
    hybrid_plan *plan;

    engine->host->measured.mem_Bps = 1e13; /* bytes per second; host memory costs next to
                                              no time, so that bytes on the bus decide
                                              which schedule is fastest */
    options.variant            = "spmm.fake.rows";
    options.flags              = flags;
    const hybrid_status status = hybrid_spmm_plan(engine, A, COLUMNS, &options, &plan);
    if (status == HYBRID_OK) {
        assert_int_equal(sum->refused, 0);
        for (int turn = 0; turn < 2; turn++) {
            run_once(plan, A, kind, turn);
            check_bytes(plan, A, turn && flags & HYBRID_RESIDENT);
            assert_true(report_of(plan).peak_device_bytes <= (int64_t)budget);
        }
        count(plan, sum);
        hybrid_plan_destroy(plan);
    } else {
        assert_int_equal(status, HYBRID_NO_DEVICE_MEMORY);
        sum->refused++;
    }
    hybrid_engine_destroy(engine);
}

static void every_budget_is_kept(void **state)
{
    static const test_kind kinds[] = {{HYBRID_F64, HYBRID_I64, 1},
                                      {HYBRID_F32, HYBRID_I32, 0}};

    tally sum = {0};

    (void)state;
    for (int k = 0; k < 4; k++) {
        hybrid_csr A;
        sum.refused = 0;
        fake_delays((unsigned)k, k < 2 ? 0 : 30);
        matrix_random(ROWS, ROWS, 25, 5, kinds[k % 2], &A);
        for (size_t budget = (size_t)800 << 10; budget > (64 << 10);
             budget -= budget / 11)
            try_budget(budget, k < 2 ? 0 : HYBRID_RESIDENT, &A, kinds[k % 2], &sum);
        for (size_t budget = 1 << 14; budget >= 256; budget /= 8)
            try_budget(budget, k < 2 ? 0 : HYBRID_RESIDENT, &A, kinds[k % 2], &sum);
        matrix_free(&A);
    }
    assert_true(sum.whole > 8 && sum.kept > 3 && sum.part > 3 && sum.gathered > 4);
    assert_true(sum.refused > 0);
    assert_int_equal(fake_alive(), 0);
}

/* ---- position of Y in cache lines ---- */

/* Device memory in bytes, columns of X, and elements between rows of Y. The numbers are
   for f32; with f64 the gap is half as large. */
typedef struct layout {
    size_t budget;
    int64_t cols, gap, panels; /* panels: number of column blocks; 0: the planner
                                  decides */
} layout;

/* Number of runs that had one column block more than the plan, and of runs with a last
   block that was wider than the others. */
static int one_more, wider;

/* Runs the plan with Y beginning at each element of a cache line, with and without beta.
   Returns the number of runs in which the first column block was narrower, so that the
   others begin with cache lines of Y. */
static int run_everywhere(hybrid_plan *plan, const hybrid_csr *A, test_kind kind,
                          const layout *l)
{
    const size_t size   = kind.type == HYBRID_F64 ? 8 : 4;
    const int64_t count = plan->portions->layout.count;
    int moved           = 0;
    hybrid_dense X, before;

    dense_make(A->cols, l->cols, 0, HYBRID_ROW_MAJOR, 1, kind, &X);
    dense_make(A->rows, l->cols, l->gap * 4 / (int64_t)size, HYBRID_ROW_MAJOR, 2, kind,
               &before);
    for (size_t at = 0; at < 64; at += size)
        for (int k = 0; k < 3; k++) {
            const double alpha = k == 2 ? 2 : 1, beta = k == 1 ? 3 : 0;
            hybrid_dense Y;
            void *line = dense_move(&before, at, &Y);
            assert_int_equal(hybrid_spmm_run(plan, alpha, A, &X, beta, &Y), HYBRID_OK);
            assert_null(oracle_check_spmm(alpha, A, &X, beta, &before, &Y, 1));
            assert_true(dense_gaps_intact(&Y) && dense_moved_intact(line, &Y));
            assert_null(column_blocks_misplaced(plan, &Y));
            moved += plan->portions->site->list.image.back > 0;
            one_more += plan->portions->site->list.count > count;
            wider += plan->portions->site->list.image.last >
                     plan->portions->site->list.image.block;
            free(line);
        }
    dense_free(&X);
    dense_free(&before);
    return moved;
}

static void try_layout(const hybrid_csr *A, test_kind kind, const layout *l,
                       unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    const int64_t cols          = kind.type == HYBRID_F64 ? l->cols / 2 : l->cols;
    const int places            = kind.type == HYBRID_F64 ? 8 : 16;
    const layout in             = {l->budget, cols, l->gap, l->panels};
    hybrid_engine *engine       = fake_spmm(l->budget);
    hybrid_plan *plan;

    options.variant                    = "spmm.fake.rows";
    options.flags                      = flags;
    settings_of(engine)->column_blocks = l->panels;
    if (l->panels > 0)
        settings_of(engine)->schedule = &hy_schedule_column_ring;
    assert_int_equal(hybrid_spmm_plan(engine, A, cols, &options, &plan), HYBRID_OK);
    assert_true(plan->portions->layout.image.axis == HY_AXIS_COLS);
    assert_int_equal(run_everywhere(plan, A, kind, &in),
                     (l->cols + l->gap) % 16 == 0 && !(flags & HYBRID_DETERMINISTIC)
                         ? 3 * (places - 1)
                         : 0);
    assert_true(l->budget == 0 ||
                report_of(plan).peak_device_bytes <= (int64_t)l->budget);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
}

static void panels_begin_where_lines_of_y_do(void **state)
{
    static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                      {HYBRID_F64, HYBRID_I64, 1}};
    static const layout layouts[]  = {{0, 128, 0, 4},        {0, 112, 0, 3},
                                      {0, 70, 10, 2},        {0, 34, 14, 2},
                                      {0, 128, 2, 4},        {90 << 10, 128, 0, 0},
                                      {90 << 10, 98, 14, 0}, {90 << 10, 128, 6, 0}};

    (void)state;
    fake_delays(1, 0);
    for (int k = 0; k < 2; k++) {
        hybrid_csr A;
        matrix_random(300, 300, 9, 5, kinds[k], &A);
        for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
            try_layout(&A, kinds[k], &layouts[i], i % 2 ? HYBRID_RESIDENT : 0);
        try_layout(&A, kinds[k], &layouts[0], HYBRID_DETERMINISTIC);
        matrix_free(&A);
    }
    assert_true(one_more > 0 && wider > 0);
    assert_int_equal(fake_alive(), 0);
}

/* ---- failures ---- */

/* Runs a product with two column blocks of X on the device at once, in a ring. A later
   block waits for a free place, so that the loader and the driver block. */
static hybrid_status product_in_a_ring(hybrid_engine *engine, void *arg)
{
    const hybrid_csr *A         = arg;
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    const test_kind f64         = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_dense X, Y, before;
    hybrid_plan *plan;

    options.depth        = 2;
    hybrid_status status = hybrid_spmm_plan(engine, A, 40, &options, &plan);
    if (status != HYBRID_OK)
        return fake_explained(engine, status);
    assert_int_equal(plan->portions->layout.image.held, 2);
    assert_true(plan->portions->layout.image.block * 3 < 40);
    dense_make(A->cols, 40, 0, HYBRID_ROW_MAJOR, 1, f64, &X);
    dense_make(A->rows, 40, 0, HYBRID_ROW_MAJOR, 2, f64, &Y);
    dense_copy(&Y, &before);
    status = hybrid_spmm_run(plan, 1, A, &X, 0, &Y);
    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(1, A, &X, 0, &before, &Y, 1));
    hybrid_plan_destroy(plan);
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    return fake_explained(engine, status);
}

static void every_call_fails_once(void **state)
{
    const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_csr A;
    const fake_failing f = {product_in_a_ring, &A, 100 << 10, 5000, 16};

    (void)state;
    fake_delays(1, 0);
    matrix_random(300, 300, 5, 5, f64, &A);
    assert_true(fake_fail_each(&f, &fault_allocation) > 5);
    assert_true(fake_fail_each(&f, &fault_device) > 50);
    matrix_free(&A);
}

/* ---- the planner ---- */

/* Returns the number of column blocks of a plan with a bus of `bus_Bps` bytes per
   second. X is in f32, has `cols` columns, and fits the device. */
static int64_t panels_on(double bus_Bps, const hybrid_csr *A, int64_t cols,
                         unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine       = fake_spmm((size_t)1 << 30);
    hybrid_plan *plan;
    char text[4096];

    options.variant                  = "spmm.fake.rows";
    options.flags                    = flags;
    engine->host->measured.mem_Bps   = 80e9;
    engine->device->measured.h2d_Bps = bus_Bps;
    engine->device->measured.d2h_Bps = bus_Bps;
    assert_int_equal(hybrid_spmm_plan(engine, A, cols, &options, &plan), HYBRID_OK);
    const int64_t width  = plan->portions->layout.image.block;
    const int64_t panels = width > 0 ? (cols + width - 1) / width : 1;
    assert_int_equal(plan->portions->layout.count % panels, 0);
    assert_true(width == 0 || (width * 4 >= 128 && width * 4 % 64 == 0));
    hybrid_plan_details(plan, text, sizeof text);
    assert_int_equal(strstr(text, " column blocks of ") != NULL, panels > 1);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    return panels;
}

/* An X that fits the device is sent whole even if the bus is slow: with column blocks
   workers would store parts of rows of Y, more slowly than any bus copies them. */
static void an_x_that_fits_comes_whole(void **state)
{
    const test_kind f32 = {HYBRID_F32, HYBRID_I32, 0};
    hybrid_csr A;

    (void)state;
    matrix_random(1 << 17, 1 << 17, 4, 5, f32, &A);
    assert_int_equal(panels_on(12e9, &A, 128, 0), 1);
    assert_int_equal(panels_on(12e9, &A, 128, HYBRID_RESIDENT), 1);
    assert_int_equal(panels_on(50e9, &A, 256, 0), 1);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_is_right),
        cmocka_unit_test(every_budget_is_kept),
        cmocka_unit_test(panels_begin_where_lines_of_y_do),
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(an_x_that_fits_comes_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
