/* tests/test_progress.c - how far a call is, is told to a function of the caller, which
   may end the call each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <string.h>

#include "engine/plan.h"
#include "pipeline/inbox.h"
#include "support/asked.h"
#include "support/builder.h"
#include "support/context.h"
#include "support/each.h"
#include "support/fake_backend.h"
#include "support/io_fixture.h"
#include "support/oracle.h"
#include "support/stored.h"

enum { ROWS = 220, CHUNK = 30, WIDTH = 5 };

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows, hy_spmm_host_rows;

static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                              NULL};
static const hy_variant *const variants[]  = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                              &hy_spgemm_host_rows, &hy_spmm_host_rows,
                                              NULL};

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A, C; /* C = AA */
    oracle square;
    hybrid_dense X, Y, before;
    hybrid_plan *sparse, *reuse, *shared, *dense; /* that are run again and again */
    hybrid_file *file, *a_file;                   /* X, A */
} world;

/* ---- calls, of which a result is right ----------------------------------------------
 */

static hybrid_status right_sparse(world *w, hybrid_status status, hybrid_csr *C)
{
    if (status != HYBRID_OK) {
        assert_null(C->row_ptr); /* untouched */
        return status;
    }
    assert_null(oracle_check(&w->square, C, 1));
    hybrid_csr_free(w->engine, C);
    return HYBRID_OK;
}

static hybrid_status right_dense(world *w, hybrid_status status)
{
    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(2, &w->A, &w->X, 3, &w->before, &w->Y, 1));
    return status;
}

static void renew_y(world *w)
{
    dense_free(&w->Y);
    dense_copy(&w->before, &w->Y);
}

static hybrid_status one_sparse(world *w)
{
    hybrid_csr C = {0};
    return right_sparse(w, hybrid_spgemm(w->engine, &w->A, &w->A, &C), &C);
}

static hybrid_status run_of(world *w, hybrid_plan *plan)
{
    hybrid_csr C = {0};
    return right_sparse(w, hybrid_spgemm_run(plan, &w->A, &w->A, &C), &C);
}

static hybrid_status run_sparse(world *w)
{
    return run_of(w, w->sparse);
}

static hybrid_status run_reuse(world *w)
{
    return run_of(w, w->reuse);
}

static hybrid_status run_shared(world *w)
{
    return run_of(w, w->shared);
}

static hybrid_status run_each(world *w)
{
    collected rows;
    const hybrid_status status = collect(w->sparse, &w->A, &w->A, -1, &rows);

    if (status == HYBRID_OK)
        assert_null(oracle_check(&w->square, &rows.C, 1));
    matrix_free(&rows.C);
    return status;
}

static hybrid_status one_dense(world *w)
{
    renew_y(w);
    return right_dense(w, hybrid_spmm(w->engine, 2, &w->A, &w->X, 3, &w->Y));
}

static hybrid_status run_dense(world *w)
{
    renew_y(w);
    return right_dense(w, hybrid_spmm_run(w->dense, 2, &w->A, &w->X, 3, &w->Y));
}

static hybrid_status run_file(world *w)
{
    renew_y(w);
    return right_dense(w, hybrid_spmm_run_file(w->dense, 2, &w->A, w->file, 3, &w->Y));
}

static hybrid_status files_sparse(world *w)
{
    const hybrid_operand A = {.file = w->a_file};
    hybrid_csr C           = {0};
    return right_sparse(w, hybrid_spgemm_files(w->engine, &A, &A, NULL, &C), &C);
}

static hybrid_status files_each(world *w)
{
    const hybrid_operand A = {.file = w->a_file};
    collected rows;
    const hybrid_status status = collect_files(w->engine, &A, &A, &w->A, NULL, -1, &rows);

    if (status == HYBRID_OK)
        assert_null(oracle_check(&w->square, &rows.C, 1));
    matrix_free(&rows.C);
    return status;
}

static hybrid_status files_dense(world *w)
{
    const hybrid_operand A = {.file = w->a_file}, X = {.file = w->file};

    renew_y(w);
    return right_dense(w, hybrid_spmm_files(w->engine, 2, &A, &X, 3, NULL, &w->Y));
}

static hybrid_status one_vector(world *w)
{
    double x[ROWS], y[ROWS];
    hybrid_dense X = {ROWS, 1, 1, HYBRID_ROW_MAJOR, x, HYBRID_F64}, Y = X;

    Y.data = y;
    for (int i = 0; i < ROWS; i++)
        x[i] = 1 + i % 7;
    const hybrid_status status = hybrid_spmv(w->engine, 1, &w->A, x, 0, y);
    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(1, &w->A, &X, 0, NULL, &Y, 1));
    return status;
}

static hybrid_status scale(world *w)
{
    renew_y(w);
    const hybrid_status status = hybrid_spmm(w->engine, 0, &w->A, &w->X, 3, &w->Y);
    for (int64_t i = 0; status == HYBRID_OK && i < ROWS; i++)
        assert_true(dense_at(&w->Y, i, i % WIDTH) ==
                    3 * dense_at(&w->before, i, i % WIDTH));
    return status;
}

