/* tests/run/device/test_pipeline.c - the whole pipeline on a fake device with random
   delays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "engine/api/engine.h"
#include "support/runs/budgets.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/products/variants.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                              NULL};
static const hy_variant *const variants[]  = {&hy_spgemm_fake_esc, &hy_spgemm_fake_dup,
                                              &hy_spmm_fake_rows, &hy_spmm_fake_tiled,
                                              NULL};
static const hy_variant *const carrying[]  = {&hy_spgemm_fake_dup, &hy_spmm_fake_tiled,
                                              NULL};

static hybrid_status open_fake(size_t device_bytes, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.device_bytes = device_bytes;
    options.threads      = 3;
    return fake_engine_open(&options, fakes, variants, engine);
}

/* Opens an engine with SpGEMM variants whose packs contain rows of B, and SpMM variants
   that store X by columns. */
static hybrid_status open_carrying(size_t device_bytes, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.device_bytes = device_bytes;
    options.threads      = 3;
    return fake_engine_open(&options, fakes, carrying, engine);
}

/* ---- two chunks compute at once ---- */

static struct meeting {
    sem_t come[2]; /* come[k]: the kernel of the other chunk than k has begun */
    int arrived;   /* number of kernels that have begun */
    int missed;    /* 1: a kernel waited a minute for the other one in vain */
} meeting;

/* Lets the kernels of the first two chunks wait for each other, at most a minute. */
static hybrid_status meet(hy_lane *lane, void *arg)
{
    const int k = __atomic_fetch_add(&meeting.arrived, 1, __ATOMIC_SEQ_CST);
    struct timespec until;

    (void)lane, (void)arg;
    if (k > 1)
        return HYBRID_OK;
    sem_post(&meeting.come[1 - k]);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    while (sem_timedwait(&meeting.come[k], &until) != 0)
        if (errno == ETIMEDOUT) {
            meeting.missed = 1;
            break;
        }
    return HYBRID_OK;
}

static hybrid_status meet_and_multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_fake_enqueue(lane, meet, NULL));
    return hy_spgemm_fake_esc.multiply(lane, job);
}

/* Neighbouring chunks of a SpGEMM with many small chunks use two run lanes: kernels of
   one need not wait for those of the other. */
static void kernels_of_two_chunks_overlap(void **state)
{
    static hy_variant meeting_esc;
    static const hy_variant *const table[] = {&meeting_esc, NULL};
    hybrid_engine_options options          = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options cut                = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_plan *plan;
    hybrid_csr A, C;
    oracle square;

    (void)state;
    meeting_esc          = hy_spgemm_fake_esc;
    meeting_esc.multiply = meet_and_multiply;
    for (int k = 0; k < 2; k++)
        sem_init(&meeting.come[k], 0, 0);
    matrix_random(100, 100, 4, 1, (test_kind){HYBRID_F64, HYBRID_I64, 1}, &A);
    oracle_spgemm(&A, &A, &square);
    options.threads = 3;
    assert_int_equal(fake_engine_open(&options, fakes, table, &engine), HYBRID_OK);
    cut.chunk_rows = 1;
    cut.depth      = 4;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &cut, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
    assert_null(oracle_check(&square, &C, 1));
    assert_int_equal(meeting.arrived, 100);
    assert_false(meeting.missed);
    hybrid_csr_free(engine, &C);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    oracle_free(&square);
    matrix_free(&A);
}

