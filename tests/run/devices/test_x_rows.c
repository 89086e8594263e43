/* tests/run/devices/test_x_rows.c - a device gets only those rows of X that its rows of A
   touch. The room of the other rows on a fake device holds poison, so that a product that
   reads them is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "engine/sites/x_rows.h"
#include "engine/schedules/schedule.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"
#include "support/inputs/cases.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spmm_host_rows;

static const hy_backend_ops *const places[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                               NULL};
static const hy_variant *const variants[]   = {&hy_spmm_fake_rows, &hy_spmm_host_rows,
                                               NULL};

/* Rows of A touch at most WIDTH neighbouring rows of X. A plan may send GROUP rows that
   are not touched at each end of a range. */
enum { ROWS = 9000, EACH = 8, WIDTH = 300, GROUP = 64, MOST = 4 };

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    int64_t loaded; /* bytes of X from the host in the last run */
    int64_t relayed;
} world;

static void note(void *user, const hybrid_event *event)
{
    if (strcmp(event->stage, "load") == 0)
        ((world *)user)->loaded += event->bytes;
}

/* Moves the entries of each row to WIDTH columns beside the diagonal. */
static void make_banded(hybrid_csr *A)
{
    const int64_t *offsets = A->row_ptr;
    int32_t *cols          = A->col;

    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t n     = offsets[i + 1] - offsets[i];
        const int64_t most  = A->cols - WIDTH;
        const int64_t start = i < WIDTH / 2 ? 0 : i - WIDTH / 2;
        for (int64_t k = 0; k < n; k++)
            cols[offsets[i] + k] =
                (int32_t)((start < most ? start : most) + k * (WIDTH - 1) / n);
    }
}

static void open_world(world *w, int devices, int64_t columns, hybrid_order order)
{
    static const int listed[MOST] = {0, 1, 2, 3};
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    memset(w, 0, sizeof *w);
    options.threads      = 2;
    options.devices      = listed;
    options.device_count = devices;
    fake_delays(1, 50);
    assert_int_equal(fake_engine_open(&options, places, variants, &w->engine), HYBRID_OK);
    w->engine->host->measured.mem_Bps = 1e12; /* does not limit any device */
    matrix_random(ROWS, ROWS, EACH, 5, kind, &w->A);
    make_banded(&w->A);
    dense_make(ROWS, columns, 0, order, 1, kind, &w->X);
    dense_make(ROWS, columns, 0, order, 2, kind, &w->Y);
    dense_copy(&w->Y, &w->before);
    settings_of(w->engine)->all_devices = 1;
    hybrid_engine_trace(w->engine, note, w);
}

static void close_world(world *w)
{
    hybrid_engine_destroy(w->engine);
    matrix_free(&w->A);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    assert_int_equal(fake_alive(), 0);
}

static hybrid_plan *plan_of(world *w, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.split = HYBRID_SPLIT_GPU;
    options.flags = flags;
    options.order = w->X.order;
    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, w->X.cols, &options, &plan),
                     HYBRID_OK);
    assert_int_equal(plan->count, w->engine->device_count);
    return plan;
}

