/* tests/run/calls/test_progress_within.c - progress is reported within a chunk and while
   waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>

#include "engine/api/engine.h"
#include "pipeline/site/inbox.h"
#include "support/runs/asked.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"
#include "support/engines/context.h"
#include "support/engines/open_host.h"
#include "support/check/oracle.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* ---- one worker, which is the calling thread ---- */

/* Makes A, of which each row has all columns, and B, of which row i has `length` columns
   from i * step on. */
static void make_long(int64_t rows, int64_t inner, int64_t length, int64_t step,
                      hybrid_type type, hybrid_csr *A, hybrid_csr *B)
{
    const test_kind kind = {type, HYBRID_I64, 1};
    builder a = build_start(rows, inner), b = build_start(inner, length + step * inner);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < inner; k++)
            build_add(&a, k);
        build_end_row(&a);
    }
    for (int64_t k = 0; k < inner; k++) {
        for (int64_t j = 0; j < length; j++)
            build_add(&b, k * step + j);
        build_end_row(&b);
    }
    *A = build_finish(&a, 1, kind);
    *B = build_finish(&b, 2, kind);
}

/* Computes A*B with the variant again and again; the progress function ends the run at
   its fifth call, its fourth, and so on. Each time the next run must be right: workers
   must have cleared their scratch memory. */
static void end_long(const char *variant, int threads, const hybrid_csr *A,
                     const hybrid_csr *B, const oracle *right)
{
    hybrid_engine *engine       = open_host(threads, 0);
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;
    asked a;

    options.variant = variant;
    assert_int_equal(hybrid_spgemm_plan(engine, A, B, &options, &plan), HYBRID_OK);
    asked_set(&a, engine, 0);
    for (int64_t stop = 5; stop >= 0; stop--) {
        hybrid_csr C;
        asked_again(&a, stop);
        const hybrid_status status = hybrid_spgemm_run(plan, A, B, &C);
        asked_check(&a, status, A->rows);
        assert_true(status == HYBRID_CANCELLED || stop == 0 || stop > 3);
        if (status != HYBRID_OK)
            continue;
        assert_null(oracle_check(right, &C, 1));
        hybrid_csr_free(engine, &C);
    }
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
}

/* A row of C has more than a million scalar products, from short rows of B or from two
   long ones. The progress function is called while the row is computed. */
static void within_a_long_row(void **state)
{
    static const char *const names[] = {"spgemm.host.rows", "spgemm.host.hash",
                                        "spgemm.host.dense"};
    hybrid_csr A, B;
    oracle right;

    (void)state;
    for (hybrid_type type = HYBRID_F32; type <= HYBRID_F64; type++)
        for (int few = 0; few < 2; few++) {
            make_long(5, few ? 2 : 4000, few ? HY_UNCHECKED + 99 : 300, 3, type, &A, &B);
            oracle_spgemm(&A, &B, &right);
            for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                end_long(names[i], 1, &A, &B, &right);
            oracle_free(&right);
            matrix_free(&A);
            matrix_free(&B);
        }
}

/* The progress function ends a run in which all workers compute one row together. */
static void within_a_row_of_all_workers(void **state)
{
    hybrid_csr A, B;
    oracle right;

    (void)state;
    make_long(1, 20000, 600, 1, HYBRID_F64, &A, &B);
    oracle_spgemm(&A, &B, &right);
    end_long("spgemm.host.rows", 2, &A, &B, &right);
    oracle_free(&right);
    matrix_free(&A);
    matrix_free(&B);
}

/* While a single chunk is computed, progress reports the rows that are done within
   it. */
