/* tests/test_early_x.c - X of a one-shot product goes to the device while chunks are cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/early.h"
#include "engine/plan.h"
#include "support/cases.h"
#include "support/fake_backend.h"
#include "support/fake_spmm.h"
#include "support/oracle.h"

enum { ROWS = 1200, WIDTH = 40, BAND = 50 };

typedef struct product {
    hybrid_csr A;
    hybrid_dense X, Y, before;
    int pinned;
} product;

static const test_kind f64 = {HYBRID_F64, HYBRID_I32, 1};

/* Row i names columns from i - BAND on, or, `far`, any. */
static void make(product *p, int far, int64_t width, hybrid_order x, hybrid_order y)
{
    matrix_random(ROWS, ROWS, 6, 5, f64, &p->A);
    const int32_t *offset = p->A.row_ptr;

    for (int32_t i = 0; i < ROWS && !far; i++) {
        const int32_t most  = ROWS - 1 - (offset[i + 1] - offset[i]);
        const int32_t first = i > BAND ? i - BAND : 0;
        for (int32_t k = offset[i]; k < offset[i + 1]; k++)
            p->A.col[k] = (first < most ? first : most) + k - offset[i];
    }
    dense_make(ROWS, width, 0, x, 1, f64, &p->X);
    dense_make(ROWS, width, 3, y, 2, f64, &p->Y);
    dense_copy(&p->Y, &p->before);
    p->pinned = 0;
}

static void drop(product *p)
{
    matrix_free(&p->A);
    dense_free(&p->X);
    dense_free(&p->Y);
    dense_free(&p->before);
}

static hybrid_engine *open_engine(void)
{
    hybrid_engine *engine = fake_spmm(0);

    engine->early_bytes = 1;
    return engine;
}

static void close_engine(hybrid_engine *engine)
{
    hybrid_engine_trim(engine);
    assert_int_equal(fake_alive(), 1); /* nothing but the backend */
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static hybrid_status multiply(hybrid_engine *engine, void *arg)
{
    product *p          = arg;
    const size_t bytes  = (size_t)(ROWS * p->X.cols) * 8;
    const int64_t lines = p->Y.order == HYBRID_ROW_MAJOR ? ROWS : p->Y.cols;

    engine->early_bytes = 1;
    memcpy(p->Y.data, p->before.data, (size_t)(lines * p->Y.ld) * 8);
    if (p->pinned)
        HY_TRY(fake_explained(engine, hybrid_pin(engine, p->X.data, bytes)));
    const hybrid_status status =
        fake_explained(engine, hybrid_spmm(engine, 1, &p->A, &p->X, 3, &p->Y));
    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(1, &p->A, &p->X, 3, &p->before, &p->Y, 1));
    if (p->pinned)
        hybrid_unpin(engine, p->X.data);
    return status;
}

/* A plan for one run, whose loader has begun or has not; NULL: it has none. */
static const hy_loader *loader_of(hybrid_engine *engine, const product *p,
                                  hybrid_plan **plan)
{
    const hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    assert_int_equal(hy_plan_make(engine, &p->A, NULL, p->X.cols, &options,
                                  (hy_early){NULL, &p->X}, plan),
                     HYBRID_OK);
    return (*plan)->pipeline->loader;
}

/* ---- sent early ----------------------------------------------------------------------
 */

static void x_is_on_its_way_when_the_plan_is_made(void **state)
{
    hybrid_engine *engine = open_engine();
    hybrid_plan *plan;
    product p;

    (void)state;
    make(&p, 0, WIDTH, HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR);
    assert_true(loader_of(engine, &p, &plan)->begun);
    hybrid_plan_destroy(plan); /* which never ran: the load is waited for */
    drop(&p);
    close_engine(engine);
}

static void x_is_sent_once(void **state)
{
    hybrid_engine *engine = open_engine();
    hybrid_report r       = HYBRID_REPORT_INIT;
    product p;

    (void)state;
    for (int i = 0; i < 8; i++) {
        fake_delays((unsigned)i, 80);
        make(&p, 0, WIDTH, HYBRID_ROW_MAJOR, i & 1 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR);
        p.pinned             = i >> 1 & 1;
        const int64_t direct = fake_direct();
        assert_int_equal(multiply(engine, &p), HYBRID_OK);
        assert_int_equal(hybrid_engine_report(engine, &r), HYBRID_OK);
        assert_in_range(r.h2d_bytes, ROWS * WIDTH * 8, 2 * ROWS * WIDTH * 8 - 1);
        assert_int_equal(fake_direct() - direct, p.pinned ? ROWS * WIDTH * 8 : 0);
        drop(&p);
    }
    close_engine(engine);
}

/* ---- not sent, or not wanted ---------------------------------------------------------
 */

static void only_what_suits_is_begun(void **state)
{
    static const struct {
        int far;
        int64_t width;
        hybrid_order order;
        size_t least;
    } cases[] = {{1, WIDTH, HYBRID_ROW_MAJOR, 1},        /* planning is not waited for */
                 {0, WIDTH, HYBRID_COL_MAJOR, 1},        /* turned by the run */
                 {0, 17, HYBRID_ROW_MAJOR, 1},           /* a column may lie apart */
                 {0, 1, HYBRID_ROW_MAJOR, 1},            /* one column */
                 {0, WIDTH, HYBRID_ROW_MAJOR, 1 << 20}}; /* it is there soon */
    hybrid_engine *engine = open_engine();
    hybrid_plan *plan;
    product p;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        engine->early_bytes = cases[i].least;
        make(&p, cases[i].far, cases[i].width, cases[i].order, HYBRID_ROW_MAJOR);
        const hy_loader *loader = loader_of(engine, &p, &plan);
        assert_true(!loader || !loader->begun);
        hybrid_plan_destroy(plan);
        assert_int_equal(multiply(engine, &p), HYBRID_OK);
        drop(&p);
    }
    close_engine(engine);
}

/* X in panels, or in columns on the device. */
static void what_a_plan_has_otherwise_is_sent_again(void **state)
{
    static const hy_variant *const tiled[] = {&hy_spmm_fake_tiled, NULL};
    hybrid_engine *engine                  = open_engine();
    hybrid_plan *plan;
    product p;

    (void)state;
    make(&p, 0, WIDTH, HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR);
    for (int i = 0; i < 6; i++) {
        fake_delays((unsigned)i, 80);
        p.pinned = i & 1;
        if (i == 2)
            engine->panels = 2;
        else if (i == 4) {
            close_engine(engine);
            assert_int_equal(fake_open(tiled, 0, &engine), HYBRID_OK);
            engine->early_bytes = 1;
        }
        engine->pinned_panels   = i < 2 ? 2 : 0;
        const hy_loader *loader = loader_of(engine, &p, &plan);
        assert_true(loader && !loader->begun);
        hybrid_plan_destroy(plan);
        assert_int_equal(multiply(engine, &p), HYBRID_OK);
    }
    drop(&p);
    close_engine(engine);
}

static void every_call_fails_once(void **state)
{
    product p;
    const fake_failing f = {multiply, &p, 0, 5000, 32};

    (void)state;
    fake_delays(1, 0);
    make(&p, 0, WIDTH, HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR);
    for (p.pinned = 0; p.pinned < 2; p.pinned++)
        assert_true(fake_fail_each(&f, 0) > 20);
    drop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x_is_on_its_way_when_the_plan_is_made),
        cmocka_unit_test(x_is_sent_once),
        cmocka_unit_test(only_what_suits_is_begun),
        cmocka_unit_test(what_a_plan_has_otherwise_is_sent_again),
        cmocka_unit_test(every_call_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
