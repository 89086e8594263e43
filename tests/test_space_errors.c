/* tests/test_space_errors.c - what is said to be in the memory of a device, and is not,
   or not of the right one; budgets, streams and faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "engine/engine.h"
#include "support/cases.h"
#include "support/fake_backend.h"
#include "support/fake_memory.h"
#include "support/fake_spmm.h"
#include "support/on_device.h"
#include "support/oracle.h"

enum { ROWS = 40, COLS = 8, ALLOCATIONS = 250 };

static const test_kind kind            = {HYBRID_F64, HYBRID_I64, 1};
static const hy_variant *const table[] = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                          &hy_spmm_fake_tiled, NULL};
extern const hy_backend_ops hy_host_backend_ops;
static const hy_backend_ops *const backends[] = {&hy_fake_backend_ops,
                                                 &hy_host_backend_ops, NULL};

/* Operands of the host, and copies on device 0. */
typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A, a;
    hybrid_dense X, Y, x, y;
} world;

static void open_world(const hybrid_engine_options *options, world *w)
{
    assert_int_equal(hy_engine_open(options, backends, table, &w->engine), HYBRID_OK);
    matrix_random(ROWS, ROWS, 4, 1, kind, &w->A);
    dense_make(ROWS, COLS, 0, HYBRID_ROW_MAJOR, 2, kind, &w->X);
    dense_make(ROWS, COLS, 0, HYBRID_ROW_MAJOR, 3, kind, &w->Y);
    w->a = on_device_csr(0, &w->A, 0);
    w->x = on_device_dense(0, &w->X, 0);
    w->y = on_device_dense(0, &w->Y, 0);
}

static void close_world(world *w)
{
    on_device_csr_free(&w->a);
    fake_memory_free(w->x.data);
    fake_memory_free(w->y.data);
    matrix_free(&w->A);
    dense_free(&w->X);
    dense_free(&w->Y);
    hybrid_engine_destroy(w->engine);
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(fake_memory_alive(), 0);
}

static void expect(const world *w, hybrid_status status, hybrid_status wanted,
                   const char *words)
{
    if (status != wanted || !strstr(hybrid_engine_message(w->engine), words))
        fail_msg("status %d, wanted %d and \"%s\": %s", (int)status, (int)wanted, words,
                 hybrid_engine_message(w->engine));
}

static hybrid_status spmm(const world *w, const hybrid_csr *A, const hybrid_dense *X,
                          hybrid_dense *Y)
{
    return hybrid_spmm(w->engine, 1, A, X, 0, Y);
}

/* ---- refusals -----------------------------------------------------------------------
 */

static void spaces_are_what_they_are_said_to_be(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    world w;

    (void)state;
    open_world(&options, &w);
    hybrid_csr A = w.A, a = w.a;
    hybrid_dense X = w.X, x = w.x, Y = w.Y, y = w.y;
    A.space = X.space = Y.space = HYBRID_SPACE_DEVICE;
    a.space = x.space = y.space = HYBRID_SPACE_HOST;
    expect(&w, spmm(&w, &A, &w.x, &w.y), HYBRID_BAD_ARGUMENT,
           "A is said to be in the memory of a device, and its offsets");
    expect(&w, spmm(&w, &w.a, &X, &w.y), HYBRID_BAD_ARGUMENT,
           "X is said to be in the memory of a device");
    expect(&w, spmm(&w, &w.a, &w.x, &Y), HYBRID_BAD_ARGUMENT,
           "Y is said to be in the memory of a device");
    expect(&w, spmm(&w, &a, &w.x, &w.y), HYBRID_BAD_ARGUMENT,
           "A is said to be in host memory, and its offsets are in that of a device");
    expect(&w, spmm(&w, &w.a, &x, &w.y), HYBRID_BAD_ARGUMENT,
           "X is said to be in host memory");
    expect(&w, spmm(&w, &w.a, &w.x, &y), HYBRID_BAD_ARGUMENT,
           "Y is said to be in host memory");
    a     = w.a;
    a.val = w.A.val;
    expect(&w, spmm(&w, &a, &w.x, &w.y), HYBRID_BAD_ARGUMENT, "its values");
    a       = w.a;
    a.space = (hybrid_space)7;
    expect(&w, spmm(&w, &a, &w.x, &w.y), HYBRID_BAD_ARGUMENT,
           "A: space 7 is neither host nor device");
    close_world(&w);
}

