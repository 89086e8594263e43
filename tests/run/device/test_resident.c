/* tests/run/device/test_resident.c - A cached on the device from run to run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"
#include "support/runs/resident.h"

enum { ROWS = 1500, COLUMNS = 20 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

static const hybrid_plan_options KEPT = {.struct_size = sizeof(hybrid_plan_options),
                                         .flags       = HYBRID_RESIDENT};

static hybrid_status open_rows(size_t device_bytes, hybrid_engine **engine)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, NULL};
    return fake_open(table, device_bytes, engine);
}

static hybrid_status open_tiled(size_t device_bytes, hybrid_engine **engine)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_tiled, NULL};
    return fake_open(table, device_bytes, engine);
}

/* ---- runs ---- */

static void every_case_runs_again_without_a(void **state)
{
    static const hy_variant *const table[] = {&hy_spmm_fake_rows, &hy_spmm_fake_tiled,
                                              NULL};
    static const char *const names[]       = {"spmm.fake.rows", "spmm.fake.tiled", NULL};
    hybrid_engine *engine;
    int64_t checked = 0;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
    assert_int_equal(resident_check(engine, names, &checked), 0);
    assert_true(checked > 200);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static void every_budget_is_kept(void **state)
{
    (void)state;
    fake_delays(2, 0);
    assert_int_equal(resident_budgets(open_rows, 600), 0);
    assert_int_equal(resident_budgets(open_tiled, 600), 0);
    assert_int_equal(fake_alive(), 0);
}

/* ---- bytes ---- */

static void run_once(hybrid_plan *plan, const hybrid_csr *A)
{
    hybrid_dense X, Y, before;

    dense_make(A->cols, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, f64, &X);
    dense_make(A->rows, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, f64, &Y);
    dense_copy(&Y, &before);
    assert_int_equal(hybrid_spmm_run(plan, 1, A, &X, 0, &Y), HYBRID_OK);
    assert_null(oracle_check_spmm(1, A, &X, 0, &before, &Y, 1));
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
}

/* Runs a plan with HYBRID_RESIDENT twice, with device memory for all chunks of A or for
   some of them. Returns the number of chunks that the second run packs again. Sets
   *later to its report. */
static int64_t packed_again(const hybrid_csr *A, size_t budget, hybrid_report *later)
{
    hybrid_engine *engine = place_open(ON_DEVICE, budget);
    const int64_t x       = A->cols * COLUMNS * 8;
    char text[4096], words[64];
    hybrid_plan *plan;

    assert_int_equal(hybrid_spmm_plan(engine, A, COLUMNS, &KEPT, &plan), HYBRID_OK);
    for (int run = 0; run < 2; run++) {
        run_once(plan, A);
        *later = report_of(plan);
        assert_in_range(later->h2d_bytes, later->predicted_h2d_bytes - 2560,
                        later->predicted_h2d_bytes);
        assert_true(run > 0 || later->h2d_bytes > x + A->nnz * 12);
        assert_true(later->speedup_over_reference < 1);
    }
    hybrid_plan_details(plan, text, sizeof text);
    snprintf(words, sizeof words, "A's rows in %lld of %lld chunks",
             (long long)later->resident_chunks, (long long)later->chunks);
    assert_non_null(strstr(text, words));
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    return later->chunks - later->resident_chunks;
}

static void what_is_resident_is_sent_once(void **state)
{
    int64_t before = 0, whole = 0, part = 0, sent = 0;
    hybrid_report r;
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, ROWS, 9, 5, f64, &A);
    for (size_t budget = 4 << 20; budget > 340 << 10; budget -= budget / 20) {
        const int64_t again = packed_again(&A, budget, &r);
        if (r.gathered)
            break;
        assert_int_equal(r.h2d_bytes == A.cols * COLUMNS * 8, again == 0);
        assert_true(r.h2d_bytes >= sent); /* with less memory for the cache, more bytes
                                             are sent */
        assert_true(again == 0 || r.resident_bytes < A.nnz * 12 + 8 * ROWS);
        whole += again == 0;
        part += again > 0 && r.resident_chunks > 0;
        before = again;
        sent   = r.h2d_bytes;
    }
    assert_true(whole > 3 && part > 2 && before > 0);
    matrix_free(&A);
    assert_int_equal(fake_alive(), 0);
}

