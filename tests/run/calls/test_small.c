/* tests/run/calls/test_small.c - small products on the host.

   The calling thread computes them, and a run of a plan allocates nothing. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "base/threads/pool_inside.h"
#include "engine/plan/plan.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/check/oracle.h"

enum { WORKERS = 3, ROWS = 100, RUNS = 5, CHUNK_ROWS = 13 };

static const test_kind kind = {HYBRID_F32, HYBRID_I64, 0};
static hybrid_engine *engine;
static hybrid_csr A;
static int64_t allocations;

static void *take(void *user, size_t bytes)
{
    __atomic_fetch_add((int64_t *)user, 1, __ATOMIC_RELAXED);
    return malloc(bytes);
}

static void give(void *user, void *ptr)
{
    (void)user;
    free(ptr);
}

static int open_world(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    (void)state;
    options.backend   = HYBRID_HOST;
    options.threads   = WORKERS;
    options.allocator = (hybrid_allocator){take, give, &allocations};
    matrix_random(ROWS, ROWS, 5, 1, kind, &A);
    return (int)hybrid_engine_create(&options, &engine);
}

static int close_world(void **state)
{
    (void)state;
    hybrid_engine_destroy(engine);
    matrix_free(&A);
    return 0;
}

/* Returns the nanoseconds that all workers together have worked since the engine was
   created. */
static int64_t worked_ns(void)
{
    hy_pool *pool = engine->ctx.pool;
    int64_t sum   = 0;

    for (int i = 0; i < pool->threads; i++)
        sum += __atomic_load_n(&pool->workers[i].worked_ns, __ATOMIC_RELAXED);
    return sum;
}

/* ---- runs of a plan ---- */

typedef struct trying {
    hybrid_order x_order, y_order;
    int64_t cols, gap;
} trying;

static void run_without_allocating(const trying *t)
{
    hy_meter *meter = &engine->ctx.memory.meter;
    hybrid_dense X, Y, before;
    hybrid_plan *plan;

    dense_make(ROWS, t->cols, t->gap, t->x_order, 1, kind, &X);
    dense_make(ROWS, t->cols, t->gap, t->y_order, 2, kind, &before);
    dense_copy(&before, &Y);
    assert_int_equal(hybrid_spmm_plan(engine, &A, t->cols, NULL, &plan), HYBRID_OK);
    const int64_t used = hy_meter_used(meter), taken = allocations;
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(hybrid_spmm_run(plan, 2, &A, &X, 0, &Y), HYBRID_OK);
        hy_meter_reset_peak(meter);
    }
    assert_null(oracle_check_spmm(2, &A, &X, 0, &before, &Y, 0));
    assert_true(dense_gaps_intact(&Y));
    /* if columns of X are transposed, the first run allocates memory for that and keeps
       it */
    const int grows = t->x_order == HYBRID_COL_MAJOR && t->cols > 1;
    if (!grows) {
        assert_int_equal(allocations, taken);
        assert_int_equal(hy_meter_used(meter), used);
    }
    const int64_t later = allocations, peak = hy_meter_used(meter);
    assert_int_equal(hybrid_spmm_run(plan, 2, &A, &X, 1, &Y), HYBRID_OK);
    assert_int_equal(allocations, later);
    assert_int_equal(hy_meter_peak(meter), peak);
    hybrid_plan_destroy(plan);
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
}

