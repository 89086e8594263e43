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

enum { ROWS = 6000, HUBS = 300, A_ROW = 8, LONG_ROW = 400, B_ROW = 60, COLS = 100 };

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

/* An engine with a plan of A*B, whose portion is estimated anew. */
typedef struct world {
    hy_variant lean;
    const hy_variant *table[2];
    hybrid_engine *engine;
    hybrid_plan *plan;
    hy_extents extents;
    hy_touch touched;
    hy_planning planning;
    hy_layout asked; /* four slots with gathered rows of B */
} world;

/* Returns 0 if there is no plan with this budget. */
static int world_open(const hybrid_csr *A, const hybrid_csr *B, size_t bytes, world *w)
{
    *w           = (world){.lean = hy_spgemm_fake_esc, .table = {&w->lean}};
    w->lean.cost = lean_cost;
    assert_int_equal(fake_open(w->table, bytes, &w->engine), HYBRID_OK);
    if (hybrid_spgemm_plan(w->engine, A, B, NULL, &w->plan) != HYBRID_OK) {
        hybrid_engine_destroy(w->engine);
        return 0;
    }
    const hy_portion *portion = w->plan->portions;
    w->planning               = (hy_planning){.product  = portion->product,
                                              .portion  = portion,
                                              .A        = A,
                                              .B        = B,
                                              .features = portion->profile.features,
                                              .extents  = &w->extents,
                                              .touch    = &w->touched};
    w->asked = (hy_layout){.image = hy_portion_image(portion), .depth = 4, .share = 1};
    w->asked.image.axis = HY_AXIS_GATHERED;
    assert_int_equal(hy_touch_estimate(&w->planning, &w->asked, &w->touched), HYBRID_OK);
    return 1;
}

static void world_close(world *w)
{
    hybrid_plan_destroy(w->plan);
    hybrid_engine_destroy(w->engine);
}

static void check(const hybrid_csr *A, const hybrid_csr *B, size_t bytes)
{
    int64_t gathered = 0;
    world w;

    assert_true(world_open(A, B, bytes, &w));
    hy_layout cut = w.asked;
    cut.products  = INT64_MAX;
    assert_int_equal(hy_layout_cut(&w.planning, &cut), HYBRID_OK);
    assert_true(cut.count > 8);
    for (int64_t i = 0; i < cut.count; i++)
        gathered += cut.chunks[i].features.gather_nnz;
    if (w.touched.nnz > 3 * gathered / 2 || w.touched.nnz < 2 * gathered / 3)
        fail_msg("%lld entries of B are gathered, estimated %lld", (long long)gathered,
                 (long long)w.touched.nnz);
    hy_layout_free(w.planning.product, &cut);
    world_close(&w);
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

/* A slot has room for one row of A, or for one and a half. */
static void long_rows_are_sampled_one_by_one(void **state)
{
    hybrid_csr A = make(ROWS, LONG_ROW, ROWS, 1), B = make(COLS, B_ROW, COLS, 3);
    int plans = 0;
    world w;

    (void)state;
    for (size_t kb = 256; kb <= 2560; kb += 128) {
        if (!world_open(&A, &B, kb << 10, &w))
            continue;
        assert_true(w.touched.nnz > B.nnz);
        world_close(&w);
        plans++;
    }
    assert_true(plans > 5);
    matrix_free(&A);
    matrix_free(&B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_as_long_as_chunks),
        cmocka_unit_test(long_rows_are_sampled_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
