/* tests/run/device/test_faults.c - each allocation and each call of the backend fails,
   once or for good.

   A product is repeated with the first, second, third ... call failing, until no call is
   left to fail. A failure must return an error with a message, must not hang or leave
   memory behind, and the engine must work afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/memory/pinned.h"
#include "engine/schedules/schedule.h"
#include "support/inputs/cases.h"
#include "support/engines/either.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fault.h"
#include "support/check/oracle.h"
#include "support/fake/settings.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const fakes[] = {&hy_fault_backend_ops, &hy_host_backend_ops,
                                              NULL};

enum { COLUMNS = 6, MOST = 20000 };

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    oracle square;
    hybrid_plan *plan, *kept; /* plans that are run again and again, without and with
                                 HYBRID_RESIDENT; NULL until they are made */
    int said;                 /* 1: an earlier call of the failed product left a message,
                                 which a later call cleared */
    hybrid_split split;
} world;

static void make_world(world *w, int on_host)
{
    const test_kind kind          = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.threads = 2;
    options.backend = on_host ? HYBRID_HOST : HYBRID_AUTO;
    fake_delays(1, 0);
    w->plan = w->kept = NULL;
    w->split          = HYBRID_SPLIT_DEFAULT;
    if (on_host)
        assert_int_equal(hybrid_engine_create(&options, &w->engine), HYBRID_OK);
    else
        assert_int_equal(fake_engine_open(&options, fakes, either_variants, &w->engine),
                         HYBRID_OK);
    matrix_random(60, 60, 4, 3, kind, &w->A);
    oracle_spgemm(&w->A, &w->A, &w->square);
    dense_make(60, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, kind, &w->X);
    dense_make(60, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, kind, &w->Y);
    dense_copy(&w->Y, &w->before);
}

static void free_world(world *w)
{
    hybrid_plan_destroy(w->plan);
    hybrid_plan_destroy(w->kept);
    hybrid_engine_destroy(w->engine);
    oracle_free(&w->square);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    matrix_free(&w->A);
}

static hybrid_status run_plan(world *w, hybrid_plan *plan)
{
    hybrid_csr C;

    const hybrid_status status = hybrid_spgemm_run(plan, &w->A, &w->A, &C);
    if (status == HYBRID_OK) {
        assert_null(oracle_check(&w->square, &C, 1));
        hybrid_csr_free(w->engine, &C);
    }
    return status;
}

static hybrid_plan_options options_of(const world *w, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    options.chunk_rows = 13;
    options.flags      = flags;
    options.split      = w->split;
    options.host_share = 0.5;
    return options;
}

static hybrid_status square(world *w)
{
    const hybrid_plan_options options = options_of(w, 0);
    hybrid_plan *plan;

    const hybrid_status planned =
        hybrid_spgemm_plan(w->engine, &w->A, &w->A, &options, &plan);
    if (planned != HYBRID_OK)
        return planned;
    const hybrid_status status = run_plan(w, plan);
    hybrid_plan_destroy(plan);
    return status;
}

/* Makes a plan for A*A with HYBRID_REUSE and runs it twice. The second run knows the
   positions of the rows of C. */
static hybrid_status twice(world *w)
{
    const hybrid_plan_options options = options_of(w, HYBRID_REUSE);
    hybrid_plan *plan;

    hybrid_status status = hybrid_spgemm_plan(w->engine, &w->A, &w->A, &options, &plan);
    if (status != HYBRID_OK)
        return status;
    status = run_plan(w, plan);
    if (status == HYBRID_OK)
        status = run_plan(w, plan);
    hybrid_plan_destroy(plan);
    return status;
}

/* Runs one plan for A*A, the same in each call: earlier runs of it have failed. */
static hybrid_status again(world *w)
{
    const hybrid_plan_options options = options_of(w, HYBRID_REUSE);

    if (!w->plan)
        assert_int_equal(hybrid_spgemm_plan(w->engine, &w->A, &w->A, &options, &w->plan),
                         HYBRID_OK);
    return run_plan(w, w->plan);
}

static hybrid_status dense(world *w)
{
    const hybrid_plan_options options = options_of(w, 0);
    hybrid_plan *plan;

    hybrid_status status = hybrid_spmm_plan(w->engine, &w->A, COLUMNS, &options, &plan);
    if (status != HYBRID_OK)
        return status;
    status = hybrid_spmm_run(plan, 1, &w->A, &w->X, 0, &w->Y);
    hybrid_plan_destroy(plan);
    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    return status;
}