static void every_case_passes_through_a_device(void **state)
{
    static const char *const names[] = {"spgemm.fake.esc", "spgemm.fake.dup",
                                        "spmm.fake.rows", "spmm.fake.tiled", NULL};
    hybrid_engine *engine;
    int64_t checked = 0;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(open_fake(0, &engine), HYBRID_OK);
    assert_int_equal(variants_check(engine, names, &checked), 0);
    assert_true(checked > 300);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static void every_budget_is_kept(void **state)
{
    (void)state;
    fake_delays(2, 0);
    assert_int_equal(budgets_check(open_fake), 0);
    assert_int_equal(budgets_check(open_carrying), 0);
    assert_int_equal(fake_alive(), 0);
}

/* ---- order, overlap and back-pressure, from the events of one run ---- */

enum { MOST_CHUNKS = 512, DEPTH = 3 };

typedef struct chunk_times {
    int64_t begin, end; /* times at which the chunk's latest stage began and ended */
    int64_t first;      /* time at which the chunk's first stage began */
    int stages;
} chunk_times;

typedef struct record {
    chunk_times chunk[MOST_CHUNKS];
    int64_t finished, backwards, loads;
} record;

static void watch(void *user, const hybrid_event *event)
{
    record *r = user;

    if (event->part > 0)
        return;
    if (event->chunk < 0) {
        r->loads++;
        return;
    }
    chunk_times *c = &r->chunk[event->chunk];
    if (c->stages == 0)
        c->first = event->begin_ns;
    else
        r->backwards += event->begin_ns < c->end;
    c->begin = event->begin_ns;
    c->end   = event->end_ns;
    c->stages++;
    r->finished += strcmp(event->stage, "place") == 0;
}

/* Returns the maximum number of chunks that were in flight at once: between the begin of
   their first stage and the end of their last. */
static int most_in_flight(const record *r, int64_t chunks)
{
    int most = 0;

    for (int64_t i = 0; i < chunks; i++) {
        int in_flight = 0;
        for (int64_t j = 0; j < chunks; j++)
            in_flight += r->chunk[j].first <= r->chunk[i].first &&
                         r->chunk[j].end > r->chunk[i].first;
        most = in_flight > most ? in_flight : most;
    }
    return most;
}

static void run_recorded(hybrid_engine *engine, int64_t rows_a_chunk, record *r,
                         hybrid_report *report)
{
    const test_kind kind        = {HYBRID_F32, HYBRID_I32, 1};
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr A, B, C;
    hybrid_plan *plan;
    oracle reference;

    matrix_random(600, 600, 5, 8, kind, &A);
    matrix_random(600, 600, 5, 9, kind, &B);
    oracle_spgemm(&A, &B, &reference);
    options.depth      = DEPTH;
    options.chunk_rows = rows_a_chunk;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &B, &options, &plan), HYBRID_OK);
    hybrid_engine_trace(engine, watch, r);
    assert_int_equal(hybrid_spgemm_run(plan, &A, &B, &C), HYBRID_OK);
    assert_null(oracle_check(&reference, &C, 1));
    *report = (hybrid_report)HYBRID_REPORT_INIT;
    assert_int_equal(hybrid_plan_report(plan, report), HYBRID_OK);
    hybrid_csr_free(engine, &C);
    hybrid_plan_destroy(plan);
    oracle_free(&reference);
    matrix_free(&A);
    matrix_free(&B);
}

static void stages_follow_each_other_and_slots_bound_them(void **state)
{
    static record r;
    hybrid_report report;
    hybrid_engine *engine;

    (void)state;
    fake_delays(3, 300);
    assert_int_equal(open_fake(0, &engine), HYBRID_OK);
    run_recorded(engine, 20, &r, &report);
    assert_int_equal(report.chunks, 30);
    assert_int_equal(r.finished, 30);
    assert_int_equal(r.loads, 1);
    assert_int_equal(r.backwards, 0);
    for (int i = 0; i < 30; i++)
        assert_int_equal(r.chunk[i].stages, 6); /* the trace has all stages but
                                                   "reserve" */
    assert_in_range(most_in_flight(&r, 30), 2, DEPTH);
    assert_true(report.h2d_bytes > 0 && report.d2h_bytes > 0);
    hybrid_engine_destroy(engine);
}

/* The size of chunks is estimated from the first rows, which have one entry of C for a
   hundred scalar products. Later rows have one for each, so that the entries of a chunk
   exceed a slot and arrive in several copies. */
