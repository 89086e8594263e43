/* tests/run/calls/test_fork.c - engines and fork().

   A child cannot use the engine of its parent, but can create its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/engines/host_engine.h"

enum { SECONDS = 120, BUSY_FORKS = 20 };

/* Engine, plan and other objects that exist when the parent process forks. */
static struct {
    hybrid_csr A, C;
    hybrid_dense X, Y;
    hybrid_plan *square, *dense;
} its;

static int make_all(void **state)
{
    if (open_engine(state) != 0)
        return -1;
    assert_int_equal(hybrid_generate(engine, "er:20000,8", HYBRID_F64, 1, &its.A),
                     HYBRID_OK);
    assert_int_equal(
        hybrid_dense_create(engine, its.A.cols, 4, HYBRID_ROW_MAJOR, HYBRID_F64, &its.X),
        HYBRID_OK);
    assert_int_equal(
        hybrid_dense_create(engine, its.A.rows, 4, HYBRID_ROW_MAJOR, HYBRID_F64, &its.Y),
        HYBRID_OK);
    assert_int_equal(hybrid_dense_random(engine, 1, &its.X), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_plan(engine, &its.A, &its.A, NULL, &its.square),
                     HYBRID_OK);
    assert_int_equal(hybrid_spmm_plan(engine, &its.A, 4, NULL, &its.dense), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(its.square, &its.A, &its.A, &its.C), HYBRID_OK);
    return 0;
}

static int free_all(void **state)
{
    hybrid_plan_destroy(its.square);
    hybrid_plan_destroy(its.dense);
    hybrid_csr_free(engine, &its.A);
    hybrid_csr_free(engine, &its.C);
    hybrid_dense_free(engine, &its.X);
    hybrid_dense_free(engine, &its.Y);
    return close_engine(state);
}

/* ---- the child: its exit status names the line that failed ---- */

static void must(int truth, int line)
{
    if (!truth)
        _exit(line % 255 + 1);
}
#define MUST(truth) must(truth, __LINE__)

/* In a child process all calls that return a status must refuse the parent's engine. */
static void child_is_refused(void)
{
    hybrid_csr C;
    hybrid_dense D;
    hybrid_plan *plan;
    hybrid_matrix_info info;
    hybrid_candidate candidate;
    hybrid_report report    = HYBRID_REPORT_INIT;
    const hybrid_csr *A     = &its.A;
    const double one[]      = {1};
    double y                = 0;
    int64_t row             = 0;
    const hybrid_status s[] = {
        hybrid_spgemm(engine, A, A, &C),
        hybrid_spmm(engine, 1, A, &its.X, 0, &its.Y),
        hybrid_spmv(engine, 1, A, one, 0, &y),
        hybrid_spgemm_plan(engine, A, A, NULL, &plan),
        hybrid_spmm_plan(engine, A, 4, NULL, &plan),
        hybrid_spgemm_run(its.square, A, A, &C),
        hybrid_spmm_run(its.dense, 1, A, &its.X, 0, &its.Y),
        hybrid_spmm_run(its.dense, 0, A, &its.X, 0, &its.Y),
        hybrid_plan_candidate(its.square, 0, &candidate),
        hybrid_plan_report(its.square, &report),
        hybrid_engine_report(engine, &report),
        hybrid_engine_calibrate(engine, "rates", NULL, NULL, NULL),
        hybrid_pin(engine, &y, sizeof y),
        hybrid_unpin(engine, &y),
        hybrid_csr_check(engine, A),
        hybrid_csr_info(engine, A, &info),
        hybrid_csr_transpose(engine, A, &C),
        hybrid_verify_spgemm(engine, A, A, &its.C, 1, 1, &row),
        hybrid_verify_spmm(engine, A, &its.X, &its.Y, 1, 1, &row),
        hybrid_verify_spmm_tf32(engine, A, &its.X, &its.Y, 1, 1, &row),
        hybrid_dense_create(engine, 1, 1, HYBRID_ROW_MAJOR, HYBRID_F64, &D),
        hybrid_dense_random(engine, 1, &its.X),
        hybrid_generate(engine, "er:10,1", HYBRID_F64, 1, &C),
        hybrid_read_mtx(engine, "A.mtx", HYBRID_F64, &C),
        hybrid_write_mtx(engine, "A.mtx", A),
        hybrid_read_dense(engine, "X.npy", HYBRID_F64, &D),
        hybrid_write_npy(engine, "X.npy", &its.X),
    };

    for (size_t i = 0; i < sizeof s / sizeof *s; i++)
        must(s[i] == HYBRID_BAD_STATE, (int)i);
    MUST(strstr(hybrid_engine_message(engine), "fork") != NULL);
}