/* Computes the product of dense() with X in two column blocks. */
static hybrid_status blockwise(world *w)
{
    settings_of(w->engine)->schedule      = &hy_schedule_column_ring;
    settings_of(w->engine)->column_blocks = 2;
    const hybrid_status status            = dense(w);
    settings_of(w->engine)->column_blocks = 0;
    settings_of(w->engine)->schedule      = NULL;
    return status;
}

/* Computes the product of dense() with X and Y pinned. */
static hybrid_status pinned_dense(world *w)
{
    const size_t bytes = (size_t)60 * COLUMNS * 8;

    hybrid_status status = hybrid_pin(w->engine, w->X.data, bytes);
    if (status != HYBRID_OK)
        return status;
    status = hybrid_pin(w->engine, w->Y.data, bytes);
    if (status == HYBRID_OK) {
        const int64_t before = fake_direct();
        status               = dense(w);
        if (status == HYBRID_OK)
            assert_in_range(fake_direct() - before, 2 * bytes,
                            (1 + (size_t)w->engine->device_count) * bytes);
        /* unpins Y as hybrid_unpin() does, but keeps the message of the failed
           product */
        hy_pins_remove(&w->engine->ctx, w->Y.data);
    }
    hy_pins_remove(&w->engine->ctx, w->X.data);
    return status;
}

/* Negates A, tells the plan, and runs the plan twice: the first run packs A, the second
   finds the packs cached. A run that follows a failed one must be right, whatever the
   failed one packed. */
static hybrid_status run_kept(world *w, hybrid_plan *plan)
{
    hybrid_status first = HYBRID_OK;

    for (int64_t k = 0; k < w->A.nnz; k++)
        value_set(w->A.val, HYBRID_F64, k, -value_at(w->A.val, HYBRID_F64, k));
    hybrid_plan_refresh(plan);
    for (int run = 0; run < 2; run++) {
        hybrid_status status = hybrid_spmm_run(plan, 1, &w->A, &w->X, 0, &w->Y);
        if (status != HYBRID_OK && first == HYBRID_OK) {
            w->said = strlen(hybrid_engine_message(w->engine)) > 10;
            first   = status;
            status  = hybrid_spmm_run(plan, 1, &w->A, &w->X, 0, &w->Y);
        }
        assert_int_equal(status, HYBRID_OK);
        assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    }
    return first;
}

static hybrid_status plan_kept(world *w, hybrid_plan **plan)
{
    const hybrid_plan_options options = options_of(w, HYBRID_RESIDENT);

    return hybrid_spmm_plan(w->engine, &w->A, COLUMNS, &options, plan);
}

static hybrid_status kept(world *w)
{
    hybrid_plan *plan;

    hybrid_status status = plan_kept(w, &plan);
    if (status != HYBRID_OK)
        return status;
    status = run_kept(w, plan);
    hybrid_plan_destroy(plan);
    return status;
}

/* Works as run_kept() with one plan, the same in each call: earlier runs of it have
   failed. */
static hybrid_status kept_again(world *w)
{
    if (!w->kept)
        assert_int_equal(plan_kept(w, &w->kept), HYBRID_OK);
    return run_kept(w, w->kept);
}

/* Frees what the engine has cached, and returns the bytes of host memory that it still
   holds. */
static int64_t held(world *w)
{
    hybrid_engine_trim(w->engine);
    return hy_meter_used(&w->engine->ctx.memory.meter);
}

/* Returns 1 if the engine holds at most *least bytes of host memory, else 0, and sets
   *least to what it holds. Waits up to 5 s, because a lane of a live plan may still be
   freeing memory. */
static int given_back(world *w, int64_t *least)
{
    int64_t now = held(w);

    for (int i = 0; i < 5000 && now > *least; i++, now = held(w))
        usleep(1000);
    const int all = now <= *least;
    *least        = now;
    return all;
}

/* Repeats the product with its first, second, third ... call failing, until no call is
   left. Returns how often it failed. */