/* What a plan that was not made leaves, the engine's destruction would find. */
static hybrid_status plan_with(world *w, unsigned flags, int dense)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan           = NULL;

    options.flags = flags | HYBRID_EXPLAIN | HYBRID_CHECK;
    const hybrid_status status =
        dense ? hybrid_spmm_plan(w->engine, &w->A, WIDTH, &options, &plan)
              : hybrid_spgemm_plan(w->engine, &w->A, &w->A, &options, &plan);
    assert_true((plan != NULL) == (status == HYBRID_OK));
    hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status plan_sparse(world *w)
{
    return plan_with(w, HYBRID_REUSE, 0);
}

static hybrid_status plan_dense(world *w)
{
    return plan_with(w, HYBRID_RESIDENT, 1);
}

static hybrid_status verify(world *w)
{
    int64_t row = -1;
    const hybrid_status status =
        hybrid_verify_spgemm(w->engine, &w->A, &w->A, &w->C, 3, 1, &row);

    assert_int_equal(row, -1);
    return status;
}

typedef struct call {
    const char *name;
    hybrid_status (*make)(world *w);
} call;

static const call calls[] = {
    {"hybrid_spgemm", one_sparse},
    {"hybrid_spgemm_run", run_sparse},
    {"with REUSE", run_reuse},
    {"with REUSE, shared", run_shared},
    {"hybrid_spgemm_each", run_each},
    {"hybrid_spmm", one_dense},
    {"hybrid_spmm_run", run_dense},
    {"hybrid_spmm_run_file", run_file},
    {"hybrid_spmv", one_vector},
    {"alpha is 0", scale},
    {"hybrid_spgemm_plan", plan_sparse},
    {"hybrid_spmm_plan", plan_dense},
    {"hybrid_verify_spgemm", verify},
    {"hybrid_spgemm_files", files_sparse},
    {"hybrid_spgemm_files_each", files_each},
    {"hybrid_spmm_files", files_dense},
};

enum { CALLS = (int)(sizeof calls / sizeof *calls) };

/* ---- the world -----------------------------------------------------------------------
 */

static void make_plans(world *w)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr C;

    w->sparse = each_plan(w->engine, &w->A, &w->A, CHUNK, 0);
    w->reuse  = each_plan(w->engine, &w->A, &w->A, CHUNK, HYBRID_REUSE);
    w->shared = w->reuse;
    if (w->engine->device) {
        options.flags      = HYBRID_REUSE;
        options.chunk_rows = CHUNK;
        options.split      = HYBRID_SPLIT_SHARE;
        options.host_share = 0.5;
        assert_int_equal(
            hybrid_spgemm_plan(w->engine, &w->A, &w->A, &options, &w->shared), HYBRID_OK);
    }
    /* later runs know where rows of C begin */
    assert_int_equal(hybrid_spgemm_run(w->reuse, &w->A, &w->A, &w->C), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(w->shared, &w->A, &w->A, &C), HYBRID_OK);
    hybrid_csr_free(w->engine, &C);
    options            = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
    options.chunk_rows = CHUNK;
    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, WIDTH, &options, &w->dense),
                     HYBRID_OK);
}

static hybrid_engine *open_engine(int on_host)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads = 2;
    options.backend = on_host ? HYBRID_HOST : HYBRID_AUTO;
    fake_delays(1, 20);
    assert_int_equal(on_host ? hybrid_engine_create(&options, &engine)
                             : fake_engine_open(&options, fakes, variants, &engine),
                     HYBRID_OK);
    return engine;
}

static void make_world(world *w, int on_host)
{
    *w                       = (world){.engine = open_engine(on_host)};
    w->engine->early_bytes   = 1; /* B is on its way while the plan is made */
    w->engine->counted_bytes = 1;
    matrix_random(ROWS, ROWS, 5, 4, f64, &w->A);
    oracle_spgemm(&w->A, &w->A, &w->square);
    dense_make(ROWS, WIDTH, 0, HYBRID_ROW_MAJOR, 1, f64, &w->X);
    dense_make(ROWS, WIDTH, 0, HYBRID_ROW_MAJOR, 2, f64, &w->before);
    dense_copy(&w->before, &w->Y);
    stored_write(&w->X);
    assert_int_equal(hybrid_file_open(w->engine, io_temp("x.json"), &w->file), HYBRID_OK);
    w->a_file              = (hybrid_file *)stored_csr(w->engine, "a", &w->A, 1).file;
    w->engine->piece_bytes = 6000; /* several panels */
    make_plans(w);
}

