/* tests/run/devices/test_space_calls.c - calls with operands in the memory of a device.

   Tests which device computes, budgets, bytes, streams, patterns, questions about
   pointers, freed memory, and failures of each call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>

#include "engine/api/engine.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_memory.h"
#include "support/fake/fake_spmm.h"
#include "support/device/on_device.h"
#include "support/check/oracle.h"
#include "support/fake/settings.h"
#include "support/device/space_world.h"

enum { ALLOCATIONS = 250 };

/* ---- several devices ---- */

static void the_device_that_has_them_computes(void **state)
{
    static const int devices[]    = {0, 1};
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    space_world w;

    (void)state;
    options.devices      = devices;
    options.device_count = 2;
    space_world_open(&options, &w);
    hybrid_csr a   = on_device_csr(1, &w.A, 0);
    hybrid_dense x = on_device_dense(1, &w.X, 0), y = on_device_dense(1, &w.Y, 0);
    settings_of(w.engine)->all_devices = 1;
    space_world_expect(&w, space_world_spmm(&w, &a, &w.x, &y), HYBRID_UNSUPPORTED,
                       "operands are on two devices");
    assert_int_equal(space_world_spmm(&w, &a, &x, &y), HYBRID_OK);
    assert_true(w.engine->devices[1]->device.peak > 0);
    assert_int_equal(w.engine->devices[0]->device.peak, 0);
    on_device_take(&y, &w.Y);
    assert_null(oracle_check_spmm(1, &w.A, &w.X, 0, &w.Y, &w.Y, 1));
    on_device_csr_free(&a);
    fake_memory_free(x.data);
    space_world_close(&w);
}

/* ---- budgets ---- */

static void operands_are_outside_the_budget(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    space_world w;

    (void)state;
    options.device_bytes = 96 << 10;
    space_world_open(&options, &w);
    hybrid_csr A;
    hybrid_dense X, Y, X_columns;
    matrix_random(200, 2000, 4, 1, space_kind, &A);
    /* 512 KB, much more than the device memory that the product may take */
    dense_make(2000, 32, 0, HYBRID_ROW_MAJOR, 2, space_kind, &X);
    dense_make(200, 32, 0, HYBRID_ROW_MAJOR, 3, space_kind, &Y);
    dense_reorder(&X, HYBRID_COL_MAJOR, 0, &X_columns);
    hybrid_csr a   = on_device_csr(0, &A, 0);
    hybrid_dense x = on_device_dense(0, &X, 0), y = on_device_dense(0, &Y, 0);
    hybrid_dense columns = on_device_dense(0, &X_columns, 0);

    assert_int_equal(space_world_spmm(&w, &a, &x, &y), HYBRID_OK);
    assert_true(w.engine->device->device.peak <= 96 << 10);
    space_world_expect(&w, space_world_spmm(&w, &a, &columns, &y),
                       HYBRID_NO_DEVICE_MEMORY, "[X in the order that kernels read]");
    on_device_take(&y, &Y);
    assert_null(oracle_check_spmm(1, &A, &X, 0, &Y, &Y, 1));
    on_device_csr_free(&a);
    fake_memory_free(x.data);
    fake_memory_free(columns.data);
    matrix_free(&A);
    dense_free(&X);
    dense_free(&X_columns);
    dense_free(&Y);
    space_world_close(&w);
}

/* X and Y are on the device and A in host memory: only the packs of A are copied. */
static void dense_operands_stay_off_the_bus(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_report report                = HYBRID_REPORT_INIT;
    space_world w;

    (void)state;
    space_world_open(&options, &w);
    const int64_t up = fake_copied(HY_DEVICE), down = fake_copied(HY_PINNED);
    const int64_t a = w.A.nnz * 12 + (w.A.rows + 1) * 8, gaps = 6 * 1024;
    assert_int_equal(space_world_spmm(&w, &w.A, &w.x, &w.y), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(w.engine, &report), HYBRID_OK);
    assert_int_equal(report.h2d_bytes, fake_copied(HY_DEVICE) - up);
    assert_in_range(report.h2d_bytes, a, a + gaps);
    assert_int_equal(report.d2h_bytes, 0);
    assert_int_equal(fake_copied(HY_PINNED), down);
    space_world_close(&w);
}

/* ---- questions about pointers ---- */

static int64_t asked_by(const space_world *w, const hybrid_csr *A, const hybrid_dense *X,
                        hybrid_dense *Y)
{
    const int64_t before = fake_asked();

    assert_int_equal(space_world_spmm(w, A, X, Y), HYBRID_OK);
    return fake_asked() - before;
}

/* The engine asks the device about each array once, and remembers of the last eight
   arrays that they are in host memory. It forgets them when a call has an operand on a
   device. */