/* In a child process, calls that return no status must work with the parent's engine.
   Results of the parent are readable until the engine is destroyed. */
static void child_lets_go(void)
{
    char text[64];

    MUST(hybrid_plan_explain(its.square, text, sizeof text) > 0);
    MUST(hybrid_engine_threads(engine) == 2);
    MUST(((const int64_t *)its.C.row_ptr)[its.C.rows] == its.C.nnz);
    hybrid_engine_trace(engine, NULL, NULL);
    hybrid_plan_refresh(its.dense);
    hybrid_plan_destroy(its.square);
    hybrid_plan_destroy(its.dense);
    hybrid_csr_free(engine, &its.C);
    MUST(its.C.row_ptr == NULL);
    hybrid_dense_free(engine, &its.Y);
    MUST(its.Y.data == NULL);
    hybrid_engine_trim(engine);
    hybrid_engine_destroy(engine);
}

/* A child process can create an engine of its own and compute. Skipped with the thread
   sanitizer, with which a child of a multithreaded process cannot start threads. */
static void child_has_its_own(void)
{
#ifndef __SANITIZE_THREAD__
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_csr A, C;
    int64_t row = 0;

    options.backend = HYBRID_HOST;
    options.threads = 2;
    MUST(hybrid_engine_create(&options, &engine) == HYBRID_OK);
    MUST(hybrid_generate(engine, "er:3000,8", HYBRID_F64, 2, &A) == HYBRID_OK);
    MUST(hybrid_spgemm(engine, &A, &A, &C) == HYBRID_OK);
    MUST(hybrid_verify_spgemm(engine, &A, &A, &C, 3, 1, &row) == HYBRID_OK && row == -1);
    hybrid_csr_free(engine, &A);
    hybrid_csr_free(engine, &C);
    hybrid_engine_destroy(engine);
#endif
}

/* Forks; the child runs the checks. Waits for its end; an alarm kills a child that
   hangs. */
static void fork_and_wait(void)
{
    int status        = -1;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        alarm(SECONDS);
        child_is_refused();
        child_lets_go();
        child_has_its_own();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- the parent ---- */

static void parent_goes_on(void)
{
    hybrid_csr C;

    assert_int_equal(hybrid_spgemm_run(its.square, &its.A, &its.A, &C), HYBRID_OK);
    assert_int_equal(C.nnz, its.C.nnz);
    hybrid_csr_free(engine, &C);
}

static void a_child_is_refused_and_may_have_its_own(void **state)
{
    (void)state;
    fork_and_wait();
    parent_goes_on();
}

static int stop;

static void *multiply(void *arg)
{
    hybrid_csr C;

    (void)arg;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        if (hybrid_spgemm(engine, &its.A, &its.A, &C) != HYBRID_OK)
            return arg;
        hybrid_csr_free(engine, &C);
    }
    return NULL;
}

/* The process forks at random moments, while any of the engine's locks may be held. */
static void forks_while_the_engine_computes(void **state)
{
    pthread_t thread;
    void *failed;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, multiply, &its), 0);
    for (int i = 0; i < BUSY_FORKS; i++)
        fork_and_wait();
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, &failed);
    assert_null(failed);
    parent_goes_on();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_is_refused_and_may_have_its_own),
        cmocka_unit_test(forks_while_the_engine_computes),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