/* ---- the planner ---- */

static hy_cost cost_of(const hy_features *f, const hy_rates *r, double prepare,
                       double multiply)
{
    hy_cost cost = hy_spmm_fake_rows.cost(f, r);

    cost.prepare_s  = prepare * (double)f->nnz;
    cost.multiply_s = multiply * (double)f->nnz;
    return cost;
}

static hy_cost cheap_pack(const hy_features *f, const hy_rates *r)
{
    return cost_of(f, r, 1e-9, 2e-9);
}

static hy_cost dear_pack(const hy_features *f, const hy_rates *r)
{
    return cost_of(f, r, 50e-9, 1e-9);
}

static const char *chosen_by(hybrid_plan *plan)
{
    hybrid_candidate c;

    for (int i = 0; hybrid_plan_candidate(plan, i, &c) == HYBRID_OK; i++)
        if (c.chosen)
            return c.variant;
    return "";
}

/* With HYBRID_RESIDENT, A is packed once. A variant with an expensive pack that saves
   little time in each run is therefore preferred. */
static void packing_is_not_counted(void **state)
{
    hy_variant cheap = hy_spmm_fake_rows, dear = hy_spmm_fake_rows;
    const hy_variant *const table[] = {&cheap, &dear, NULL};
    hybrid_engine *engine;
    hybrid_plan *plan;
    hybrid_csr A;

    (void)state;
    cheap.name = "spmm.fake.cheap";
    cheap.cost = cheap_pack;
    dear.name  = "spmm.fake.dear";
    dear.cost  = dear_pack;
    matrix_random(ROWS, ROWS, 9, 5, f64, &A);
    assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
    assert_int_equal(hybrid_spmm_plan(engine, &A, COLUMNS, NULL, &plan), HYBRID_OK);
    assert_string_equal(chosen_by(plan), "spmm.fake.cheap");
    hybrid_plan_destroy(plan);
    assert_int_equal(hybrid_spmm_plan(engine, &A, COLUMNS, &KEPT, &plan), HYBRID_OK);
    assert_string_equal(chosen_by(plan), "spmm.fake.dear");
    run_once(plan, &A);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* ---- products without cached A ---- */

static void spgemm_refuses_the_flag(void **state)
{
    hybrid_engine *engine = place_open(ON_DEVICE, 0);
    hybrid_plan *plan     = NULL;
    hybrid_csr A;

    (void)state;
    matrix_random(20, 20, 3, 5, f64, &A);
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &KEPT, &plan),
                     HYBRID_BAD_ARGUMENT);
    assert_null(plan);
    assert_non_null(strstr(hybrid_engine_message(engine), "HYBRID_RESIDENT"));
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

static void the_host_reads_a_in_place(void **state)
{
    hybrid_engine *engine = place_open(ON_HOST, 0);
    hybrid_plan *plan;
    hybrid_csr A;

    (void)state;
    hybrid_plan_refresh(NULL);
    matrix_random(ROWS, ROWS, 9, 5, f64, &A);
    assert_int_equal(hybrid_spmm_plan(engine, &A, COLUMNS, &KEPT, &plan), HYBRID_OK);
    for (int run = 0; run < 3; run++) {
        run_once(plan, &A);
        assert_int_equal(report_of(plan).resident_chunks, 0);
        assert_int_equal(report_of(plan).h2d_bytes, 0);
        value_set(A.val, A.type, run, 5); /* the plan is not told of the change and must
                                             notice it, because it caches nothing */
    }
    hybrid_plan_refresh(plan);
    run_once(plan, &A);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_runs_again_without_a),
        cmocka_unit_test(every_budget_is_kept),
        cmocka_unit_test(what_is_resident_is_sent_once),
        cmocka_unit_test(packing_is_not_counted),
        cmocka_unit_test(spgemm_refuses_the_flag),
        cmocka_unit_test(the_host_reads_a_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
