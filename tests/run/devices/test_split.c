/* tests/run/devices/test_split.c - a product shared by a fake device and the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/products/sharing.h"
#include "support/subjects/csr_samples.h"

static const double shares[] = {0, 0.3, 0.7, 1};
enum { SHARES = sizeof shares / sizeof *shares, ROWS = 400, COLS = 3 };

/* Makes later runs of the plan choose the host's share by themselves, by equal speeds of
   device and host, even if sharing gains little. */
static void set_free(hybrid_plan *plan)
{
    assert_true(hy_plan_has_helper(plan));
    plan->portions[plan->count].taking.share = -1;
    for (int kind = 0; kind < HY_RUN_KINDS; kind++)
        plan->forecasts[kind].device_rate = plan->forecasts[kind].host_rate = 1e6;
}

/* ---- every case ---- */

/* Computes A*B with a plan. The device must compute it alone, whatever the split
   says. */
static void check_spgemm(hybrid_engine *engine, const test_case *c,
                         const hybrid_plan_options *options, int integers)
{
    hybrid_plan *plan;
    hybrid_csr C;
    oracle reference;

    oracle_spgemm(&c->A, &c->B, &reference);
    assert_int_equal(hybrid_spgemm_plan(engine, &c->A, &c->B, options, &plan), HYBRID_OK);
    for (int run = 0; run < 3; run++) { /* from the second run on positions in C are
                                           known */
        assert_int_equal(hybrid_spgemm_run(plan, &c->A, &c->B, &C), HYBRID_OK);
        assert_null(oracle_check(&reference, &C, integers));
        if (C.nnz > 0) /* the next run may get the same memory, and must write all of
                          it */
            memset(C.val, 0xa5, (size_t)C.nnz * hy_value_size(C.type));
        hybrid_csr_free(engine, &C);
        assert_int_equal(report_of(plan).host_chunks, 0);
    }
    hybrid_plan_destroy(plan);
    oracle_free(&reference);
}

static void check_spmm(hybrid_engine *engine, const test_case *c,
                       const hybrid_plan_options *options, test_kind kind, int turn,
                       int free)
{
    const hybrid_order x_order = turn == 1 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
    const hybrid_order y_order = turn == 2 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
    const int64_t cols         = 1 + 6 * turn;
    hybrid_dense X, Y, before;
    hybrid_plan *plan;

    dense_make(c->A.cols, cols, turn, x_order, 3, kind, &X);
    dense_make(c->A.rows, cols, turn, y_order, 4, kind, &Y);
    dense_copy(&Y, &before);
    assert_int_equal(hybrid_spmm_plan(engine, &c->A, cols, options, &plan), HYBRID_OK);
    if (free && hy_plan_has_helper(plan))
        set_free(plan);
    assert_int_equal(hybrid_spmm_run(plan, -2, &c->A, &X, turn, &Y), HYBRID_OK);
    assert_null(oracle_check_spmm(-2, &c->A, &X, turn, &before, &Y, kind.integers));
    const hybrid_report r = report_of(plan);
    assert_true(free || options->host_share > 0 || r.host_chunks == 0);
    assert_true(free || options->host_share < 1 || r.host_products == r.flops / 2);
    assert_in_range(r.host_chunks, 0, r.chunks);
    assert_true(dense_gaps_intact(&Y));
    hybrid_plan_destroy(plan);
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
}

