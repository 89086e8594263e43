/* tests/run/calls/test_progress.c - a function of the caller receives progress and may
   end the call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "support/runs/asked.h"
#include "support/runs/each.h"
#include "support/engines/either.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fault.h"
#include "support/engines/io_fixture.h"
#include "support/check/oracle.h"
#include "support/fake/settings.h"
#include "support/inputs/stored.h"

enum { ROWS = 220, CHUNK = 30, WIDTH = 5 };

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                              NULL};

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A, C; /* C is A*A, a result that a test call frees or verifies */
    oracle square;
    hybrid_dense X, Y, before;
    hybrid_plan *sparse, *reuse, *shared, *dense; /* plans that tests run repeatedly: A*A
                                                     without and with HYBRID_REUSE; A*X
                                                     shared by device and host, and not
                                                     shared */
    hybrid_file *file, *a_file;                   /* open files that contain X and A */
} world;

/* ---- calls that check their results ---- */

static hybrid_status right_sparse(world *w, hybrid_status status, hybrid_csr *C)
{
    if (status != HYBRID_OK) {
        assert_null(C->row_ptr); /* the call has not written C */
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

static hybrid_status run_shared(world *w)
{
    renew_y(w);
    return right_dense(w, hybrid_spmm_run(w->shared, 2, &w->A, &w->X, 3, &w->Y));
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

/* Makes a plan with all checks and destroys it. If a cancelled call left memory behind,
   the destruction of the engine would find it. */
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
    {"hybrid_spmm_run, shared", run_shared},
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

/* ---- engine and operands ---- */

static void make_plans(world *w)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    w->sparse = each_plan(w->engine, &w->A, &w->A, CHUNK, 0);
    w->reuse  = each_plan(w->engine, &w->A, &w->A, CHUNK, HYBRID_REUSE);
    /* after this first run later runs know the positions in the result */
    assert_int_equal(hybrid_spgemm_run(w->reuse, &w->A, &w->A, &w->C), HYBRID_OK);
    options.chunk_rows = CHUNK;
    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, WIDTH, &options, &w->dense),
                     HYBRID_OK);
    w->shared = w->dense;
    if (!w->engine->device)
        return;
    options.split      = HYBRID_SPLIT_SHARE;
    options.host_share = 0.5;
    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, WIDTH, &options, &w->shared),
                     HYBRID_OK);
}

static hybrid_engine *open_engine(int on_host)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads = 2;
    options.backend = on_host ? HYBRID_HOST : HYBRID_AUTO;
    fake_delays(1, 20);
    assert_int_equal(on_host
                         ? hybrid_engine_create(&options, &engine)
                         : fake_engine_open(&options, fakes, either_variants, &engine),
                     HYBRID_OK);
    return engine;
}

static void make_world(world *w, int on_host)
{
    *w = (world){.engine = open_engine(on_host)};
    settings_of(w->engine)->prefetch_bytes =
        1; /* bytes: B is prefetched while a plan is made, however small it is */
    settings_of(w->engine)->counted_bytes = 1;
    matrix_random(ROWS, ROWS, 5, 4, f64, &w->A);
    oracle_spgemm(&w->A, &w->A, &w->square);
    dense_make(ROWS, WIDTH, 0, HYBRID_ROW_MAJOR, 1, f64, &w->X);
    dense_make(ROWS, WIDTH, 0, HYBRID_ROW_MAJOR, 2, f64, &w->before);
    dense_copy(&w->before, &w->Y);
    stored_write(&w->X);
    assert_int_equal(hybrid_file_open(w->engine, io_temp("x.json"), &w->file), HYBRID_OK);
    w->a_file = (hybrid_file *)stored_csr(w->engine, "a", &w->A, 1).file;
    settings_of(w->engine)->piece_bytes = 6000; /* bytes: operands in files are read in
                                                   several parts */
    make_plans(w);
}

static void free_world(world *w)
{
    hybrid_csr_free(w->engine, &w->C);
    if (w->shared != w->dense)
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

/* ---- cancelled calls ---- */

/* Makes the call again and again. The progress function ends it at its first call, its
   second, and so on in larger and larger steps, until the call completes before. After
   each cancelled call the same call must succeed. Returns the number of cancelled
   calls. */
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

/* With a progress function, each allocation and each call of the device fails once, both
   in calls that the function would end later and in calls that it would not. */
static void calls_that_fail_besides(void **state)
{
    world w;
    asked a;

    (void)state;
    for (int on_host = 0; on_host < 2; on_host++) {
        make_world(&w, on_host);
        for (int i = 0; i < CALLS; i++)
            for (int64_t stop = 0; stop < 40; stop += 13) {
                int struck = 1;
                for (int64_t n = 1; struck; n += 1 + n / 16) {
                    asked_set(&a, w.engine, stop);
                    fault_allocation.arm(w.engine, n);
                    hybrid_status status = calls[i].make(&w);
                    assert_true(status == HYBRID_OK ||
                                strlen(hybrid_engine_message(w.engine)) > 10);
                    if (stop > 0 && status == HYBRID_CANCELLED)
                        status = HYBRID_OK;
                    struck = fault_struck(&fault_allocation, w.engine, status);
                    hybrid_engine_progress(w.engine, NULL, NULL);
                }
                assert_int_equal(calls[i].make(&w), HYBRID_OK);
            }
        free_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_can_be_ended),
        cmocka_unit_test(calls_that_fail_besides),
    };
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