static void overlap_is_found_on_the_device(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    world w;

    (void)state;
    open_world(&options, &w);
    expect(&w, spmm(&w, &w.a, &w.x, &w.x), HYBRID_BAD_ARGUMENT, "X and Y overlap");
    hybrid_dense Y = w.y;
    Y.data         = w.a.val;
    expect(&w, spmm(&w, &w.a, &w.x, &Y), HYBRID_BAD_ARGUMENT, "A's val and Y overlap");
    close_world(&w);
}

static void the_host_alone_takes_none(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options plan      = HYBRID_PLAN_OPTIONS_INIT;
    world w;
    hybrid_plan *none;
    hybrid_csr C;

    (void)state;
    options.backend = HYBRID_HOST;
    open_world(&options, &w);
    expect(&w, spmm(&w, &w.a, &w.X, &w.Y), HYBRID_UNSUPPORTED, "A is in the memory of");
    expect(&w, spmm(&w, &w.A, &w.x, &w.Y), HYBRID_UNSUPPORTED, "X is in the memory of");
    expect(&w, spmm(&w, &w.A, &w.X, &w.y), HYBRID_UNSUPPORTED, "Y is in the memory of");
    plan.result_space = HYBRID_SPACE_DEVICE;
    expect(&w, hybrid_spgemm_with(w.engine, &plan, &w.A, &w.A, &C), HYBRID_UNSUPPORTED,
           "the engine has none");
    expect(&w, hybrid_spmm_plan(w.engine, &w.A, 1, &plan, &none), HYBRID_UNSUPPORTED,
           "the engine has none");
    close_world(&w);
}

static void the_device_computes_alone(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options plan            = HYBRID_PLAN_OPTIONS_INIT;
    world w;
    hybrid_plan *none;

    (void)state;
    open_world(&options, &w);
    plan.split = HYBRID_SPLIT_HOST;
    expect(&w, hybrid_spmm_plan(w.engine, &w.a, 1, &plan, &none), HYBRID_UNSUPPORTED,
           "the split gives work to the CPU");
    plan.split = HYBRID_SPLIT_SHARE;
    expect(&w, hybrid_spmm_plan(w.engine, &w.a, 1, &plan, &none), HYBRID_UNSUPPORTED,
           "the split gives work to the CPU");
    plan.split   = HYBRID_SPLIT_DEFAULT;
    plan.variant = "spmm.fake.tiled";
    expect(&w, hybrid_spmm_plan(w.engine, &w.a, 4, &plan, &none), HYBRID_UNSUPPORTED,
           "its packs order values of A");
    plan.variant = NULL;
    plan.x_space = HYBRID_SPACE_DEVICE;
    expect(&w, hybrid_spgemm_plan(w.engine, &w.a, &w.a, &plan, &none),
           HYBRID_BAD_ARGUMENT, "x_space");
    plan.x_space = (hybrid_space)3;
    expect(&w, hybrid_spmm_plan(w.engine, &w.a, 4, &plan, &none), HYBRID_BAD_ARGUMENT,
           "plan options: x: space 3");
    close_world(&w);
}

static int take_rows(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    (void)user;
    (void)row_begin;
    (void)rows;
    return 0;
}