static void check_cases(sharing_how how, size_t device_bytes, int delay)
{
    static const int64_t chunk_rows[] = {1, 7, 0};
    static const test_kind kinds[]    = {{HYBRID_F64, HYBRID_I64, 1},
                                         {HYBRID_F32, HYBRID_I32, 0}};

    fake_delays(5, delay);
    hybrid_engine *engine = sharing_open(how, device_bytes, 0);
    for (int i = 0; i < case_count(); i++)
        for (int s = 0; s <= SHARES; s++) { /* the last round (s == SHARES) lets the plan
                                               choose the share */
            const test_kind kind        = kinds[(i + s) % 2];
            const int free              = s == SHARES;
            hybrid_plan_options options = shared_by(free ? 0.5 : shares[s]);
            test_case c;
            case_make(i, kind, &c);
            options.chunk_rows = chunk_rows[(i + s) % 3];
            options.flags      = HYBRID_REUSE;
            check_spgemm(engine, &c, &options, kind.integers);
            options.flags = 0;
            check_spmm(engine, &c, &options, kind, (i + s) % 3, free);
            case_free(&c);
        }
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static void every_case_is_shared(void **state)
{
    (void)state;
    check_cases(RESIDENT_B, 0, 0);
    check_cases(CARRIED_B, 0, 0);
}

/* ---- which rows the host computes ---- */

enum { MOST = 2048 };

typedef struct record {
    int64_t host_rows, device_rows, host_first, device_last, host_chunks, chunks;
    int64_t stages[MOST];
} record;

static void note(void *user, const hybrid_event *e)
{
    record *r           = user;
    const int64_t rows  = e->row_end - e->row_begin;
    const int computes  = strcmp(e->stage, "accumulate") == 0;
    const int on_host   = strncmp(e->lane, "cpu", 3) == 0;
    const int host_does = strncmp(e->variant, "spmm.host.", 10) == 0;

    if (e->chunk < 0 || e->part > 0)
        return;
    assert_in_range(e->chunk, 0, MOST - 1);
    r->stages[e->chunk]++;
    if (!computes)
        return;
    assert_int_equal(on_host, host_does);
    *(on_host ? &r->host_rows : &r->device_rows) += rows;
    r->chunks++;
    r->host_chunks += on_host;
    if (on_host && e->row_begin < r->host_first)
        r->host_first = e->row_begin;
    if (!on_host && e->row_end > r->device_last)
        r->device_last = e->row_end;
}

/* The host gets its share, and the report says so. All rows cost about the same here, so
   that shares of rows are shares of work. */
static void the_share_is_kept_and_told(void **state)
{
    const test_kind kind  = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine *engine = sharing_open(RESIDENT_B, 0, 0);
    hybrid_dense X, Y;
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 6, 1, kind, &A);
    dense_make(ROWS, COLS, 0, HYBRID_ROW_MAJOR, 3, kind, &X);
    dense_make(ROWS, COLS, 0, HYBRID_ROW_MAJOR, 4, kind, &Y);
    for (int s = 0; s < SHARES; s++) {
        hybrid_plan_options options = shared_by(shares[s]);
        hybrid_plan *plan;
        options.chunk_rows = 10;
        assert_int_equal(hybrid_spmm_plan(engine, &A, COLS, &options, &plan), HYBRID_OK);
        for (int run = 0; run < 2; run++) {
            const int64_t expected = (int64_t)(shares[s] * ROWS);
            record r               = {.host_first = ROWS};
            hybrid_engine_trace(engine, note, &r);
            assert_int_equal(hybrid_spmm_run(plan, 1, &A, &X, 0, &Y), HYBRID_OK);
            const hybrid_report report = report_of(plan);
            assert_int_equal(r.host_rows + r.device_rows, ROWS);
            assert_int_equal(report.chunks, r.chunks);
            assert_int_equal(report.host_chunks, r.host_chunks);
            assert_in_range(r.host_rows + 25, expected, expected + 50);
            for (int64_t i = 0; i < r.chunks; i++)
                assert_true(r.stages[i] >= 1);
            /* the host takes rows from the end, the device from the beginning */
            assert_true(r.device_last <= r.host_first);
        }
        hybrid_plan_destroy(plan);
    }
    hybrid_engine_destroy(engine);
    matrix_free(&A);
    dense_free(&X);
    dense_free(&Y);
}

static void no_bit_depends_on_the_split(void **state)
{
    const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 0}, {HYBRID_F64, HYBRID_I64, 0}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        hybrid_engine *engine = sharing_open(RESIDENT_B, 0, 0);
        hybrid_csr A, C, D;
        matrix_random(ROWS, ROWS, 9, 2, kinds[k], &A);
        assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
        for (int s = 0; s < SHARES; s++) {
            hybrid_plan_options options = shared_by(shares[s]);
            hybrid_plan *plan;
            options.flags = HYBRID_DETERMINISTIC | HYBRID_REUSE;
            assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan),
                             HYBRID_OK);
            for (int run = 0; run < 2; run++) {
                assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &D), HYBRID_OK);
                csr_same(&C, &D);
                hybrid_csr_free(engine, &D);
            }
            hybrid_plan_destroy(plan);
        }
        hybrid_csr_free(engine, &C);
        hybrid_engine_destroy(engine);
        matrix_free(&A);
    }
}

