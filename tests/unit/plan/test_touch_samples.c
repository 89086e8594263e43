/* tests/unit/plan/test_touch_samples.c - the rows of B that sampled chunks touch predict
   those that all chunks gather. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "engine/schedules/touch_samples.h"
#include "partition/format/pack.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

enum { ROWS = 6000, HUBS = 300, A_ROW = 8, B_ROW = 60, COLS = 100 };

/* Makes a matrix of ROWS rows with `each` entries in random columns below `within`. */
static hybrid_csr make(int64_t cols, int64_t each, int64_t within, unsigned seed)
{
    builder b = build_start(ROWS, cols);

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < each; k++)
            build_add(&b, test_below(seed, (uint64_t)(i * each + k), within));
        build_end_row(&b);
    }
    return build_finish(&b, seed, f64);
}

/* A variant without scratch: a chunk is as long as its gathered rows and C allow. */
static hy_cost lean_cost(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return (hy_cost){.pack_bytes = hy_pack_csr_bytes(HY_SPGEMM, f),
                     .out_bytes  = hy_rows_bytes(HY_SPGEMM, f, 0)};
}

static void check(const hybrid_csr *A, const hybrid_csr *B, size_t bytes)
{
    hy_variant lean                 = hy_spgemm_fake_esc;
    const hy_variant *const table[] = {&lean, NULL};
    hybrid_engine *engine;
    hy_touch touched, sum = {0, 0};
    hy_extents extents = {0};
    hybrid_plan *plan;
    hy_layout cut;

    lean.cost = lean_cost;
    assert_int_equal(fake_open(table, bytes, &engine), HYBRID_OK);
    assert_int_equal(hybrid_spgemm_plan(engine, A, B, NULL, &plan), HYBRID_OK);
    const hy_portion *portion = plan->portions;
    hy_planning p             = {.product  = portion->product,
                                 .portion  = portion,
                                 .A        = A,
                                 .B        = B,
                                 .features = portion->profile.features,
                                 .extents  = &extents,
                                 .touch    = &touched};
    hy_layout asked  = {.image = hy_portion_image(portion), .depth = 4, .share = 1};
    asked.image.axis = HY_AXIS_GATHERED;
    assert_int_equal(hy_touch_estimate(&p, &asked, &touched), HYBRID_OK);
    cut          = asked;
    cut.products = INT64_MAX;
    assert_int_equal(hy_layout_cut(&p, &cut), HYBRID_OK);
    assert_true(cut.count > 8);
    for (int64_t i = 0; i < cut.count; i++) {
        sum.rows += cut.chunks[i].features.gather_rows;
        sum.nnz += cut.chunks[i].features.gather_nnz;
    }
    if (touched.nnz > 3 * sum.nnz / 2 || touched.nnz < 2 * sum.nnz / 3)
        fail_msg("%lld entries of B are gathered, estimated %lld", (long long)sum.nnz,
                 (long long)touched.nnz);
    hy_layout_free(portion->product, &cut);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
}

/* Chunks whose rows share few rows of B, and chunks whose rows share most of them, and
   are therefore longer. */
static void samples_are_as_long_as_chunks(void **state)
{
    hybrid_csr apart = make(ROWS, A_ROW, ROWS, 1), B = make(COLS, B_ROW, COLS, 3);
    hybrid_csr shared = make(ROWS, A_ROW, HUBS, 2);

    (void)state;
    for (size_t kb = 1200; kb <= 2400; kb += 400) {
        check(&apart, &B, kb << 10);
        check(&shared, &B, kb << 10);
    }
    matrix_free(&apart);
    matrix_free(&shared);
    matrix_free(&B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_as_long_as_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