static void rows_are_told_within_a_chunk(void **state)
{
    hybrid_engine *engine = open_host(1, 0);
    hybrid_csr A, C;
    asked a;

    (void)state;
    asked_set(&a, engine, 0);
    a.engine = NULL;
    matrix_random(20000, 20000, 20, 4, f64, &A);
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
    assert_int_equal(a.done, A.rows);
    assert_true(a.part > 0);
    hybrid_csr_free(engine, &C);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* With a progress function a piece of Y is computed in several steps. Y must have the
   same bits as without one. */
static void bits_are_those_of_a_call_that_nobody_asks(void **state)
{
    const test_kind reals = {HYBRID_F32, HYBRID_I64, 0};
    hybrid_engine *engine = open_host(1, 0);
    hybrid_dense X, Y, told;
    hybrid_csr A;
    asked a;

    (void)state;
    matrix_random(3000, 20000, 300, 4, reals, &A);
    for (hybrid_order order = HYBRID_ROW_MAJOR; order <= HYBRID_COL_MAJOR; order++) {
        dense_make(A.cols, 40, 0, order, 1, reals, &X);
        dense_make(A.rows, 40, 0, order, 2, reals, &Y);
        dense_copy(&Y, &told);
        assert_int_equal(hybrid_spmm(engine, 1, &A, &X, 0, &Y), HYBRID_OK);
        asked_set(&a, engine, 0);
        assert_int_equal(hybrid_spmm(engine, 1, &A, &X, 0, &told), HYBRID_OK);
        assert_true(a.part > 0);
        assert_memory_equal(Y.data, told.data, (size_t)(A.rows * 40) * 4);
        for (int64_t stop = 3; stop > 0; stop--) {
            asked_again(&a, stop);
            asked_check(&a, hybrid_spmm(engine, 1, &A, &X, 0, &told), A.rows);
        }
        hybrid_engine_progress(engine, NULL, NULL);
        dense_free(&X);
        dense_free(&Y);
        dense_free(&told);
    }
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* ---- waiting threads ---- */

/* Number of calls of the progress function after which other threads go on. If the
   waiting thread does not wake up to call it, the test never ends. */
enum { TOLD = 3 };

typedef struct waited {
    hy_context *ctx;
    int told; /* number of calls so far, read and written atomically */
    hy_inbox inbox;
    hy_task task;
} waited;

static int note(void *user, int64_t rows_done, int64_t rows)
{
    waited *w = user;

    (void)rows_done;
    (void)rows;
    __atomic_add_fetch(&w->told, 1, __ATOMIC_RELAXED);
    return 0;
}

static void await_told(waited *w)
{
    while (__atomic_load_n(&w->told, __ATOMIC_RELAXED) < TOLD)
        sched_yield();
}

static hybrid_status worker_waits(void *arg, int part, int64_t begin, int64_t end)
{
    waited *w = arg;

    (void)part;
    (void)begin;
    (void)end;
    await_told(w);
    return HYBRID_OK;
}

static void *send_late(void *arg)
{
    waited *w = arg;

    await_told(w);
    hy_inbox_push(&w->inbox, &w->task);
    return NULL;
}

static void who_waits_tells_meanwhile(void **state)
{
    waited w              = {.ctx = test_context(2)};
    hy_progress *progress = &w.ctx->progress;
    pthread_t thread;
    hy_loop loop;

    (void)state;
    progress->fn       = note;
    progress->user     = &w;
    progress->every_ns = 1000000;
    hy_progress_begin(progress, 1);
    hy_pool_begin(&loop, w.ctx->pool, HY_COMPUTE, 0, 1, 1, worker_waits, &w);
    /* waits for the end of the loop, of which the calling thread computes no piece */
    assert_int_equal(hy_pool_end(&loop), HYBRID_OK);
    assert_true(w.told >= TOLD);
    w.told = 0;
    hy_inbox_open(&w.inbox, progress, NULL, 0);
    assert_int_equal(pthread_create(&thread, NULL, send_late, &w), 0);
    assert_ptr_equal(hy_inbox_pop(&w.inbox), &w.task);
    assert_true(w.told >= TOLD);
    pthread_join(thread, NULL);
    hy_inbox_destroy(&w.inbox);
    hy_progress_end(progress, HYBRID_OK);
    test_context_free(w.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_a_long_row),
        cmocka_unit_test(within_a_row_of_all_workers),
        cmocka_unit_test(rows_are_told_within_a_chunk),
        cmocka_unit_test(bits_are_those_of_a_call_that_nobody_asks),
        cmocka_unit_test(who_waits_tells_meanwhile),
    };
    return cmocka_run_group_tests_name("progress within a chunk", tests, NULL, NULL);
}
