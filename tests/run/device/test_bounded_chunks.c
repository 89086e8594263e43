/* tests/run/device/test_bounded_chunks.c - gathered chunks of large products whose
   touched rows planning does not count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "engine/rates/estimate.h"
#include "engine/schedules/schedule.h"
#include "partition/pattern/touched.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/settings.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"

static const test_kind f64                = {HYBRID_F64, HYBRID_I64, 1};
static const hy_variant *const variants[] = {&hy_spgemm_fake_esc, NULL};

enum { ROWS = 1 << 18, EACH = 9, BUDGET = 8 << 20 };

/* Makes a matrix of which row i has EACH entries: in random columns, or from column i
   on. */
static hybrid_csr matrix(int random)
{
    builder b = build_start(ROWS, ROWS);

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < EACH; k++) {
            const uint64_t n = (uint64_t)(i * EACH + k);
            build_add(&b, random ? test_below(1, n, ROWS) : (i + k) % ROWS);
        }
        build_end_row(&b);
    }
    return build_finish(&b, 1, f64);
}

/* Makes a matrix B of which each row has one or two entries, so that A*B is small. */
static hybrid_csr short_rows(void)
{
    builder b = build_start(ROWS, ROWS);

    for (int64_t i = 0; i < ROWS; i++) {
        build_add(&b, i);
        if (i % 2)
            build_add(&b, (i + 5) % ROWS);
        build_end_row(&b);
    }
    return build_finish(&b, 2, f64);
}

/* Checks the number of rows of B that a chunk counts on touching. If chunk->fewer is
   set, it is a bound, at most an eighth too large; else it must be exact. Returns
   chunk->fewer. */
static int check_chunk(hy_context *ctx, const hybrid_csr *A, const hy_chunk *chunk)
{
    const hy_features *f = &chunk->features;
    hy_touched touched;

    assert_int_equal(hy_touched_find(ctx, A, chunk->row_begin, chunk->row_end, &touched),
                     HYBRID_OK);
    if (chunk->fewer)
        assert_true(f->gather_rows >= touched.count &&
                    f->gather_rows <= touched.count + touched.count / 8);
    else
        assert_int_equal(f->gather_rows, touched.count);
    hy_touched_free(ctx, &touched);
    return chunk->fewer;
}

/* Returns the predicted core seconds for each row of B that chunks gather. The variant's
   cost has no time for packing bytes, so that only gathering counts. */
static double row_s(const hy_portion *portion)
{
    const hy_circumstances found = {.cached = 0};
    const hy_estimate e          = hy_estimate_device(portion, &portion->layout, &found);
    int64_t rows                 = 0;

    for (int64_t i = 0; i < portion->layout.count; i++)
        rows += portion->layout.chunks[i].features.gather_rows;
    return e.core_s / (double)rows;
}

/* Makes and runs a plan in which A has entries at random positions (1) or in a band (0).
   Checks the chunks, and returns row_s() of the plan. */
static double check(int random)
{
    hybrid_csr A = matrix(random), B = short_rows(), C;
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_plan *plan;
    int64_t bounded = 0;
    oracle right;

    options.split = HYBRID_SPLIT_GPU;
    oracle_spgemm(&A, &B, &right);
    assert_int_equal(fake_open(variants, BUDGET, &engine), HYBRID_OK);
    settings_of(engine)->schedule = &hy_schedule_gather;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &B, &options, &plan), HYBRID_OK);
    const hy_layout *layout = &plan->portions->layout;
    assert_true(layout->count > 20);
    for (int64_t i = 0; i < layout->count; i += 7)
        bounded += check_chunk(&engine->ctx, &A, &layout->chunks[i]);
    assert_int_equal(bounded, random ? (layout->count + 6) / 7 : 0);
    const double s = row_s(plan->portions);
    assert_int_equal(hybrid_spgemm_run(plan, &A, &B, &C), HYBRID_OK);
    assert_null(oracle_check(&right, &C, 1));
    hybrid_csr_free(engine, &C);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    oracle_free(&right);
    matrix_free(&A);
    matrix_free(&B);
    return s;
}

/* If entries are at random positions, planning only bounds how many rows of B a chunk
   touches, because nearly all are different. In a band, rows of A touch the same rows of
   B, which are counted. Gathering a row takes longer at random positions. */
static void random_positions_are_not_counted(void **state)
{
    (void)state;
    fake_delays(1, 0);
    assert_true(check(1) > 2 * check(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_positions_are_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
