/* tests/sentences/test_said_memory.c - calls that lack memory for arrays that no other
   test names.

   sentences.py compares what the library says with sentences.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/data/csr.h"
#include "engine/api/engine.h"
#include "partition/pattern/inspect.h"
#include "support/device/on_device.h"
#include "support/device/space_world.h"
#include "support/engines/either.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"
#include "support/inputs/stored.h"

enum { MOST = 2000, SUMS = 1 << 21, CAP = 1 << 20, STEP = 64 };

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

typedef hybrid_status (*call)(hybrid_engine *engine);

/* Repeats the call with its first, second, third ... allocation failing, until none is
   left. */
static void fail_each(hybrid_engine *engine, call make)
{
    int64_t *failures = &engine->ctx.memory.failures;

    for (int64_t n = 1; *failures == 0; n++) {
        assert_true(n < MOST);
        *failures = n;
        make(engine);
        hybrid_engine_trim(engine);
    }
    *failures = 0;
}

/* Repeats the call with a cap on device memory that grows until the call succeeds. */
static void fail_until_it_fits(hybrid_engine *engine, call make)
{
    hy_meter *meter   = &engine->device->device;
    const int64_t cap = meter->cap;

    for (meter->cap = hy_meter_used(meter) + 1; make(engine) != HYBRID_OK;
         meter->cap += STEP) {
        assert_true(meter->cap < CAP);
        hybrid_engine_trim(engine);
    }
    meter->cap = cap;
}

/* Works as fail_until_it_fits(), but other plans take the device memory, and leave more
   and more of it. */
static void fail_beside_others(hybrid_engine *engine, call make)
{
    hy_backend *device   = engine->device;
    hybrid_status status = HYBRID_NO_DEVICE_MEMORY;

    for (int64_t left = STEP; status != HYBRID_OK; left += STEP) {
        hy_buffer rest;

        hybrid_engine_trim(engine);
        const int64_t free = device->device.cap - hy_meter_used(&device->device);
        assert_true(left < free);
        assert_int_equal(
            device->ops->alloc(device, HY_DEVICE, (size_t)(free - left), "a test", &rest),
            HYBRID_OK);
        status = make(engine);
        device->ops->free(device, &rest);
    }
}

/* ---- creating an engine ---- */

static void *alloc_some(void *user, size_t bytes)
{
    int *left = user;

    return (*left)-- > 0 ? malloc(bytes) : NULL;
}

static void release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static void engines(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_status status = HYBRID_NO_MEMORY;

    (void)state;
    options.backend = HYBRID_HOST;
    options.threads = 2;
    for (int all = 0, left; status != HYBRID_OK; all++) {
        left              = all;
        options.allocator = (hybrid_allocator){alloc_some, release, &left};
        status            = hybrid_engine_create(&options, &engine);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
    }
    hybrid_engine_destroy(engine);
}

/* ---- calls of the host ---- */

static hybrid_status read_mirrors(hybrid_engine *engine)
{
    hybrid_csr A;

    return hybrid_read_mtx(engine, io_data("bad_symmetric_both.mtx"), HYBRID_F64, &A);
}

static hybrid_status generate(hybrid_engine *engine)
{
    hybrid_csr A;

    HY_TRY(hybrid_generate(engine, "rmat:6,4", HYBRID_F64, 1, &A));
    hybrid_csr_free(engine, &A);
    return HYBRID_OK;
}

static hybrid_status write_trace(hybrid_engine *engine)
{
    const hybrid_event event = {
        .stage = "load", .variant = "", .lane = "cpu0", .chunk = -1};
    hybrid_trace *trace;

    HY_TRY(hybrid_trace_create(engine, &trace));
    hybrid_trace_add(trace, &event);
    const hybrid_status status = hybrid_trace_write_json(trace, io_temp("trace.json"));
    hybrid_trace_destroy(trace);
    return status;
}

static hybrid_status add_up(hybrid_engine *engine)
{
    int64_t *counts = calloc(SUMS + 1, sizeof *counts);
    assert_non_null(counts);
    const hybrid_status status = hy_prefix_sum(&engine->ctx, counts, SUMS);

    free(counts);
    return status;
}

static hybrid_status look_for_blocks(hybrid_engine *engine)
{
    hy_features f = {.type = HYBRID_F64};
    hybrid_csr A;

    matrix_random(40, 40, 4, 1, kind, &A);
    const hybrid_status status = hy_block_fill(&engine->ctx, &A, &f);
    matrix_free(&A);
    return status;
}

/* Computes A*A for a matrix of which rows have more scalar products than C has
   columns. */
static hybrid_status square(hybrid_engine *engine)
{
    hybrid_csr A, C;

    matrix_random(60, 60, 30, 1, kind, &A);
    const hybrid_status status = hybrid_spgemm(engine, &A, &A, &C);
    if (status == HYBRID_OK)
        hybrid_csr_free(engine, &C);
    matrix_free(&A);
    return status;
}

static hybrid_status verify(hybrid_engine *engine)
{
    hybrid_csr A;
    int64_t row;

    HY_TRY(hybrid_generate(engine, "er:20,2", HYBRID_F64, 1, &A));
    const hybrid_status status = hybrid_verify_spgemm(engine, &A, &A, &A, 1, 1, &row);
    hybrid_csr_free(engine, &A);
    return status;
}

