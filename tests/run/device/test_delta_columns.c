/* tests/run/device/test_delta_columns.c - delta-coded columns of C from a fake device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/min_max.h"
#include "engine/api/engine.h"
#include "partition/move/deltas.h"
#include "support/inputs/cases.h"
#include "support/check/deltas.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/products/usage.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const fakes[]  = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                               NULL};
static const hy_backend_ops *const faulty[] = {&hy_fault_backend_ops,
                                               &hy_host_backend_ops, NULL};
extern const hy_variant hy_spgemm_host_rows;
static const hy_variant *const variants[] = {&hy_spgemm_fake_esc, &hy_spgemm_host_rows,
                                             NULL};

enum {
    ENOUGH = 8, /* workers; enough to decode columns as fast as the fake device's bus
                   brings them */
    FEW   = 3,
    ROWS  = 1300,
    CHUNK = 450, /* rows of a chunk: three chunks, each large enough for delta coding */
    RUNS  = 6,
    MOST  = 2000, /* more than the calls of the device in a run */

    PATIENCE = 100 /* maximum number of runs until workers have pinned enough pages */
};

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A;
    oracle square;
    int64_t value_bytes;
} world;

static void open_world(world *w, int threads, hybrid_type type,
                       const hy_backend_ops *const *backends)
{
    const test_kind kind          = {type, HYBRID_I64, 1};
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.threads = threads;
    fake_delays(3, 100);
    assert_int_equal(fake_engine_open(&options, backends, variants, &w->engine),
                     HYBRID_OK);
    matrix_random(ROWS, ROWS, 7, 5, kind, &w->A);
    oracle_spgemm(&w->A, &w->A, &w->square);
    w->value_bytes = type == HYBRID_F64 ? 8 : 4;
}

static void close_world(world *w)
{
    hybrid_engine_destroy(w->engine);
    assert_int_equal(fake_alive(), 0);
    oracle_free(&w->square);
    matrix_free(&w->A);
}

static hybrid_plan *make_plan(const world *w, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.chunk_rows = CHUNK;
    options.flags      = flags;
    options.split      = HYBRID_SPLIT_GPU;
    assert_int_equal(hybrid_spgemm_plan(w->engine, &w->A, &w->A, &options, &plan),
                     HYBRID_OK);
    return plan;
}

/* Makes one run, checks C, overwrites it and frees it: the next run may get its pages
   and must write all of them. */
static hybrid_status run(const world *w, hybrid_plan *plan)
{
    hybrid_csr C;

    const hybrid_status status = hybrid_spgemm_run(plan, &w->A, &w->A, &C);
    if (status != HYBRID_OK)
        return status;
    assert_null(oracle_check(&w->square, &C, 1));
    memset(C.col, 0xa5, (size_t)C.nnz * 4);
    memset(C.val, 0xa5, (size_t)(C.nnz * w->value_bytes));
    hybrid_csr_free(w->engine, &C);
    return HYBRID_OK;
}

/* Returns the least bytes that came from the device in one of RUNS runs. Makes up to
   PATIENCE runs until they are below `enough`, because idle workers pin pages of results
   between runs. */
static int64_t least_bytes(const world *w, hybrid_plan *plan, int64_t enough)
{
    const int64_t stored = ROWS * 8 + w->square.nnz * (4 + w->value_bytes);
    int64_t least        = INT64_MAX;

    for (int i = 0; i < RUNS || (least >= enough && i < PATIENCE); i++) {
        hybrid_report r = HYBRID_REPORT_INIT;
        assert_int_equal(run(w, plan), HYBRID_OK);
        assert_int_equal(hybrid_plan_report(plan, &r), HYBRID_OK);
        assert_null(usage_check(&r));
        if (r.d2h_bytes < stored - ROWS * 8)
            /* workers decode columns, but values are copied to C directly */
            assert_true(r.host_bytes < r.h2d_bytes + stored);
        least = hy_min(least, r.d2h_bytes);
    }
    return least;
}

static void passes_with_less(hybrid_type type, unsigned flags)
{
    world w;

    open_world(&w, ENOUGH, type, fakes);
    hybrid_plan *plan = make_plan(&w, flags);
    /* columns differ by about 25, so that each takes 1.25 bytes, and padding, instead of
       4 */
    const int64_t enough = w.square.nnz * (w.value_bytes + 3);
    assert_in_range(least_bytes(&w, plan, enough), w.square.nnz * (w.value_bytes + 1),
                    enough);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

static void columns_come_packed(void **state)
{
    (void)state;
    passes_with_less(HYBRID_F32, 0);
    passes_with_less(HYBRID_F64, 0);
}

/* In later runs columns are delta-coded too. Positions in C are known then before the
   run, sizes of delta-coded columns are not. */
static void so_they_do_in_later_runs(void **state)
{
    (void)state;
    passes_with_less(HYBRID_F64, HYBRID_REUSE);
}

static void few_workers_unpack_nothing(void **state)
{
    const int64_t before = fake_packed();
    world w;

    (void)state;
    open_world(&w, FEW, HYBRID_F32, fakes);
    hybrid_plan *plan = make_plan(&w, 0);
    assert_true(least_bytes(&w, plan, INT64_MAX) >= w.square.nnz * 8);
    assert_int_equal(fake_packed(), before);
    hybrid_plan_destroy(plan);
    close_world(&w);
}

/* Each call of the device fails once. A run succeeds if there is no memory for
   delta-coded columns; any other failure is an error. */
static void each_call_fails_once(void **state)
{
    int64_t calls = 1, failed = 0;
    world w;

    (void)state;
    open_world(&w, ENOUGH, HYBRID_F32, faulty);
    fake_delays(1, 0);
    hybrid_plan *warm = make_plan(&w, 0);
    assert_true(least_bytes(&w, warm, w.square.nnz * 7) < w.square.nnz * 7);
    hybrid_plan_destroy(warm);
    for (; calls < MOST; calls++) {
        hybrid_plan *plan = make_plan(&w, 0);
        fault_arm(calls);
        const hybrid_status status = run(&w, plan);
        const int armed            = fault_is_armed();
        fault_arm(0);
        hybrid_plan_destroy(plan);
        failed += status != HYBRID_OK;
        if (status != HYBRID_OK)
            assert_string_not_equal(hybrid_engine_message(w.engine), "");
        if (armed)
            break;
    }
    assert_in_range(calls, 30, MOST - 1);
    assert_true(failed > 20);
    close_world(&w);
}

int main(void)
{
    if (!hy_deltas_quick()) /* decoding is slow on this machine, so that the engine does
                               not delta-code columns */
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_come_packed),
        cmocka_unit_test(so_they_do_in_later_runs),
        cmocka_unit_test(few_workers_unpack_nothing),
        cmocka_unit_test(each_call_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
