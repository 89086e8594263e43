/* tests/run/calls/test_progress_time.c - how often progress is reported and how soon a
   call ends.

   The bounds are those of the public header plus some seconds for a busy machine. With
   sanitizers the times are not checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>

#include "base/threads/clock.h"
#include "base/data/min_max.h"
#include "support/inputs/cases.h"
#include "support/engines/host_engine.h"
#include "support/check/oracle.h"
#include "support/products/sanitized.h"

/* Name of a generated A. A*A takes about 3 s, more than the longest time that may pass
   between two calls of the progress function. Builds with assertions use a smaller
   one. */
#ifdef NDEBUG
#define PROBLEM "band:30000,220"
#else
#define PROBLEM "band:4000,80"
#endif

/* Nanoseconds. gap_most and end_most: longest time between two calls of the progress
   function, and from its request to the end of the call, by the header. gap_slack and
   end_slack: allowance for a busy machine. */
static const int64_t gap_most = 100000000, gap_slack = 2000000000;
static const int64_t end_most = 1000000000, end_slack = 5000000000;

typedef struct watch {
    pthread_t caller;
    int64_t last_ns, gap_ns, calls;
    int64_t stop_rows, told_ns; /* stop_rows: number of done rows at which the function
                                   ends the call; told_ns: time at which it did, on the
                                   clock of hy_now_ns() */
} watch;

static int look(void *user, int64_t rows_done, int64_t rows)
{
    watch *w          = user;
    const int64_t now = hy_now_ns();

    assert_true(pthread_equal(pthread_self(), w->caller));
    assert_in_range(rows_done, 0, (uintmax_t)rows);
    w->gap_ns  = hy_max(w->gap_ns, now - w->last_ns);
    w->last_ns = now;
    w->calls++;
    if (w->stop_rows < 0 || rows_done < w->stop_rows || rows_done == rows)
        return 0;
    w->told_ns = now;
    return 1;
}

/* Registers the progress function, and begins to measure. It ends the call when
   stop_rows rows are done; 0: at once; -1: never. */
static void watch_from_now(watch *w, int64_t stop_rows)
{
    *w =
        (watch){.caller = pthread_self(), .last_ns = hy_now_ns(), .stop_rows = stop_rows};
    hybrid_engine_progress(engine, look, w);
}

static void is_usable(void)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_csr A, C;
    oracle square;

    matrix_random(50, 50, 4, 1, kind, &A);
    oracle_spgemm(&A, &A, &square);
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
    assert_null(oracle_check(&square, &C, 1));
    hybrid_csr_free(engine, &C);
    oracle_free(&square);
    matrix_free(&A);
}

/* Checks the longest time between two calls of the function, in planning with all its
   options and in products. */
static void it_is_told_often(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;
    hybrid_csr A, C;
    watch w;

    (void)state;
    options.flags = HYBRID_CHECK | HYBRID_EXPLAIN | HYBRID_REUSE;
    assert_int_equal(hybrid_generate(engine, PROBLEM, HYBRID_F64, 1, &A), HYBRID_OK);
    watch_from_now(&w, -1);
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
    const int64_t end = hy_now_ns();
    hybrid_engine_progress(engine, NULL, NULL);
    assert_true(w.calls >= 2); /* each product reports its end, so that the function is
                                  called at least twice */
    if (!SANITIZED)
        assert_true(hy_max(w.gap_ns, end - w.last_ns) < gap_most + gap_slack);
    hybrid_csr_free(engine, &C);
    hybrid_plan_destroy(plan);
    hybrid_csr_free(engine, &A);
}

/* The progress function ends one one-shot call at its first report, and one when half of
   the rows are done. Each call must return within the header's bound. */
static void it_ends_soon(void **state)
{
    hybrid_csr A, C;
    watch w;

    (void)state;
    assert_int_equal(hybrid_generate(engine, PROBLEM, HYBRID_F64, 1, &A), HYBRID_OK);
    for (int64_t rows = 0; rows < A.rows; rows += A.rows / 2) {
        watch_from_now(&w, rows);
        const hybrid_status status = hybrid_spgemm(engine, &A, &A, &C);
        const int64_t end          = hy_now_ns();
        hybrid_engine_progress(engine, NULL, NULL);
        assert_true(SANITIZED || w.told_ns > 0);
        assert_int_equal(status, w.told_ns > 0 ? HYBRID_CANCELLED : HYBRID_OK);
        if (status == HYBRID_OK)
            hybrid_csr_free(engine, &C);
        else if (!SANITIZED)
            assert_true(end - w.told_ns < end_most + end_slack);
        is_usable();
    }
    hybrid_csr_free(engine, &A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_told_often),
        cmocka_unit_test(it_ends_soon),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