/* Computes A*A for a matrix with 64-bit column indices. */
static hybrid_status narrow(hybrid_engine *engine)
{
    hybrid_csr A, C;

    matrix_random(20, 20, 2, 1, kind, &A);
    hybrid_csr wide            = matrix_widen(&A);
    const hybrid_status status = hybrid_spgemm(engine, &wide, &wide, &C);
    if (status == HYBRID_OK)
        hybrid_csr_free(engine, &C);
    free(wide.col);
    matrix_free(&A);
    return status;
}

static void ignore(void *user, const hybrid_event *event)
{
    (void)user, (void)event;
}

static void calls_of_the_host(void **state)
{
    static const call calls[] = {read_mirrors,    generate, write_trace, add_up,
                                 look_for_blocks, square,   verify,      narrow};
    hybrid_engine *engine     = either_open(1, 0);

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        fail_each(engine, calls[i]);
    hybrid_engine_destroy(engine);
}

/* ---- operands in files ---- */

static hybrid_operand stored;

static hybrid_status multiply_files(hybrid_engine *engine)
{
    hybrid_csr C;

    HY_TRY(hybrid_spgemm_files(engine, &stored, &stored, NULL, &C));
    hybrid_csr_free(engine, &C);
    return HYBRID_OK;
}

static void files(void **state)
{
    hybrid_engine *engine = open_host(1, 64 << 20);
    hybrid_csr A;

    (void)state;
    settings_of(engine)->piece_bytes = 3000;
    matrix_random(60, 60, 4, 3, kind, &A);
    stored = stored_csr(engine, "a", &A, 1);
    fail_each(engine, multiply_files);
    hybrid_file_close((hybrid_file *)stored.file);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

/* One worker is used, so that the allocations have the same order in each run. */
static void traces(void **state)
{
    hybrid_engine *engine = open_host(1, 0);

    (void)state;
    hybrid_engine_trace(engine, ignore, NULL);
    fail_each(engine, square);
    hybrid_engine_destroy(engine);
}

/* Measuring fails for lack of memory before it takes any time. */
static void measuring(void **state)
{
    hybrid_engine *engine = either_open(1, 0);
    hy_measured speeds;

    (void)state;
    for (int n = 1; n <= 3; n++) {
        engine->ctx.memory.failures = n;
        assert_int_equal(engine->host->ops->measure(engine->host, &speeds),
                         HYBRID_NO_MEMORY);
    }
    hybrid_engine_destroy(engine);
}

/* ---- calls of a device ---- */

static space_world w;
static hybrid_plan *plan;

static hybrid_status run(hybrid_engine *engine)
{
    (void)engine;
    return hybrid_spmm_run(plan, 1, &w.a, &w.x, 0, &w.y);
}

static hybrid_status plan_in_columns(hybrid_engine *engine)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *made;

    options.order   = HYBRID_COL_MAJOR;
    options.variant = "spmm.fake.rows";
    HY_TRY(hybrid_spmm_plan(engine, &w.A, SPACE_COLS, &options, &made));
    hybrid_plan_destroy(made);
    return HYBRID_OK;
}

/* Multiplies with column-major X and Y, which the device transposes. */
static hybrid_status run_in_columns(hybrid_engine *engine)
{
    hybrid_dense X = w.X, Y = w.Y;

    (void)engine;
    X.order = Y.order = HYBRID_COL_MAJOR;
    X.ld = Y.ld = X.rows;
    return hybrid_spmm_run(plan, 1, &w.A, &X, 0, &Y);
}

static hybrid_status multiply_wide(hybrid_engine *engine)
{
    hybrid_csr wide            = on_device_wide(0, &w.A, 0);
    const hybrid_status status = hybrid_spmm(engine, 1, &wide, &w.x, 0, &w.y);

    on_device_csr_free(&wide);
    return status;
}

static void calls_of_a_device(void **state)
{
    hybrid_engine_options small = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    (void)state;
    fake_delays(1, 0);
    small.device_bytes = CAP;
    space_world_open(&small, &w);
    w.x.order = HYBRID_COL_MAJOR;
    w.x.ld    = w.x.rows;
    fail_beside_others(w.engine, plan_in_columns);
    fail_until_it_fits(w.engine, multiply_wide);
    options.order   = HYBRID_COL_MAJOR;
    options.variant = "spmm.fake.rows";
    assert_int_equal(hybrid_spmm_plan(w.engine, &w.A, SPACE_COLS, &options, &plan),
                     HYBRID_OK);
    fail_beside_others(w.engine, run_in_columns);
    hybrid_plan_destroy(plan);
    options         = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
    options.x_space = options.result_space = HYBRID_SPACE_DEVICE;
    options.flags                          = HYBRID_ASYNC;
    assert_int_equal(hybrid_spmm_plan(w.engine, &w.a, SPACE_COLS, &options, &plan),
                     HYBRID_OK);
    fail_each(w.engine, run);
    hybrid_plan_destroy(plan);
    assert_int_equal(hybrid_spmm_plan(w.engine, &w.a, SPACE_COLS, &options, &plan),
                     HYBRID_OK);
    fail_beside_others(w.engine, run);
    hybrid_plan_destroy(plan);
    space_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines),   cmocka_unit_test(calls_of_the_host),
        cmocka_unit_test(files),     cmocka_unit_test(traces),
        cmocka_unit_test(measuring), cmocka_unit_test(calls_of_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