static void a_run_allocates_nothing(void **state)
{
    static const trying all[] = {{HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR, 1, 0},
                                 {HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR, 8, 0},
                                 {HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR, 64, 3},
                                 {HYBRID_COL_MAJOR, HYBRID_COL_MAJOR, 1, 2},
                                 {HYBRID_COL_MAJOR, HYBRID_COL_MAJOR, 8, 0},
                                 {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR, 8, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        run_without_allocating(&all[i]);
}

/* A run of an SpGEMM plan allocates no memory but that of C. It takes the pages that a
   result freed before. */
static void a_run_of_spgemm_allocates_nothing_but_its_result(void **state)
{
    hybrid_plan *plan;
    hybrid_csr C;

    (void)state;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, NULL, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
    hybrid_csr_free(engine, &C);
    const int64_t taken = allocations;
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
        hybrid_csr_free(engine, &C);
    }
    assert_int_equal(allocations, taken);
    hybrid_plan_destroy(plan);
}

/* ---- calling thread and workers ---- */

typedef struct tracing {
    int events, others; /* number of events of the trace, and of those that come from
                           other threads */
} tracing;

static void note(void *user, const hybrid_event *event)
{
    tracing *t = user;

    t->events++;
    t->others += strcmp(event->lane, "caller") != 0 || event->end_ns < event->begin_ns;
}

static void check_report(void)
{
    hybrid_report r = HYBRID_REPORT_INIT;

    assert_int_equal(hybrid_engine_report(engine, &r), HYBRID_OK);
    assert_int_equal(r.chunks, 1);
    assert_true(r.multiply_s > 0 && r.multiply_s < r.total_s);
    assert_true(r.use[HYBRID_CORES].utilisation > 0);
    assert_true(r.use[HYBRID_CORES].utilisation <= 1.0 / WORKERS);
}

/* The calling thread computes small products, without workers. This must be the first
   test, because it checks that no worker has ever had a task. */
static void the_calling_thread_computes_small_products(void **state)
{
    tracing t = {0};
    hybrid_dense X, Y;
    hybrid_csr C;

    (void)state;
    dense_make(ROWS, 8, 0, HYBRID_ROW_MAJOR, 1, kind, &X);
    dense_make(ROWS, 8, 0, HYBRID_ROW_MAJOR, 2, kind, &Y);
    hybrid_engine_trace(engine, note, &t);
    assert_int_equal(hybrid_spmm(engine, 1, &A, &X, 0, &Y), HYBRID_OK);
    assert_int_equal(t.events, 1); /* the SpMM has one stage, "accumulate" */
    check_report();
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
    assert_int_equal(t.events, 3); /* the SpGEMM adds two stages, "multiply" and
                                      "place" */
    check_report();
    assert_int_equal(t.others, 0);
    assert_int_equal(worked_ns(), 0);
    hybrid_engine_trace(engine, NULL, NULL);
    hybrid_csr_free(engine, &C);
    dense_free(&X);
    dense_free(&Y);
}

/* Returns when all workers sleep. Fails the test if the last parallel loop does not
   count as ended. */
static void wait_until_workers_sleep(void)
{
    hy_pool *pool = engine->ctx.pool;

    usleep(1000);
    assert_false(hy_pool_goes_on(pool));
    for (int i = 0; i < pool->threads; i++)
        while (__atomic_load_n(&pool->workers[i].state, __ATOMIC_RELAXED) !=
               HY_WORKER_SLEEPS)
            sched_yield();
}

/* Returns the nanoseconds that workers spend on M*X, where X has n columns. Waits until
   all workers sleep, before and after. */
static int64_t work_for_spmm(const hybrid_csr *M, int64_t n)
{
    hybrid_dense X, Y;

    dense_make(M->cols, n, 0, HYBRID_ROW_MAJOR, 1, kind, &X);
    dense_make(M->rows, n, 0, HYBRID_ROW_MAJOR, 2, kind, &Y);
    wait_until_workers_sleep();
    const int64_t before = worked_ns();
    assert_int_equal(hybrid_spmm(engine, 1, M, &X, 0, &Y), HYBRID_OK);
    dense_free(&X);
    dense_free(&Y);
    wait_until_workers_sleep();
    return worked_ns() - before;
}

/* Returns the nanoseconds that workers spend on B*B, where rows of B have `entries`
   entries on average. Waits until all workers sleep, before and after. */
static int64_t work_for_spgemm(double entries)
{
    hybrid_csr B, C;

    matrix_random(ROWS, ROWS, entries, 1, kind, &B);
    wait_until_workers_sleep();
    const int64_t before = worked_ns();
    assert_int_equal(hybrid_spgemm(engine, &B, &B, &C), HYBRID_OK);
    hybrid_csr_free(engine, &C);
    matrix_free(&B);
    wait_until_workers_sleep();
    return worked_ns() - before;
}

/* A small product wakes no worker, even if its offsets are checked in a parallel loop. A
   larger one wakes at least one. */
static void nobody_is_woken_for_little_work(void **state)
{
    hybrid_csr tall;

    (void)state;
    matrix_random(50 * ROWS, ROWS, 1, 1, kind, &tall);
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(work_for_spmm(&A, 64), 0);
        assert_int_equal(work_for_spmm(&A, 500), 0);
        assert_int_equal(work_for_spmm(&tall, 1), 0);
        assert_int_equal(work_for_spgemm(6), 0);
    }
    while (work_for_spmm(&A, 20000) == 0)
        ;
    while (work_for_spgemm(90) == 0)
        ;
    matrix_free(&tall);
}

/* ---- the same bits ---- */