static void arrays_are_asked_for_once(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    space_world w;
    hybrid_dense Y[8];

    (void)state;
    space_world_open(&options, &w);
    for (int i = 0; i < 8; i++)
        dense_copy(&w.Y, &Y[i]);
    assert_int_equal(asked_by(&w, &w.A, &w.X, &w.Y), 5);
    assert_int_equal(asked_by(&w, &w.A, &w.X, &w.Y), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(asked_by(&w, &w.A, &w.X, &Y[i]), 1);
    assert_int_equal(asked_by(&w, &w.A, &w.X, &w.Y), 0);
    for (int i = 3; i < 8; i++)
        assert_true(asked_by(&w, &w.A, &w.X, &Y[i]) >= 1);
    assert_true(asked_by(&w, &w.A, &w.X, &w.Y) >= 1);
    assert_true(asked_by(&w, &w.A, &w.x, &w.Y) > 0);
    assert_int_equal(asked_by(&w, &w.A, &w.X, &w.Y), 5);
    for (int i = 0; i < 8; i++)
        dense_free(&Y[i]);
    space_world_close(&w);
}

/* ---- streams, patterns ---- */

static void calls_wait_for_the_stream(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    int stream;
    space_world w;

    (void)state;
    space_world_open(&options, &w);
    hybrid_engine_stream(NULL, &stream);
    hybrid_engine_stream(w.engine, &stream);
    assert_int_equal(space_world_spmm(&w, &w.A, &w.X, &w.Y), HYBRID_OK);
    assert_int_equal(fake_followed(&stream), 0);
    assert_int_equal(space_world_spmm(&w, &w.a, &w.x, &w.y), HYBRID_OK);
    assert_int_equal(fake_followed(&stream), 1);
    assert_int_equal(space_world_spmm(&w, &w.A, &w.X, &w.y), HYBRID_OK);
    assert_int_equal(fake_followed(&stream), 2);
    const int64_t before = fake_followed(NULL);
    hybrid_engine_stream(w.engine, NULL);
    assert_int_equal(space_world_spmm(&w, &w.a, &w.x, &w.y), HYBRID_OK);
    assert_int_equal(fake_followed(&stream), 2);
    assert_int_equal(fake_followed(NULL), before + 1);
    space_world_close(&w);
}

/* Moves entry k of a pattern to the next column, which must be free in its row. */
static void move_entry(hybrid_csr *A, int64_t k)
{
    int32_t *col = A->col;

    assert_true(col[k] + 1 < A->cols && (k + 1 == A->nnz || col[k + 1] != col[k] + 1));
    col[k]++;
}

static void patterns_are_compared_where_they_are(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options plan            = HYBRID_PLAN_OPTIONS_INIT;
    space_world w;
    hybrid_plan *p;
    hybrid_csr C;

    (void)state;
    plan.flags = HYBRID_REUSE;
    space_world_open(&options, &w);
    int64_t k          = 0;
    const int32_t *col = w.A.col;
    while (col[k] + 1 >= w.A.cols || col[k + 1] == col[k] + 1)
        k++;
    assert_int_equal(hybrid_spgemm_plan(w.engine, &w.a, &w.a, &plan, &p), HYBRID_OK);
    const int64_t fetched = fake_fetched();
    assert_int_equal(hybrid_spgemm_run(p, &w.a, &w.a, &C), HYBRID_OK);
    hybrid_csr_free(w.engine, &C);
    hybrid_csr wide = on_device_wide(0, &w.A, 0);
    assert_int_equal(hybrid_spgemm_run(p, &w.a, &wide, &C), HYBRID_OK);
    hybrid_csr_free(w.engine, &C);
    move_entry(&w.A, k);
    hybrid_csr other = on_device_csr(0, &w.A, 0);
    space_world_expect(&w, hybrid_spgemm_run(p, &other, &w.a, &C), HYBRID_BAD_STATE,
                       "the pattern of A differs from the plan's");
    space_world_expect(&w, hybrid_spgemm_run(p, &w.a, &other, &C), HYBRID_BAD_STATE,
                       "the pattern of B differs from the plan's");
    assert_int_equal(fake_fetched(), fetched);
    hybrid_plan_destroy(p);
    on_device_csr_free(&wide);
    on_device_csr_free(&other);
    space_world_close(&w);
}

/* ---- results ---- */

typedef struct freeing {
    hybrid_engine *engine;
    hybrid_csr *C;
} freeing;

static void *free_one(void *arg)
{
    const freeing *f = arg;

    hybrid_csr_free(f->engine, f->C);
    return NULL;
}

static void results_are_freed_by_any_thread(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options plan            = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr C, left;
    pthread_t thread;
    space_world w;

    (void)state;
    plan.result_space = HYBRID_SPACE_DEVICE;
    space_world_open(&options, &w);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(hybrid_spgemm_with(w.engine, &plan, &w.a, &w.A, &C), HYBRID_OK);
        freeing f = {w.engine, &C};
        assert_int_equal(pthread_create(&thread, NULL, free_one, &f), 0);
        assert_int_equal(hybrid_spgemm_with(w.engine, &plan, &w.A, &w.a, &left),
                         HYBRID_OK);
        pthread_join(thread, NULL);
        if (i > 0) /* in the first round the engine frees the result, when it is
                      destroyed */
            hybrid_csr_free(w.engine, &left);
    }
    C = w.a; /* arrays that the engine did not allocate, which it must not free */
    hybrid_csr_free(w.engine, &C);
    assert_null(C.val);
    space_world_close(&w);
}