static void runs_find_operands_where_the_plan_has_them(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options plan            = HYBRID_PLAN_OPTIONS_INIT;
    world w;
    hybrid_plan *p;

    (void)state;
    open_world(&options, &w);
    assert_int_equal(hybrid_spmm_plan(w.engine, &w.a, COLS, &plan, &p), HYBRID_OK);
    expect(&w, hybrid_spmm_run(p, 1, &w.A, &w.X, 0, &w.Y), HYBRID_BAD_STATE,
           "A is in host memory, planned for the memory of a device");
    expect(&w, hybrid_spmm_run(p, 1, &w.a, &w.x, 0, &w.Y), HYBRID_BAD_STATE,
           "X is in the memory of a device, planned for host memory");
    expect(&w, hybrid_spmm_run(p, 1, &w.a, &w.X, 0, &w.y), HYBRID_BAD_STATE,
           "Y is in the memory of a device, planned for host memory");
    assert_int_equal(hybrid_spmm_run(p, 1, &w.a, &w.X, 0, &w.Y), HYBRID_OK);
    hybrid_plan_destroy(p);
    plan.result_space = HYBRID_SPACE_DEVICE;
    assert_int_equal(hybrid_spgemm_plan(w.engine, &w.a, &w.A, &plan, &p), HYBRID_OK);
    expect(&w, hybrid_spgemm_each(p, &w.a, &w.A, take_rows, NULL), HYBRID_BAD_STATE,
           "rows are handed over in host memory");
    hybrid_plan_destroy(p);
    close_world(&w);
}

static void other_calls_read_host_memory(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options plan            = HYBRID_PLAN_OPTIONS_INIT;
    int64_t row;
    world w;
    hybrid_csr C;

    (void)state;
    open_world(&options, &w);
    expect(&w, hybrid_csr_check(w.engine, &w.a), HYBRID_UNSUPPORTED, "host memory");
    expect(&w, hybrid_csr_transpose(w.engine, &w.a, &C), HYBRID_UNSUPPORTED,
           "host memory");
    expect(&w, hybrid_verify_spmm(w.engine, &w.A, &w.x, &w.Y, 1, 1, &row),
           HYBRID_UNSUPPORTED, "X is in the memory of a device");
    expect(&w, hybrid_verify_spgemm(w.engine, &w.A, &w.a, &w.A, 1, 1, &row),
           HYBRID_UNSUPPORTED, "B is in the memory of a device");
    expect(&w, hybrid_dense_random(w.engine, 1, &w.x), HYBRID_UNSUPPORTED, "host memory");
    plan.result_space            = HYBRID_SPACE_DEVICE;
    const hybrid_operand operand = {.csr = &w.A};
    expect(&w, hybrid_spgemm_files(w.engine, &operand, &operand, &plan, &C),
           HYBRID_UNSUPPORTED, "operands in files");
    close_world(&w);
}

/* ---- several devices ----------------------------------------------------------------
 */

static void the_device_that_has_them_computes(void **state)
{
    static const int devices[]    = {0, 1};
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    world w;

    (void)state;
    options.devices      = devices;
    options.device_count = 2;
    open_world(&options, &w);
    hybrid_csr a   = on_device_csr(1, &w.A, 0);
    hybrid_dense x = on_device_dense(1, &w.X, 0), y = on_device_dense(1, &w.Y, 0);
    w.engine->all_devices = 1;
    expect(&w, spmm(&w, &a, &w.x, &y), HYBRID_UNSUPPORTED, "operands are on two devices");
    assert_int_equal(spmm(&w, &a, &x, &y), HYBRID_OK);
    assert_true(w.engine->devices[1]->device.peak > 0);
    assert_int_equal(w.engine->devices[0]->device.peak, 0);
    on_device_take(&y, &w.Y);
    assert_null(oracle_check_spmm(1, &w.A, &w.X, 0, &w.Y, &w.Y, 1));
    on_device_csr_free(&a);
    fake_memory_free(x.data);
    close_world(&w);
}

/* ---- budgets ------------------------------------------------------------------------
 */