/* Computes Y = A*X, compares it with the oracle, and notes the bytes copied. */
static void run(world *w, hybrid_plan *plan)
{
    const int64_t relayed = fake_relayed();

    w->loaded = 0;
    assert_int_equal(hybrid_spmm_run(plan, 1, &w->A, &w->X, 0, &w->Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    w->relayed = fake_relayed() - relayed;
}

/* Checks that the image of each device has exactly the rows of X that its rows of A
   touch, apart from groups of rows. */
static void assert_limited(const world *w, const hybrid_plan *plan)
{
    const int64_t *offsets = w->A.row_ptr;
    const int32_t *cols    = w->A.col;

    for (int i = 0; i < plan->count; i++) {
        const hy_portion *p   = &plan->portions[i];
        const hy_image *image = &p->layout.image;
        int64_t first = ROWS, last = -1;
        for (int64_t k = offsets[p->begin]; k < offsets[p->end]; k++) {
            first = cols[k] < first ? cols[k] : first;
            last  = cols[k] > last ? cols[k] : last;
        }
        assert_int_equal(p->x_begin, first);
        assert_int_equal(p->x_end, last + 1);
        assert_in_range(first - image->before, 0, GROUP - 1);
        assert_in_range(ROWS - image->after - p->x_end, 0, GROUP - 1);
        assert_null(p->taking.variant);
    }
}

/* A banded matrix: every device gets its own rows of X, and none copies from another.
   Wide rows of X have tail columns, and one column is a vector without padding. */
static void a_banded_matrix_sends_each_row_once(void **state)
{
    static const int64_t columns[] = {64, 33, 1};
    static const unsigned flags[]  = {HYBRID_REUSE, HYBRID_RESIDENT,
                                      HYBRID_RESIDENT | HYBRID_DETERMINISTIC};

    (void)state;
    for (int k = 0; k < 12; k++) {
        const int devices = 2 + k % 3, column_major = k % 2;
        world w;
        open_world(&w, devices, columns[k % 3],
                   column_major ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR);
        fake_peerless(k % 4 == 3);
        hybrid_plan *plan = plan_of(&w, flags[k / 4]);
        assert_limited(&w, plan);
        for (int times = 0; times < 2; times++) {
            run(&w, plan);
            const hy_image *image = &plan->portions[0].layout.image;
            const int64_t row     = (int64_t)hy_image_room(image) / ROWS;
            assert_in_range(w.loaded, ROWS * row,
                            (ROWS + devices * (WIDTH + 2 * GROUP)) * row);
            assert_int_equal(w.relayed, 0);
        }
        hybrid_plan_destroy(plan);
        fake_peerless(0);
        close_world(&w);
    }
}

/* The plan predicts the bytes that a run sends. */
static void the_plan_knows_the_bytes(void **state)
{
    hybrid_report planned = HYBRID_REPORT_INIT, done = HYBRID_REPORT_INIT;
    world w;

    (void)state;
    open_world(&w, 3, 64, HYBRID_ROW_MAJOR);
    hybrid_plan *plan = plan_of(&w, HYBRID_REUSE);
    assert_int_equal(hybrid_plan_report(plan, &planned), HYBRID_OK);
    run(&w, plan);
    assert_int_equal(hybrid_plan_report(plan, &done), HYBRID_OK);
    assert_int_equal(planned.predicted_h2d_bytes, done.h2d_bytes);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

/* Single entries far from the diagonal, which the sample of rows does not show: all of X
   goes up once, and devices copy it from each other. */
static void entries_far_away_need_all_of_x(void **state)
{
    world w;

    (void)state;
    open_world(&w, 2, 64, HYBRID_ROW_MAJOR);
    const int64_t *offsets          = w.A.row_ptr;
    int32_t *cols                   = w.A.col;
    cols[offsets[2] - 1]            = ROWS - 1; /* the last entry of row 1 */
    cols[offsets[ROWS - 3]]         = 0;        /* the first entry of row ROWS - 3 */
    settings_of(w.engine)->schedule = &hy_schedule_whole;
    hybrid_plan *plan               = plan_of(&w, HYBRID_REUSE);
    for (int i = 0; i < 2; i++)
        assert_int_equal(plan->portions[i].x_end, 0);
    run(&w, plan);
    assert_int_equal(w.loaded, (int64_t)ROWS * 64 * 8);
    assert_int_equal(w.relayed, w.loaded);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

/* A device that has not got all of X takes no rows of others; a sample of a matrix
   without structure ends the search. */
static void what_is_touched_is_sampled(void **state)
{
    hy_x_rows x = {.relays = 1};
    world w;

    (void)state;
    open_world(&w, 2, 64, HYBRID_ROW_MAJOR);
    hybrid_plan *plan = plan_of(&w, HYBRID_REUSE);
    hy_x_rows_sample(plan->portions, &w.A, NULL, &x);
    assert_int_equal(x.count, HY_X_SAMPLES);
    for (int parts = 1; parts <= MOST; parts++) {
        const double share = hy_x_rows_touched(&x, parts);
        assert_true(share > 0.98 / parts && share < 1.0 / parts + 1.0 * WIDTH / ROWS);
        assert_int_equal(hy_x_rows_limited(&x, parts), parts > 1);
    }
    hy_x_rows_sample(plan->portions, &w.A, &w.A, &x); /* B: X is not limited */
    assert_int_equal(x.count, 0);
    hybrid_plan_destroy(plan);
    matrix_free(&w.A);
    matrix_random(ROWS, ROWS, EACH, 5, kind, &w.A);
    plan = plan_of(&w, HYBRID_REUSE);
    hy_x_rows_sample(plan->portions, &w.A, NULL, &x);
    assert_true(hy_x_rows_touched(&x, 2) > 0.9);
    assert_int_equal(hy_x_rows_limited(&x, 2), 0);
    assert_int_equal(plan->portions[1].x_end, 0);
    run(&w, plan);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_banded_matrix_sends_each_row_once),
        cmocka_unit_test(the_plan_knows_the_bytes),
        cmocka_unit_test(entries_far_away_need_all_of_x),
        cmocka_unit_test(what_is_touched_is_sampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