static void delays_change_nothing(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    test_case c          = {.name = "delayed"};

    (void)state;
    matrix_random(ROWS, ROWS, 5, 3, kind, &c.A);
    matrix_random(ROWS, ROWS, 5, 4, kind, &c.B);
    for (unsigned seed = 1; seed < 12; seed++) {
        hybrid_plan_options options = shared_by(0.1 * seed < 1 ? 0.1 * seed : 1);
        fake_delays(seed, 200);
        hybrid_engine *engine = sharing_open(RESIDENT_B, 0, 0);
        options.chunk_rows    = 5 + seed;
        options.flags         = HYBRID_REUSE;
        check_spgemm(engine, &c, &options, 1);
        options.flags = 0;
        check_spmm(engine, &c, &options, kind, (int)seed % 3, 0);
        check_spmm(engine, &c, &options, kind, (int)seed % 3, 1);
        hybrid_engine_destroy(engine);
    }
    assert_int_equal(fake_alive(), 0);
    matrix_free(&c.A);
    matrix_free(&c.B);
}

/* ---- options ---- */

static void a_sparse_result_is_not_shared(void **state)
{
    const test_kind kind  = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine *engine = sharing_open(RESIDENT_B, 0, 0);
    hybrid_plan *plan;
    hybrid_csr A;
    char text[4096];

    (void)state;
    matrix_random(ROWS, ROWS, 5, 3, kind, &A);
    for (int s = 0; s < SHARES; s++) {
        hybrid_plan_options options = shared_by(shares[s]);
        options.flags               = s % 2 ? HYBRID_REUSE : 0;
        assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
        hybrid_plan_details(plan, text, sizeof text);
        assert_non_null(
            strstr(text, "the GPU alone: sparse results are not shared with the CPU"));
        hybrid_plan_destroy(plan);
    }
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

static void splits_are_understood(void **state)
{
    const test_kind kind        = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine *engine       = sharing_open(RESIDENT_B, 0, 0);
    hybrid_engine *host         = place_open(ON_HOST, 0);
    hybrid_plan_options options = shared_by(0.5);
    hybrid_plan *plan;
    hybrid_csr A;
    char text[4096];

    (void)state;
    matrix_random(ROWS, ROWS, 5, 3, kind, &A);
    assert_int_equal(hybrid_spgemm_plan(host, &A, &A, &options, &plan), HYBRID_NO_DEVICE);
    options.split = HYBRID_SPLIT_GPU;
    assert_int_equal(hybrid_spgemm_plan(host, &A, &A, &options, &plan), HYBRID_NO_DEVICE);
    options.split = HYBRID_SPLIT_AUTO;
    assert_int_equal(hybrid_spgemm_plan(host, &A, &A, &options, &plan), HYBRID_OK);
    hybrid_plan_destroy(plan);
    options.host_share = 1.5;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan),
                     HYBRID_BAD_ARGUMENT);
    options.host_share = 0.5;
    options.split      = HYBRID_SPLIT_HOST;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
    hybrid_plan_details(plan, text, sizeof text);
    assert_non_null(strstr(text, "spgemm.host.rows"));
    assert_null(strstr(text, "spgemm.fake"));
    hybrid_plan_destroy(plan);
    options.split = HYBRID_SPLIT_AUTO;
    for (int reuse = 0; reuse < 2; reuse++) {
        options.flags = reuse ? HYBRID_REUSE : 0;
        assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
        hybrid_plan_details(plan, text, sizeof text);
        assert_non_null(strstr(text, "sparse results are not shared with the CPU"));
        hybrid_plan_destroy(plan);
    }
    options.split = HYBRID_SPLIT_SHARE;
    options.flags = HYBRID_DETERMINISTIC;
    assert_int_equal(hybrid_spmm_plan(engine, &A, 4, &options, &plan),
                     HYBRID_UNSUPPORTED);
    options.flags   = HYBRID_REUSE;
    options.variant = "spgemm.host";
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan),
                     HYBRID_UNSUPPORTED);
    hybrid_engine_destroy(engine);
    hybrid_engine_destroy(host);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_are_understood),
        cmocka_unit_test(a_sparse_result_is_not_shared),
        cmocka_unit_test(the_share_is_kept_and_told),
        cmocka_unit_test(no_bit_depends_on_the_split),
        cmocka_unit_test(delays_change_nothing),
        cmocka_unit_test(every_case_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