static void operands_are_outside_the_budget(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    world w;

    (void)state;
    options.device_bytes = 96 << 10;
    open_world(&options, &w);
    hybrid_csr A;
    hybrid_dense X, Y, X_columns;
    matrix_random(200, 2000, 4, 1, kind, &A);
    dense_make(2000, 32, 0, HYBRID_ROW_MAJOR, 2, kind, &X); /* 512 KB */
    dense_make(200, 32, 0, HYBRID_ROW_MAJOR, 3, kind, &Y);
    dense_turn(&X, HYBRID_COL_MAJOR, 0, &X_columns);
    hybrid_csr a   = on_device_csr(0, &A, 0);
    hybrid_dense x = on_device_dense(0, &X, 0), y = on_device_dense(0, &Y, 0);
    hybrid_dense columns = on_device_dense(0, &X_columns, 0);

    assert_int_equal(spmm(&w, &a, &x, &y), HYBRID_OK);
    assert_true(w.engine->device->device.peak <= 96 << 10);
    expect(&w, spmm(&w, &a, &columns, &y), HYBRID_NO_DEVICE_MEMORY, "bytes wanted");
    on_device_take(&y, &Y);
    assert_null(oracle_check_spmm(1, &A, &X, 0, &Y, &Y, 1));
    on_device_csr_free(&a);
    fake_memory_free(x.data);
    fake_memory_free(columns.data);
    matrix_free(&A);
    dense_free(&X);
    dense_free(&X_columns);
    dense_free(&Y);
    close_world(&w);
}

/* A of the host: its packs are all that goes up. */
static void dense_operands_stay_off_the_bus(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_report report                = HYBRID_REPORT_INIT;
    world w;

    (void)state;
    open_world(&options, &w);
    const int64_t up = fake_copied(HY_DEVICE), down = fake_copied(HY_PINNED);
    const int64_t a = w.A.nnz * 12 + (w.A.rows + 1) * 8, gaps = 6 * 1024;
    assert_int_equal(spmm(&w, &w.A, &w.x, &w.y), HYBRID_OK);
    assert_int_equal(hybrid_engine_report(w.engine, &report), HYBRID_OK);
    assert_int_equal(report.h2d_bytes, fake_copied(HY_DEVICE) - up);
    assert_in_range(report.h2d_bytes, a, a + gaps);
    assert_int_equal(report.d2h_bytes, 0);
    assert_int_equal(fake_copied(HY_PINNED), down);
    close_world(&w);
}

/* ---- streams, patterns --------------------------------------------------------------
 */

static void calls_wait_for_the_stream(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    int stream;
    world w;

    (void)state;
    open_world(&options, &w);
    hybrid_engine_stream(NULL, &stream);
    hybrid_engine_stream(w.engine, &stream);
    assert_int_equal(spmm(&w, &w.A, &w.X, &w.Y), HYBRID_OK);
    assert_int_equal(fake_followed(&stream), 0);
    assert_int_equal(spmm(&w, &w.a, &w.x, &w.y), HYBRID_OK);
    assert_int_equal(fake_followed(&stream), 1);
    assert_int_equal(spmm(&w, &w.A, &w.X, &w.y), HYBRID_OK);
    assert_int_equal(fake_followed(&stream), 2);
    const int64_t before = fake_followed(NULL);
    hybrid_engine_stream(w.engine, NULL);
    assert_int_equal(spmm(&w, &w.a, &w.x, &w.y), HYBRID_OK);
    assert_int_equal(fake_followed(&stream), 2);
    assert_int_equal(fake_followed(NULL), before + 1);
    close_world(&w);
}

/* Entry k of a pattern is moved to another column of its row, if there is room. */
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
    world w;
    hybrid_plan *p;
    hybrid_csr C;

    (void)state;
    plan.flags = HYBRID_REUSE;
    open_world(&options, &w);
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
    expect(&w, hybrid_spgemm_run(p, &other, &w.a, &C), HYBRID_BAD_STATE,
           "A has as many entries as planned for");
    expect(&w, hybrid_spgemm_run(p, &w.a, &other, &C), HYBRID_BAD_STATE,
           "B has as many entries as planned for");
    assert_int_equal(fake_fetched(), fetched);
    hybrid_plan_destroy(p);
    on_device_csr_free(&wide);
    on_device_csr_free(&other);
    close_world(&w);
}