static hybrid_plan_options in_chunks(void)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    options.chunk_rows = CHUNK_ROWS;
    return options;
}

/* Workers compute a product of several chunks. Y must have the bits that the calling
   thread alone computes. */
static void workers_find_the_same_sums(void **state)
{
    const hybrid_plan_options options = in_chunks();
    hybrid_dense X, Y, other;
    hybrid_plan *plan;

    (void)state;
    dense_make(ROWS, 8, 0, HYBRID_ROW_MAJOR, 1, kind, &X);
    dense_make(ROWS, 8, 0, HYBRID_ROW_MAJOR, 2, kind, &Y);
    dense_copy(&Y, &other);
    assert_int_equal(hybrid_spmm(engine, 0.3, &A, &X, 0.7, &Y), HYBRID_OK);
    assert_int_equal(hybrid_spmm_plan(engine, &A, 8, &options, &plan), HYBRID_OK);
    assert_non_null(plan->portions->site->lane_set);
    assert_int_equal(hybrid_spmm_run(plan, 0.3, &A, &X, 0.7, &other), HYBRID_OK);
    assert_memory_equal(Y.data, other.data, ROWS * 8 * sizeof(float));
    hybrid_plan_destroy(plan);
    dense_free(&X);
    dense_free(&Y);
    dense_free(&other);
}

static void workers_find_the_same_matrix(void **state)
{
    const hybrid_plan_options options = in_chunks();
    hybrid_csr C, other;
    hybrid_plan *plan;

    (void)state;
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
    assert_non_null(plan->portions->site->lane_set);
    assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &other), HYBRID_OK);
    assert_int_equal(C.nnz, other.nnz);
    assert_memory_equal(C.row_ptr, other.row_ptr, (ROWS + 1) * sizeof(int64_t));
    assert_memory_equal(C.col, other.col, (size_t)C.nnz * sizeof(int32_t));
    assert_memory_equal(C.val, other.val, (size_t)C.nnz * sizeof(float));
    hybrid_plan_destroy(plan);
    hybrid_csr_free(engine, &C);
    hybrid_csr_free(engine, &other);
}

/* ---- errors ---- */

/* Makes a matrix with one entry per row, on the diagonal or in column 0. */
static hybrid_csr one_a_row(int64_t *row_ptr, int32_t *col, float *val, int spread)
{
    for (int i = 0; i < ROWS; i++) {
        row_ptr[i] = i;
        col[i]     = spread ? i : 0;
        val[i]     = 1;
    }
    row_ptr[ROWS] = ROWS;
    return (hybrid_csr){ROWS, ROWS, ROWS, HYBRID_I64, row_ptr, col, val, HYBRID_F32};
}

/* A run whose operands have more scalar products in a row than the plan allows fails
   with a message. The plan stays usable. */
static void an_error_ends_the_run_alone(void **state)
{
    int64_t row_ptr[3][ROWS + 1];
    int32_t col[3][ROWS];
    float val[3][ROWS];
    hybrid_csr even  = one_a_row(row_ptr[0], col[0], val[0], 1);
    hybrid_csr first = one_a_row(row_ptr[1], col[1], val[1], 0);
    hybrid_csr dense = one_a_row(row_ptr[2], col[2], val[2], 1);
    hybrid_plan *plan;
    hybrid_csr C;

    (void)state;
    for (int i = 1; i <= ROWS; i++) /* moves all entries to row 0 */
        row_ptr[2][i] = ROWS;
    assert_int_equal(hybrid_spgemm_plan(engine, &even, &even, NULL, &plan), HYBRID_OK);
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(hybrid_spgemm_run(plan, &first, &dense, &C), HYBRID_BAD_STATE);
        assert_non_null(strstr(hybrid_engine_message(engine), "row"));
        assert_int_equal(hybrid_spgemm_run(plan, &even, &even, &C), HYBRID_OK);
        assert_int_equal(C.nnz, ROWS);
        hybrid_csr_free(engine, &C);
    }
    hybrid_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_calling_thread_computes_small_products),
        cmocka_unit_test(nobody_is_woken_for_little_work),
        cmocka_unit_test(a_run_allocates_nothing),
        cmocka_unit_test(a_run_of_spgemm_allocates_nothing_but_its_result),
        cmocka_unit_test(workers_find_the_same_sums),
        cmocka_unit_test(workers_find_the_same_matrix),
        cmocka_unit_test(an_error_ends_the_run_alone),
    };
    return cmocka_run_group_tests_name("small", tests, open_world, close_world);
}
