/* tests/unit/plan/test_inspect_depth.c - how much of A the planning of a one-shot SpMM
   inspects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/plan/choose.h"
#include "engine/plan/plan.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/engines/weighed.h"

enum { ROWS = 3000, COLUMNS = 32 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

static const hy_one_shot any_once = {0};

static hybrid_plan *plan_for(hybrid_engine *engine, const hybrid_csr *A,
                             const hy_one_shot *once)
{
    const hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    assert_int_equal(hy_plan_make(engine, A, NULL, COLUMNS, &options, once, &plan),
                     HYBRID_OK);
    return plan;
}

/* Makes a plan for one run. Returns what planning found out: 0, sizes only; 1, lengths
   of rows too; 2, also the positions of entries. Fails the test unless on_device says
   where the plan computes. */
static int looked_at(hybrid_engine *engine, const hybrid_csr *A, int on_device)
{
    hybrid_plan *plan       = plan_for(engine, A, &any_once);
    const hy_profile *found = &plan->product.profile;
    const int level         = !found->nnz ? 0 : found->features.tile_fill > 0 ? 2 : 1;
    assert_int_equal(on_device, hy_portion_on_device(plan->portions));
    hybrid_plan_destroy(plan);
    return level;
}

/* Makes a one-shot call and checks Y and the report of the host's run. */
static void compute_once(hybrid_engine *engine, const hybrid_csr *A)
{
    hybrid_report r = HYBRID_REPORT_INIT;
    hybrid_dense X, Y, before;

    dense_make(A->cols, COLUMNS, 1, HYBRID_ROW_MAJOR, 1, f64, &X);
    dense_make(A->rows, COLUMNS, 2, HYBRID_ROW_MAJOR, 2, f64, &before);
    dense_copy(&before, &Y);
    assert_int_equal(hybrid_spmm(engine, 2, A, &X, 3, &Y), HYBRID_OK);
    assert_null(oracle_check_spmm(2, A, &X, 3, &before, &Y, 1));
    assert_int_equal(hybrid_engine_report(engine, &r), HYBRID_OK);
    assert_true(r.h2d_bytes == 0 && r.flops == 2 * A->nnz * COLUMNS);
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
}

typedef struct pinned_pair {
    hybrid_dense X, Y;
    hy_one_shot once;
} pinned_pair;

static void pin_pair(hybrid_engine *engine, const hybrid_csr *A, pinned_pair *p)
{
    dense_make(A->cols, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, f64, &p->X);
    dense_make(A->rows, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, f64, &p->Y);
    p->once = (hy_one_shot){NULL, &p->X, &p->Y};
    for (int i = 0; i < 2; i++) {
        const hybrid_dense *m = i ? &p->Y : &p->X;
        assert_int_equal(hybrid_pin(engine, m->data, (size_t)(m->rows * COLUMNS) * 8),
                         HYBRID_OK);
    }
}

static void unpin_pair(hybrid_engine *engine, pinned_pair *p)
{
    assert_int_equal(hybrid_unpin(engine, p->X.data), HYBRID_OK);
    assert_int_equal(hybrid_unpin(engine, p->Y.data), HYBRID_OK);
    dense_free(&p->X);
    dense_free(&p->Y);
}

/* A plan with chunk_rows = 100 has chunks of 100 rows, for which the lengths of rows are
   needed. */
static void chunk_rows_are_kept(hybrid_engine *engine, const hybrid_csr *A)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.chunk_rows = 100;
    assert_int_equal(hy_plan_make(engine, A, NULL, COLUMNS, &options, &any_once, &plan),
                     HYBRID_OK);
    assert_false(hy_portion_on_device(plan->portions));
    assert_int_equal(plan->portions->layout.count, ROWS / 100);
    hybrid_plan_destroy(plan);
}

/* If a launch takes longer than the whole product on the host, planning estimates no
   device variant, and does not ask whether X and Y are pinned. */
static void tiny_products_ask_no_device(hybrid_engine *engine, const hybrid_csr *A)
{
    const double launch_s = engine->device->measured.launch_s;
    pinned_pair both;

    pin_pair(engine, A, &both);
    engine->device->measured.launch_s = 1;
    hybrid_plan *p                    = plan_for(engine, A, &both.once);
    assert_int_equal(hy_rank_first_host(&p->candidates), 0);
    assert_false(p->product.pinned);
    hybrid_plan_destroy(p);
    compute_once(engine, A);
    engine->device->measured.launch_s = launch_s;
    unpin_pair(engine, &both);
}

/* Planning inspects no more of A than it needs to choose between host and device. With a
   slow bus the sizes are enough, even for variants that cut long rows. */
static void planning_looks_as_far_as_it_may_gain(void **state)
{
    hybrid_engine *engine = weighed_open(64 << 20);
    hybrid_csr even, uneven;

    (void)state;
    matrix_random(ROWS, ROWS, 8, 1, f64, &even);
    matrix_random(3, 20000, 9000, 1, f64, &uneven);
    assert_int_equal(looked_at(engine, &even, 1), 2);
    tiny_products_ask_no_device(engine, &even);
    engine->device->measured.h2d_Bps = 1e6;
    assert_int_equal(looked_at(engine, &even, 0), 0);
    assert_int_equal(looked_at(engine, &uneven, 0), 0);
    chunk_rows_are_kept(engine, &even);
    compute_once(engine, &even);
    compute_once(engine, &uneven);
    matrix_free(&even);
    matrix_free(&uneven);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

/* Returns 1 if the plan computes on the device, else 0. Fails the test unless the plan
   assumes what `pinned` says: 1, X and Y are pinned; 0, they are not. */
static int by_device(hybrid_engine *engine, const hybrid_csr *A, const hy_one_shot *once,
                     int pinned)
{
    hybrid_plan *plan = plan_for(engine, A, once);
    const int device  = hy_portion_on_device(plan->portions);
    assert_int_equal(plan->product.pinned, pinned);
    hybrid_plan_destroy(plan);
    return device;
}

/* If workers store Y slowly, products with pageable X and Y are computed by the host,
   and those with pinned ones by the device. */
static void pinned_operands_spare_workers(void **state)
{
    hybrid_engine *engine = weighed_open(64 << 20);
    pinned_pair both;
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 8, 1, f64, &A);
    pin_pair(engine, &A, &both);
    engine->host->measured.mem_Bps = 1e8;
    engine->host->measured.flops   = 7e8;
    assert_false(by_device(engine, &A, &any_once, 0));
    assert_true(by_device(engine, &A, &both.once, 1));
    unpin_pair(engine, &both);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planning_looks_as_far_as_it_may_gain),
        cmocka_unit_test(pinned_operands_spare_workers),
    };
    return cmocka_run_group_tests_name("look", tests, NULL, NULL);
}