/* ---- results ------------------------------------------------------------------------
 */

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
    world w;

    (void)state;
    plan.result_space = HYBRID_SPACE_DEVICE;
    open_world(&options, &w);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(hybrid_spgemm_with(w.engine, &plan, &w.a, &w.A, &C), HYBRID_OK);
        freeing f = {w.engine, &C};
        assert_int_equal(pthread_create(&thread, NULL, free_one, &f), 0);
        assert_int_equal(hybrid_spgemm_with(w.engine, &plan, &w.A, &w.a, &left),
                         HYBRID_OK);
        pthread_join(thread, NULL);
        if (i > 0) /* the first is the engine's to free */
            hybrid_csr_free(w.engine, &left);
    }
    C = w.a; /* never given by the engine */
    hybrid_csr_free(w.engine, &C);
    assert_null(C.val);
    close_world(&w);
}

/* ---- faults -------------------------------------------------------------------------
 */

static hybrid_status try_spmm(hybrid_engine *engine, void *arg)
{
    const world *w       = arg;
    hybrid_dense columns = w->x;

    columns.order = HYBRID_COL_MAJOR;
    columns.ld    = columns.rows;
    HY_TRY(fake_explained(
        engine, hybrid_spmm(engine, 2, &w->a, &columns, 1, (hybrid_dense *)&w->y)));
    return fake_explained(engine,
                          hybrid_spmm(engine, 0, &w->a, &w->x, 2, (hybrid_dense *)&w->y));
}

static hybrid_status try_spgemm(hybrid_engine *engine, void *arg)
{
    const world *w              = arg;
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_status status        = HYBRID_OK;
    hybrid_plan *plan;
    hybrid_csr C;

    options.result_space = HYBRID_SPACE_DEVICE;
    options.flags        = HYBRID_REUSE;
    options.chunk_rows   = ROWS / 2;
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

/* What is left is the caller's. */
static hybrid_status try_one(hybrid_engine *engine, world *w,
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

/* Some are asked for again, and the call succeeds. */
static void fail_allocations(world *w, hybrid_status (*run)(hybrid_engine *, void *))
{
    int failed = 0;

    for (int64_t n = 1; n <= ALLOCATIONS; n++) {
        hybrid_engine *engine;
        assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
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
    world w;

    (void)state;
    open_world(&options, &w);
    hybrid_engine_destroy(w.engine);
    w.engine                  = NULL;
    const fake_failing dense  = {try_dense, &w, 0, 4000, 100};
    const fake_failing sparse = {try_sparse, &w, 0, 4000, 100};
    fake_delays(1, 0);
    assert_in_range(fake_fail_each(&dense, 0), 20, 4000);
    assert_in_range(fake_fail_each(&sparse, 0), 50, 4000);
    fail_allocations(&w, try_dense);
    fail_allocations(&w, try_sparse);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_are_what_they_are_said_to_be),
        cmocka_unit_test(overlap_is_found_on_the_device),
        cmocka_unit_test(the_host_alone_takes_none),
        cmocka_unit_test(the_device_computes_alone),
        cmocka_unit_test(runs_find_operands_where_the_plan_has_them),
        cmocka_unit_test(other_calls_read_host_memory),
        cmocka_unit_test(the_device_that_has_them_computes),
        cmocka_unit_test(operands_are_outside_the_budget),
        cmocka_unit_test(dense_operands_stay_off_the_bus),
        cmocka_unit_test(calls_wait_for_the_stream),
        cmocka_unit_test(patterns_are_compared_where_they_are),
        cmocka_unit_test(results_are_freed_by_any_thread),
        cmocka_unit_test(any_call_may_fail),
    };
    return cmocka_run_group_tests_name("space_errors", tests, NULL, NULL);
}
