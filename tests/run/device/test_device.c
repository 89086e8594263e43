/* tests/run/device/test_device.c - the pipeline on a device made of threads.

   Every case is computed with B or X whole on the device, gathered and in column blocks,
   with budgets down to one that holds a row at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/plan/plan.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/fake/fake_backend.h"
#include "tests/support/check/oracle.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_variant *const variants[]     = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                                 NULL};
static const hy_backend_ops *const backends[] = {&hy_fake_backend_ops,
                                                 &hy_host_backend_ops, NULL};
static const test_kind kinds[]                = {{HYBRID_F32, HYBRID_I64, 1},
                                                 {HYBRID_F64, HYBRID_I32, 0}};

static hybrid_status open_engine(size_t budget, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.threads      = 2;
    options.device_bytes = budget;
    return fake_engine_open(&options, backends, variants, engine);
}

/* ---- products against the oracle ---- */

typedef struct trial {
    hybrid_engine *engine;
    const test_case *c;
    test_kind kind;
    int runs; /* number of runs of each SpGEMM plan; later ones reuse slots and marks */
    hybrid_plan_options options;
} trial;

/* Numbers of plans. resident: B or X is on the device, whole or in parts. gathered:
   chunks gather rows of B or X. blockwise: X of an SpMM is in column blocks; these count
   as resident, too. The budgets must produce all three. */
static int resident, gathered, blockwise;

static void count_plan(const hybrid_plan *plan)
{
    resident += !hy_image_is_gathered(&plan->portions->layout.image);
    gathered += hy_image_is_gathered(&plan->portions->layout.image);
    blockwise +=
        plan->portions->layout.count > 0 && plan->product.op == HY_SPMM &&
        plan->portions->layout.chunks[0].col_end < plan->product.profile.out_cols;
}

static hybrid_status wrong(const trial *t, const char *what)
{
    fail_msg("%s, %lld rows a chunk, budget %lld: %s", t->c->name,
             (long long)t->options.chunk_rows, (long long)t->engine->device->device.cap,
             what);
    return HYBRID_BAD_STATE;
}

static hybrid_status try_spgemm(const trial *t, const oracle *reference)
{
    hybrid_status status = HYBRID_OK;
    hybrid_plan *plan;

    HY_TRY(hybrid_spgemm_plan(t->engine, &t->c->A, &t->c->B, &t->options, &plan));
    count_plan(plan);
    for (int run = 0; run < t->runs && status == HYBRID_OK; run++) {
        hybrid_csr C;
        status = hybrid_spgemm_run(plan, &t->c->A, &t->c->B, &C);
        if (status != HYBRID_OK)
            break;
        const char *difference = oracle_check(reference, &C, t->kind.integers);
        if (difference)
            status = wrong(t, difference);
        hybrid_csr_free(t->engine, &C);
    }
    hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status try_spmm(const trial *t, int64_t cols, hybrid_order order)
{
    const double alpha = 2, beta = -3;
    hybrid_status status;
    hybrid_plan *plan;
    hybrid_dense X, before, Y;

    HY_TRY(hybrid_spmm_plan(t->engine, &t->c->A, cols, &t->options, &plan));
    count_plan(plan);
    dense_make(t->c->A.cols, cols, 1, order, 1, t->kind, &X);
    dense_make(t->c->A.rows, cols, 2, order, 2, t->kind, &before);
    dense_copy(&before, &Y);
    status = hybrid_spmm_run(plan, alpha, &t->c->A, &X, beta, &Y);
    if (status == HYBRID_OK) {
        const char *difference =
            oracle_check_spmm(alpha, &t->c->A, &X, beta, &before, &Y, t->kind.integers);
        if (difference || !dense_gaps_intact(&Y))
            status = wrong(t, difference ? difference : "gaps of Y were written");
    }
    dense_free(&X);
    dense_free(&before);
    dense_free(&Y);
    hybrid_plan_destroy(plan);
    return status;
}

/* Computes all products of the case in chunks of all, 13 and 1 rows. Returns how many
   fit the budget. */
static int try_all(trial *t, const oracle *reference)
{
    static const int64_t rows[] = {0, 13, 1};
    int fitting                 = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* skipped, because there would be thousands of chunks */
        if (rows[i] > 0 && t->c->A.rows > 100 * rows[i])
            continue;
        t->options.chunk_rows        = rows[i];
        const hybrid_status status[] = {try_spgemm(t, reference),
                                        try_spmm(t, 1, HYBRID_ROW_MAJOR),
                                        try_spmm(t, 19, HYBRID_COL_MAJOR)};
        for (size_t k = 0; k < sizeof status / sizeof *status; k++) {
            if (status[k] != HYBRID_OK && status[k] != HYBRID_NO_DEVICE_MEMORY)
                wrong(t, hybrid_engine_message(t->engine));
            fitting += status[k] == HYBRID_OK;
        }
    }
    return fitting;
}

static void check_case(int i, test_kind kind)
{
    test_case c;
    oracle reference;
    int fitting = 1;

    case_make(i, kind, &c);
    oracle_spgemm(&c.A, &c.B, &reference);
    for (size_t budget = 8 << 20; fitting > 0 && budget >= 1024; budget /= 8) {
        trial t = {.c = &c, .kind = kind, .runs = 2, .options = HYBRID_PLAN_OPTIONS_INIT};
        assert_int_equal(open_engine(budget, &t.engine), HYBRID_OK);
        fitting = try_all(&t, &reference);
        assert_true(budget < 8 << 20 || fitting >= 3);
        assert_true(t.engine->device->device.peak <= (int64_t)budget);
        assert_int_equal(hy_meter_used(&t.engine->device->device), 0);
        hybrid_engine_destroy(t.engine);
        assert_int_equal(fake_alive(), 0);
    }
    oracle_free(&reference);
    case_free(&c);
}

static void cases_are_right_in_any_budget(void **state)
{
    const size_t step = (size_t)case_step(2);

    (void)state;
    fake_delays(1, 20);
    for (int i = 0; i < case_count(); i++)
        for (size_t k = (size_t)i % step; k < sizeof kinds / sizeof *kinds; k += step)
            check_case(i, kinds[k]);
    assert_true(resident > 100 && gathered > 20 && blockwise > 5);
}

static void delays_change_nothing(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 3; seed++) {
        trial t = {.kind = kinds[1], .runs = 2, .options = HYBRID_PLAN_OPTIONS_INIT};
        test_case c;
        oracle reference;
        case_named("power_law", t.kind, &c);
        oracle_spgemm(&c.A, &c.B, &reference);
        fake_delays(seed * 1000, 400);
        t.c                  = &c;
        t.options.chunk_rows = 11;
        t.options.depth      = (int)seed;
        assert_int_equal(open_engine(4 << 20, &t.engine), HYBRID_OK);
        assert_int_equal(try_spgemm(&t, &reference), HYBRID_OK);
        assert_int_equal(try_spmm(&t, 9, HYBRID_ROW_MAJOR), HYBRID_OK);
        hybrid_engine_destroy(t.engine);
        oracle_free(&reference);
        case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_are_right_in_any_budget),
        cmocka_unit_test(delays_change_nothing),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
