/* tests/run/devices/test_space_progress.c - progress and cancellation of calls with
   operands on a device.

   A call can be cancelled while it waits for the caller's stream and while it copies
   patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/api/engine.h"
#include "support/runs/asked.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_memory.h"
#include "support/check/oracle.h"
#include "support/device/space_world.h"

/* Bytes of a pattern that are copied at once: an offset takes two copies. */
enum { PIECE = 4 };

typedef struct world {
    space_world w;
    hybrid_plan *sparse, *dense; /* plans for A*A and A*X, with all operands on the
                                    device */
} world;

static void open_world(world *w)
{
    hybrid_plan_options plan = HYBRID_PLAN_OPTIONS_INIT;

    space_world_open_plain(&w->w);
    hybrid_engine *engine = w->w.engine;
    assert_int_equal(hybrid_spgemm_plan(engine, &w->w.a, &w->w.a, &plan, &w->sparse),
                     HYBRID_OK);
    plan.x_space = plan.result_space = HYBRID_SPACE_DEVICE;
    assert_int_equal(hybrid_spmm_plan(engine, &w->w.a, SPACE_COLS, &plan, &w->dense),
                     HYBRID_OK);
}

static void close_world(world *w)
{
    hybrid_plan_destroy(w->sparse);
    hybrid_plan_destroy(w->dense);
    space_world_close(&w->w);
}

/* ---- calls ---- */

static hybrid_status freed(world *w, hybrid_status status, hybrid_csr *C)
{
    if (status == HYBRID_OK)
        hybrid_csr_free(w->w.engine, C);
    return status;
}

static hybrid_status one_sparse(world *w)
{
    hybrid_csr C;
    return freed(w, hybrid_spgemm(w->w.engine, &w->w.a, &w->w.a, &C), &C);
}

static hybrid_status run_sparse(world *w)
{
    hybrid_csr C;
    return freed(w, hybrid_spgemm_run(w->sparse, &w->w.a, &w->w.a, &C), &C);
}

static int take_rows(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    (void)user;
    (void)row_begin;
    (void)rows;
    return 0;
}

static hybrid_status run_each(world *w)
{
    return hybrid_spgemm_each(w->sparse, &w->w.a, &w->w.a, take_rows, NULL);
}

static hybrid_status one_dense(world *w)
{
    return space_world_spmm(&w->w, &w->w.a, &w->w.x, &w->w.y);
}

static hybrid_status scale(world *w)
{
    return hybrid_spmm(w->w.engine, 0, &w->w.a, &w->w.x, 1, &w->w.y);
}

static hybrid_status run_dense(world *w)
{
    return hybrid_spmm_run(w->dense, 1, &w->w.a, &w->w.x, 0, &w->w.y);
}

static hybrid_status plan_sparse(world *w)
{
    hybrid_plan *plan = NULL;
    const hybrid_status status =
        hybrid_spgemm_plan(w->w.engine, &w->w.a, &w->w.A, NULL, &plan);

    hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status plan_dense(world *w)
{
    hybrid_plan *plan          = NULL;
    const hybrid_status status = hybrid_spmm_plan(w->w.engine, &w->w.a, 1, NULL, &plan);

    hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status (*const calls[])(world *w) = {
    one_sparse, run_sparse, run_each,    one_dense,
    scale,      run_dense,  plan_sparse, plan_dense,
};

enum { CALLS = (int)(sizeof calls / sizeof *calls) };

/* ---- the caller's stream ---- */

/* The caller's stream does not complete, and the progress function ends the wait. Then
   the stream completes, and the call succeeds. */
static void a_wait_can_be_ended(void **state)
{
    world w;
    asked a;

    (void)state;
    open_world(&w);
    asked_set(&a, w.w.engine, 0);
    for (int i = 0; i < CALLS; i++)
        for (int64_t stop = 1; stop <= 9; stop += 4) {
            fake_stream_asks(INT64_MAX);
            asked_again(&a, stop);
            const hybrid_status status = calls[i](&w);
            asked_check(&a, status, SPACE_ROWS);
            assert_int_equal(status, HYBRID_CANCELLED);
            assert_int_equal(a.done, 0);
            fake_stream_asks(0);
            asked_again(&a, 0);
            assert_int_equal(calls[i](&w), HYBRID_OK);
            asked_check(&a, HYBRID_OK, SPACE_ROWS);
        }
    hybrid_engine_progress(w.w.engine, NULL, NULL);
    close_world(&w);
}

/* A progress function that counts its calls and ends the product at the first one. */
static int end(void *user, int64_t rows_done, int64_t rows)
{
    ++*(int *)user;
    return rows_done < rows;
}

static void a_wait_is_told_in_time(void **state)
{
    int told = 0;
    world w;

    (void)state;
    open_world(&w);
    hybrid_engine_progress(w.w.engine, end, &told);
    fake_stream_asks(INT64_MAX);
    space_world_expect(&w.w, one_dense(&w), HYBRID_CANCELLED, "after 0 of 40 rows");
    assert_int_equal(told, 1);
    fake_stream_asks(0);
    hybrid_engine_progress(w.w.engine, NULL, NULL);
    close_world(&w);
}

static void a_stream_that_is_late_is_waited_for(void **state)
{
    world w;
    asked a;

    (void)state;
    open_world(&w);
    asked_set(&a, w.w.engine, 0);
    for (int asking = 1; asking >= 0; asking--)
        for (int i = 0; i < CALLS; i++) {
            if (!asking)
                hybrid_engine_progress(w.w.engine, NULL, NULL);
            fake_stream_asks(100);
            asked_again(&a, 0);
            assert_int_equal(calls[i](&w), HYBRID_OK);
            assert_true(!asking || a.calls > 100);
        }
    fake_memory_open();
    assert_null(oracle_check_spmm(1, &w.w.A, &w.w.X, 0, &w.w.Y, &w.w.y, 1));
    fake_memory_close();
    close_world(&w);
}

/* ---- patterns ---- */

static void patterns_come_in_pieces(void **state)
{
    hybrid_status status = HYBRID_CANCELLED;
    int64_t stop         = 0, before;
    world w;
    asked a;

    (void)state;
    open_world(&w);
    const int64_t all        = (SPACE_ROWS + 1) * 8 + w.w.A.nnz * 4;
    w.w.engine->spaces.piece = PIECE;
    asked_set(&a, w.w.engine, 0);
    while (status != HYBRID_OK) {
        before = fake_fetched();
        asked_again(&a, ++stop);
        status = plan_dense(&w);
        asked_check(&a, status, SPACE_ROWS);
        const int64_t most = (stop - 1) * PIECE;
        assert_int_equal(fake_fetched() - before, most < all ? most : all);
    }
    assert_true(stop > all / PIECE);
    hybrid_engine_progress(w.w.engine, NULL, NULL);
    assert_int_equal(run_dense(&w), HYBRID_OK);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_can_be_ended),
        cmocka_unit_test(a_wait_is_told_in_time),
        cmocka_unit_test(a_stream_that_is_late_is_waited_for),
        cmocka_unit_test(patterns_come_in_pieces),
    };
    return cmocka_run_group_tests_name("space_progress", tests, NULL, NULL);
}
