/* tests/run/devices/test_space.c - SpMM and SpMV with operands in the memory of a fake
   device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_memory.h"
#include "support/fake/fake_spmm.h"
#include "support/device/on_device.h"
#include "support/check/oracle.h"

enum { A_THERE = 1, X_THERE = 2, Y_THERE = 4, PLACES = 8 };

/* One product: which operands are on the device, how they are stored, and options. */
typedef struct trial {
    hybrid_engine *engine;
    test_kind kind;
    int places; /* bits A_THERE, X_THERE, Y_THERE: the operand is on the device */
    int64_t rows, inner, cols, x_gap, y_gap;
    hybrid_order x_order, y_order;
    size_t skew;
    double alpha, beta;
    unsigned seed;
    hybrid_plan_options options;
    int runs; /* number of runs of a plan; 0: a one-shot call */
} trial;

typedef struct operands {
    hybrid_csr A, there;       /* A in host memory, and A as it is passed to the call */
    hybrid_dense X, before, Y; /* in host memory; before: Y before the product */
    hybrid_dense x_there, y_there;
} operands;

static void make(const trial *t, operands *o)
{
    matrix_random(t->rows, t->inner, 6, t->seed, t->kind, &o->A);
    dense_make(t->inner, t->cols, t->x_gap, t->x_order, t->seed + 1, t->kind, &o->X);
    dense_make(t->rows, t->cols, t->y_gap, t->y_order, t->seed + 2, t->kind, &o->before);
    dense_copy(&o->before, &o->Y);
    o->there   = !(t->places & A_THERE) ? o->A
                 : t->seed % 4 == 0     ? on_device_wide(0, &o->A, t->skew)
                                        : on_device_csr(0, &o->A, t->skew);
    o->x_there = t->places & X_THERE ? on_device_dense(0, &o->X, t->skew) : o->X;
    o->y_there = t->places & Y_THERE ? on_device_dense(0, &o->before, t->skew) : o->Y;
}

/* Copies Y to the host if it is on the device. */
static void take(const trial *t, operands *o)
{
    if (t->places & Y_THERE)
        on_device_take(&o->y_there, &o->Y);
}

static void free_all(const trial *t, operands *o)
{
    if (t->places & A_THERE)
        on_device_csr_free(&o->there);
    if (t->places & X_THERE)
        fake_memory_free(o->x_there.data);
    if (t->places & Y_THERE)
        fake_memory_free(o->y_there.data);
    matrix_free(&o->A);
    dense_free(&o->X);
    dense_free(&o->before);
    dense_free(&o->Y);
    assert_int_equal(fake_memory_alive(), 0);
}

static hybrid_status run_planned(const trial *t, operands *o)
{
    hybrid_plan_options options = t->options;
    hybrid_plan *plan;
    hybrid_status status = HYBRID_OK;

    options.x_space      = t->places & X_THERE ? HYBRID_SPACE_DEVICE : HYBRID_SPACE_HOST;
    options.result_space = t->places & Y_THERE ? HYBRID_SPACE_DEVICE : HYBRID_SPACE_HOST;
    HY_TRY(hybrid_spmm_plan(t->engine, &o->there, t->cols, &options, &plan));
    for (int run = 0; run < t->runs && status == HYBRID_OK; run++)
        status = hybrid_spmm_run(plan, t->alpha, &o->there, &o->x_there,
                                 run == 0 ? t->beta : 0, &o->y_there);
    hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status run(const trial *t, operands *o)
{
    return t->runs > 0 ? run_planned(t, o)
                       : hybrid_spmm(t->engine, t->alpha, &o->there, &o->x_there, t->beta,
                                     &o->y_there);
}

static void check(const trial *t)
{
    const int64_t up = fake_copied(HY_DEVICE), down = fake_copied(HY_PINNED);
    const int all        = A_THERE | X_THERE | Y_THERE;
    hybrid_report report = HYBRID_REPORT_INIT;
    operands o;

    make(t, &o);
    const hybrid_status status = run(t, &o);
    if (status != HYBRID_OK)
        fail_msg("places %d: %s", t->places, hybrid_engine_message(t->engine));
    take(t, &o);
    const double beta = t->runs > 1 ? 0 : t->beta;
    const char *difference =
        oracle_check_spmm(t->alpha, &o.A, &o.X, beta, &o.before, &o.Y, t->kind.integers);
    if (difference || !dense_gaps_intact(&o.Y))
        fail_msg("places %d, %lld columns, orders %d %d, seed %u: %s", t->places,
                 (long long)t->cols, (int)t->x_order, (int)t->y_order, t->seed,
                 difference ? difference : "gaps of Y were written");
    assert_int_equal(hybrid_engine_report(t->engine, &report), HYBRID_OK);
    if ((t->places & all) == all && t->alpha != 0) {
        assert_int_equal(report.h2d_bytes, 0);
        assert_int_equal(report.d2h_bytes, 0);
        assert_int_equal(report.predicted_h2d_bytes, 0);
        assert_int_equal(report.predicted_d2h_bytes, 0);
        assert_int_equal(fake_copied(HY_DEVICE), up);
        assert_int_equal(fake_copied(HY_PINNED), down);
    }
    if (t->places & Y_THERE)
        assert_int_equal(report.d2h_bytes, 0);
    free_all(t, &o);
}

static trial trial_of(hybrid_engine *engine, unsigned seed)
{
    static const int64_t cols[]        = {1, 2, 3, 8, 17, 32, 33};
    static const double numbers[]      = {1, 0, -2, 3};
    const uint64_t dice                = test_hash(7, seed);
    static const hybrid_order orders[] = {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR};
    trial t                            = {.engine = engine,
                                          .kind   = {dice & 1 ? HYBRID_F32 : HYBRID_F64,
                        dice & 2 ? HYBRID_I32 : HYBRID_I64, 1},
                                          .places  = (int)(dice >> 2) % PLACES,
                                          .rows    = 1 + (int64_t)(dice >> 5) % 300,
                                          .inner   = 1 + (int64_t)(dice >> 14) % 300,
                                          .cols    = cols[(dice >> 23) % 7],
                                          .x_gap   = (int64_t)(dice >> 26) % 3,
                                          .y_gap   = (int64_t)(dice >> 28) % 3,
                                          .x_order = orders[(dice >> 30) % 2],
                                          .y_order = orders[(dice >> 31) % 2],
                                          .skew    = (dice >> 32) % 3,
                                          .alpha   = numbers[(dice >> 34) % 4],
                                          .beta    = numbers[(dice >> 36) % 4],
                                          .seed    = seed,
                                          .options = HYBRID_PLAN_OPTIONS_INIT,
                                          .runs    = (int)(dice >> 38) % 3};

    if ((dice >> 44) % 16 == 0)
        t.rows = 0;
    if ((dice >> 44) % 16 == 1)
        t.inner = 0;
    if ((dice >> 44) % 16 == 2)
        t.cols = 0;
    t.options.chunk_rows = (dice >> 40) % 3 == 0 ? 17 : 0;
    t.options.flags      = (dice >> 42) % 3 == 0 ? HYBRID_RESIDENT : 0;
    t.options.order      = t.x_order;
    return t;
}

static void operands_are_anywhere(void **state)
{
    hybrid_engine *engine = fake_spmm(0);

    (void)state;
    fake_delays(3, 10);
    for (unsigned seed = 0; seed < 600; seed++) {
        const trial t = trial_of(engine, seed);
        check(&t);
    }
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_anywhere),
    };
    return cmocka_run_group_tests_name("space", tests, NULL, NULL);
}