static void free_world(world *w)
{
    hybrid_csr_free(w->engine, &w->C);
    if (w->shared != w->reuse)
        hybrid_plan_destroy(w->shared);
    hybrid_plan_destroy(w->reuse);
    hybrid_plan_destroy(w->sparse);
    hybrid_plan_destroy(w->dense);
    hybrid_file_close(w->file);
    hybrid_file_close(w->a_file);
    hybrid_engine_destroy(w->engine);
    oracle_free(&w->square);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    matrix_free(&w->A);
    assert_int_equal(fake_alive(), 0);
}

/* ---- cancelled -----------------------------------------------------------------------
 */

/* Ended when it tells the first, second, third ... time, and later by larger steps, until
   it is over before. Each time the same call is then made once more, and is right. */
static int64_t end_each(world *w, const call *c)
{
    hybrid_status status = HYBRID_CANCELLED;
    int64_t n            = 0;
    asked a;

    asked_set(&a, w->engine, 0);
    while (status != HYBRID_OK) {
        n += 1 + n / 4;
        asked_again(&a, n);
        status = c->make(w);
        asked_check(&a, status, ROWS);
        asked_again(&a, 0);
        assert_int_equal(c->make(w), HYBRID_OK);
        asked_check(&a, HYBRID_OK, ROWS);
    }
    hybrid_engine_progress(w->engine, NULL, NULL);
    assert_int_equal(c->make(w), HYBRID_OK);
    return n;
}

static void any_call_can_be_ended(void **state)
{
    world w;

    (void)state;
    for (int on_host = 0; on_host < 2; on_host++) {
        make_world(&w, on_host);
        for (int i = 0; i < CALLS; i++)
            if (end_each(&w, &calls[i]) < 2)
                fail_msg("%s was never ended", calls[i].name);
        free_world(&w);
    }
}

/* While somebody asks how far calls are each allocation fails once, each call of the
   device, and so do calls that are ended when something fails. */
static void calls_that_fail_besides(void **state)
{
    world w;
    asked a;

    (void)state;
    for (int on_host = 0; on_host < 2; on_host++) {
        make_world(&w, on_host);
        for (int i = 0; i < CALLS; i++)
            for (int64_t stop = 0; stop < 40; stop += 13) {
                hybrid_status status = HYBRID_NO_MEMORY;
                for (int64_t n = 1; status == HYBRID_NO_MEMORY; n += 1 + n / 16) {
                    asked_set(&a, w.engine, stop);
                    w.engine->ctx.memory.failures = n;
                    status                        = calls[i].make(&w);
                    w.engine->ctx.memory.failures = 0;
                    assert_true(status != HYBRID_NO_MEMORY ||
                                strlen(hybrid_engine_message(w.engine)) > 10);
                    hybrid_engine_progress(w.engine, NULL, NULL);
                }
                assert_true(status == HYBRID_OK ||
                            (status == HYBRID_CANCELLED && stop > 0));
                assert_int_equal(calls[i].make(&w), HYBRID_OK);
            }
        free_world(&w);
    }
}

/* ---- one worker, who is the calling thread --------------------------------------------
 */

static hybrid_engine *open_alone(int threads)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.backend = HYBRID_HOST;
    options.threads = threads;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    return engine;
}

/* Rows of A have all columns, and rows of B `length` columns from number i * step on. */
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

/* The product by the variant, told and ended in between; each time the scratch of workers
   is as it was: the result is right after it. */
static void end_long(const char *variant, int threads, const hybrid_csr *A,
                     const hybrid_csr *B, const oracle *right)
{
    hybrid_engine *engine       = open_alone(threads);
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

/* A row of more than a million products, of short rows of B and of two long ones. */
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

/* A row that all workers make. */
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

/* One chunk of one piece tells of rows that are done in it. */
static void rows_are_told_within_a_chunk(void **state)
{
    hybrid_engine *engine = open_alone(1);
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

/* A piece of Y is made in parts when somebody asks: with the same bits. */
static void bits_are_those_of_a_call_that_nobody_asks(void **state)
{
    const test_kind reals = {HYBRID_F32, HYBRID_I64, 0};
    hybrid_engine *engine = open_alone(1);
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

/* ---- who waits ------------------------------------------------------------------------
 */

enum {
    TOLD = 3
}; /* times, for which others wait: with a thread that does not wake they
      wait for ever */

typedef struct waited {
    hy_context *ctx;
    int told; /* atomic */
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
    assert_int_equal(hy_pool_end(&loop), HYBRID_OK); /* it takes no part, it waits */
    assert_true(w.told >= TOLD);
    w.told = 0;
    hy_inbox_open(&w.inbox, progress, 0);
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
        cmocka_unit_test(any_call_can_be_ended),
        cmocka_unit_test(calls_that_fail_besides),
        cmocka_unit_test(within_a_long_row),
        cmocka_unit_test(within_a_row_of_all_workers),
        cmocka_unit_test(rows_are_told_within_a_chunk),
        cmocka_unit_test(bits_are_those_of_a_call_that_nobody_asks),
        cmocka_unit_test(who_waits_tells_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