static int64_t fail_each(world *w, hybrid_status (*product)(world *),
                         const fault_kind *fault)
{
    int64_t failed = 0;

    assert_int_equal(product(w), HYBRID_OK); /* makes the objects that the engine creates
                                                only once, before they are counted */
    const int64_t alive = fake_alive();
    int64_t all         = held(w);

    for (int64_t n = 1; n < MOST; n++) {
        int64_t before = held(w); /* counted anew each time, because a plan frees memory
                                     when a run of it fails */
        fault->arm(w->engine, n);
        w->said                    = 0;
        const hybrid_status status = product(w);
        const int struck           = fault_struck(fault, w->engine, status);
        assert_true(given_back(w, status == HYBRID_OK ? &all : &before));
        assert_true(fake_alive() <= alive); /* at most, because pinned pages of results
                                               may have been freed */
        assert_true(status == HYBRID_OK || w->said ||
                    strlen(hybrid_engine_message(w->engine)) > 10);
        failed += status != HYBRID_OK;
        if (!struck) {
            assert_int_equal(product(w), HYBRID_OK);
            return failed;
        }
    }
    fail_msg("calls fail without end");
    return 0;
}

static void allocations_fail_on_a_device(void **state)
{
    world w;

    (void)state;
    make_world(&w, 0);
    assert_true(fail_each(&w, square, &fault_allocation) > 8);
    assert_true(fail_each(&w, twice, &fault_allocation) > 12);
    assert_true(fail_each(&w, again, &fault_allocation) > 2);
    assert_true(fail_each(&w, dense, &fault_allocation) > 4);
    assert_true(fail_each(&w, blockwise, &fault_allocation) > 6);
    assert_true(fail_each(&w, pinned_dense, &fault_allocation) > 6);
    assert_true(fail_each(&w, kept, &fault_allocation) > 6);
    free_world(&w);
    assert_int_equal(fake_alive(), 0);
}

static void allocations_fail_on_the_host(void **state)
{
    world w;

    (void)state;
    make_world(&w, 1);
    assert_true(fail_each(&w, square, &fault_allocation) > 8);
    assert_true(fail_each(&w, twice, &fault_allocation) > 12);
    assert_true(fail_each(&w, again, &fault_allocation) > 2);
    assert_true(fail_each(&w, dense, &fault_allocation) > 3);
    free_world(&w);
}

static void calls_of_the_backend_fail(void **state)
{
    world w;

    (void)state;
    make_world(&w, 0);
    assert_true(fail_each(&w, square, &fault_device) > 50);
    assert_true(fail_each(&w, twice, &fault_device) > 80);
    assert_true(fail_each(&w, again, &fault_device) > 30);
    assert_true(fail_each(&w, dense, &fault_device) > 20);
    assert_true(fail_each(&w, blockwise, &fault_device) > 40);
    assert_true(fail_each(&w, pinned_dense, &fault_device) > 20);
    assert_true(fail_each(&w, pinned_dense, &fault_pin) > 1);
    assert_true(fail_each(&w, twice, &fault_lost) > 80);
    assert_true(fail_each(&w, pinned_dense, &fault_lost) > 20);
    assert_true(fail_each(&w, kept, &fault_device) > 50);
    assert_true(fail_each(&w, kept_again, &fault_device) > 40);
    free_world(&w);
    assert_int_equal(fake_alive(), 0);
}

static void allocations_fail_of_both(void **state)
{
    world w;

    (void)state;
    make_world(&w, 0);
    w.split = HYBRID_SPLIT_SHARE;
    assert_true(fail_each(&w, twice, &fault_allocation) > 12);
    assert_true(fail_each(&w, again, &fault_allocation) > 2);
    assert_true(fail_each(&w, dense, &fault_allocation) > 8);
    assert_true(fail_each(&w, kept, &fault_allocation) > 8);
    free_world(&w);
    assert_int_equal(fake_alive(), 0);
}

static void calls_of_a_shared_device_fail(void **state)
{
    world w;

    (void)state;
    make_world(&w, 0);
    w.split = HYBRID_SPLIT_SHARE;
    assert_true(fail_each(&w, twice, &fault_device) > 50);
    assert_true(fail_each(&w, again, &fault_device) > 15);
    assert_true(fail_each(&w, dense, &fault_device) > 12);
    assert_true(fail_each(&w, kept, &fault_device) > 20);
    assert_true(fail_each(&w, kept_again, &fault_device) > 10);
    assert_true(fail_each(&w, twice, &fault_lost) > 50);
    free_world(&w);
    assert_int_equal(fake_alive(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_fail_on_a_device),
        cmocka_unit_test(allocations_fail_on_the_host),
        cmocka_unit_test(calls_of_the_backend_fail),
        cmocka_unit_test(allocations_fail_of_both),
        cmocka_unit_test(calls_of_a_shared_device_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