static void entries_beyond_what_is_expected_come_in_turns(void **state)
{
    enum { SHARED = 100, LENGTH = 50, MANY = 400, ROWS = SHARED + MANY + 4000 };
    static int64_t row_ptr[ROWS + 1];
    static int32_t col[SHARED * LENGTH + MANY * SHARED + 4000 * 2];
    static double val[sizeof col / sizeof *col];
    hybrid_csr A = {ROWS, ROWS, 0, HYBRID_I64, row_ptr, col, val, HYBRID_F64};
    hybrid_engine *engine;
    hybrid_csr C;
    oracle reference;
    int64_t k = 0;

    (void)state;
    for (int i = 0; i < ROWS; i++) {
        row_ptr[i] = k;
        if (i < SHARED) /* a short row; all of them have the same columns */
            for (int j = 0; j < LENGTH; j++)
                col[k++] = 1000 + j;
        else if (i < SHARED + MANY) /* a row that needs all short rows */
            for (int j = 0; j < SHARED; j++)
                col[k++] = j;
        else /* a row that needs one short row */
            col[k++] = i % SHARED;
    }
    row_ptr[ROWS] = A.nnz = k;
    for (int64_t i = 0; i < k; i++)
        val[i] = test_number(5, i, 1);
    fake_delays(6, 100);
    oracle_spgemm(&A, &A, &reference);
    assert_int_equal(open_fake(0, &engine), HYBRID_OK);
    for (int run = 0; run < 2; run++) {
        assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
        assert_null(oracle_check(&reference, &C, 1));
        hybrid_csr_free(engine, &C);
    }
    hybrid_engine_destroy(engine);
    oracle_free(&reference);
}

/* Called for each event of a trace: counts copies of more than 64 KiB to the host, which
   are direct. */
static void count_direct(void *user, const hybrid_event *event)
{
    int64_t *direct = user;
    *direct += strcmp(event->stage, "d2h") == 0 && event->bytes > 64 * 1024;
    assert_string_not_equal(event->stage,
                            "prepare"); /* A*A packs nothing, because the device finds
                                           the rows of A among those of B */
}

static void results_used_again_are_pinned(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    const int64_t before = fake_pins();
    hybrid_engine *engine;
    hybrid_csr A, C;
    oracle reference;
    int64_t large = 0;

    (void)state;
    fake_delays(4, 200);
    matrix_random(3000, 3000, 8, 9, kind, &A);
    oracle_spgemm(&A, &A, &reference);
    assert_int_equal(open_fake(0, &engine), HYBRID_OK);
    hybrid_engine_trace(engine, count_direct, &large);
    for (int run = 0; run < 4; run++) {
        assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
        assert_null(oracle_check(&reference, &C, 1));
        memset(C.col, 0xa5, (size_t)C.nnz * 4); /* the next run may get the same memory,
                                                   and must write all of it */
        memset(C.val, 0xa5, (size_t)C.nnz * 8);
        hybrid_csr_free(engine, &C);
        if (run == 0)
            assert_int_equal(fake_pins(), before); /* pages of a result are pinned only
                                                      when they are used for the second
                                                      time */
    }
    assert_true(large > 0);
    assert_true(fake_pins() > before + 20);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
    oracle_free(&reference);
    matrix_free(&A);
}

static void delays_change_no_result(void **state)
{
    (void)state;
    for (unsigned seed = 10; seed < 20; seed++) {
        static record r;
        hybrid_report report;
        hybrid_engine *engine;
        memset(&r, 0, sizeof r);
        fake_delays(seed, 150);
        assert_int_equal(open_fake(0, &engine), HYBRID_OK);
        run_recorded(engine, 37, &r, &report);
        assert_int_equal(r.backwards, 0);
        hybrid_engine_destroy(engine);
    }
    assert_int_equal(fake_alive(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_two_chunks_overlap),
        cmocka_unit_test(every_case_passes_through_a_device),
        cmocka_unit_test(every_budget_is_kept),
        cmocka_unit_test(stages_follow_each_other_and_slots_bound_them),
        cmocka_unit_test(entries_beyond_what_is_expected_come_in_turns),
        cmocka_unit_test(results_used_again_are_pinned),
        cmocka_unit_test(delays_change_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