/* ---- faults ---- */

static hybrid_status try_spmm(hybrid_engine *engine, void *arg)
{
    const space_world *w = arg;
    hybrid_dense columns = w->x;

    columns.order = HYBRID_COL_MAJOR;
    columns.ld    = columns.rows;
    HY_TRY(fake_explained(
        engine, hybrid_spmm(engine, 2, &w->a, &columns, 1, (hybrid_dense *)&w->y)));
    HY_TRY(fake_explained(
        engine, hybrid_spmm(engine, 2, &w->a, &w->x, 1, (hybrid_dense *)&w->Y)));
    return fake_explained(engine,
                          hybrid_spmm(engine, 0, &w->a, &w->x, 2, (hybrid_dense *)&w->y));
}

static hybrid_status try_spgemm(hybrid_engine *engine, void *arg)
{
    const space_world *w        = arg;
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_status status        = HYBRID_OK;
    hybrid_plan *plan;
    hybrid_csr C;

    options.result_space = HYBRID_SPACE_DEVICE;
    options.flags        = HYBRID_REUSE;
    options.chunk_rows   = SPACE_ROWS / 2;
    options.offsets = options.columns = HYBRID_I32;
    HY_TRY(fake_explained(engine,
                          hybrid_spgemm_plan(engine, &w->a, &w->A, &options, &plan)));
    for (int run = 0; run < 2 && status == HYBRID_OK; run++) {
        status = fake_explained(engine, hybrid_spgemm_run(plan, &w->a, &w->A, &C));
        if (status == HYBRID_OK)
            hybrid_csr_free(engine, &C);
    }
    hybrid_plan_destroy(plan);
    return status;
}

/* Makes the call. Fails the test if device memory outside the engine, other than the
   caller's, remains. */
static hybrid_status try_one(hybrid_engine *engine, space_world *w,
                             hybrid_status (*run)(hybrid_engine *engine, void *arg))
{
    const int64_t before       = fake_memory_alive();
    const hybrid_status status = run(engine, w);

    assert_int_equal(fake_memory_alive(), before);
    return status;
}

static hybrid_status try_dense(hybrid_engine *engine, void *arg)
{
    return try_one(engine, arg, try_spmm);
}

static hybrid_status try_sparse(hybrid_engine *engine, void *arg)
{
    return try_one(engine, arg, try_spgemm);
}

/* Repeats the call on new engines, of which the first, second, third ... allocation
   fails. Some calls succeed, because the allocation is tried again. */
static void fail_allocations(space_world *w,
                             hybrid_status (*run)(hybrid_engine *, void *))
{
    int failed = 0;

    for (int64_t n = 1; n <= ALLOCATIONS; n++) {
        hybrid_engine *engine;
        assert_int_equal(fake_open(space_variants, 0, &engine), HYBRID_OK);
        engine->ctx.memory.failures = n;
        failed += run(engine, w) != HYBRID_OK;
        engine->ctx.memory.failures = 0;
        hybrid_engine_destroy(engine);
        assert_int_equal(fake_alive(), 0);
    }
    assert_in_range(failed, 20, ALLOCATIONS - 1);
}

static void any_call_may_fail(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    space_world w;

    (void)state;
    space_world_open(&options, &w);
    hybrid_engine_destroy(w.engine);
    w.engine                  = NULL;
    const fake_failing dense  = {try_dense, &w, 0, 4000, 100};
    const fake_failing sparse = {try_sparse, &w, 0, 4000, 100};
    fake_delays(1, 0);
    assert_in_range(fake_fail_each(&dense, &fault_device), 20, 4000);
    assert_in_range(fake_fail_each(&sparse, &fault_device), 50, 4000);
    fail_allocations(&w, try_dense);
    fail_allocations(&w, try_sparse);
    space_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_that_has_them_computes),
        cmocka_unit_test(operands_are_outside_the_budget),
        cmocka_unit_test(dense_operands_stay_off_the_bus),
        cmocka_unit_test(arrays_are_asked_for_once),
        cmocka_unit_test(calls_wait_for_the_stream),
        cmocka_unit_test(patterns_are_compared_where_they_are),
        cmocka_unit_test(results_are_freed_by_any_thread),
        cmocka_unit_test(any_call_may_fail),
    };
    return cmocka_run_group_tests_name("space_calls", tests, NULL, NULL);
}
