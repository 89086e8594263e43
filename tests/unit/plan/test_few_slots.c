/* tests/unit/plan/test_few_slots.c - products that get two slots: B does not fit the
   device beside more, or each chunk costs much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/plan/plan.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

enum { ROWS = 1500, EACH = 4, LEAST_KB = 64, MOST_KB = 1024, STEP_KB = 16 };

/* Makes a square matrix with EACH entries in a row, and `longest` in the middle row. */
static hybrid_csr make(int64_t longest, unsigned seed)
{
    builder b = build_start(ROWS, ROWS);

    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t count = i == ROWS / 2 ? longest : EACH;
        for (int64_t k = 0; k < count; k++)
            build_add(&b, test_below(seed, (uint64_t)(i * ROWS + k), ROWS));
        build_end_row(&b);
    }
    return build_finish(&b, seed, f64);
}

/* Returns the layout of a plan with this budget, after its chunks have been freed. It has
   0 slots if there is no such plan. The options ask for `depth` slots; 0: for no number.
   Checks C. */
static hy_layout planned(const hy_variant *variant, int depth, size_t bytes,
                         const hybrid_csr *A, const hybrid_csr *B, const oracle *product)
{
    const hy_variant *const table[] = {variant, NULL};
    hybrid_plan_options options     = HYBRID_PLAN_OPTIONS_INIT;
    hy_layout layout                = {.depth = 0};
    hybrid_plan *plan               = NULL;
    hybrid_engine *engine;
    hybrid_csr C;

    options.depth = depth;
    assert_int_equal(fake_open(table, bytes, &engine), HYBRID_OK);
    if (hybrid_spgemm_plan(engine, A, B, &options, &plan) == HYBRID_OK) {
        layout = plan->portions->layout;
        assert_int_equal(hybrid_spgemm_run(plan, A, B, &C), HYBRID_OK);
        assert_null(oracle_check(product, &C, 1));
        hybrid_csr_free(engine, &C);
    }
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
    return layout;
}

/* Returns the slots of a plan with this budget, in which all of B is on the device; 0 if
   there is no such plan. */
static int slots_with(const hybrid_csr *A, const hybrid_csr *B, const oracle *product,
                      size_t bytes)
{
    const hy_layout layout = planned(&hy_spgemm_fake_esc, 0, bytes, A, B, product);

    return layout.image.axis == HY_AXIS_NONE ? layout.depth : 0;
}

static void b_stays_beside_two_slots(void **state)
{
    hybrid_csr A = make(ROWS / 3, 1), B = make(EACH, 2);
    int seen[8] = {0}, last = 0;
    oracle product;

    (void)state;
    oracle_spgemm(&A, &B, &product);
    for (size_t kb = LEAST_KB; kb <= MOST_KB; kb += STEP_KB) {
        const int slots = slots_with(&A, &B, &product, kb << 10);
        assert_in_range(slots, 0, 7);
        assert_true(slots >= last);
        seen[slots]++;
        last = slots;
    }
    assert_true(seen[0] > 0 && seen[2] > 0 && seen[4] > 0);
    oracle_free(&product);
    matrix_free(&A);
    matrix_free(&B);
}

/* ---- dear chunks ---- */

static hy_cost dear_cost(const hy_features *f, const hy_rates *rates)
{
    hy_cost c = hy_spgemm_fake_esc.cost(f, rates);

    c.multiply_s += 1;
    return c;
}

static void dear_chunks_get_larger_slots(void **state)
{
    const size_t bytes = (size_t)110 << 10;
    hy_variant dear    = hy_spgemm_fake_esc;
    hybrid_csr A       = make(EACH, 3);
    oracle square;

    (void)state;
    dear.cost = dear_cost;
    oracle_spgemm(&A, &A, &square);
    assert_int_equal(planned(&hy_spgemm_fake_esc, 0, bytes, &A, &A, &square).depth, 4);
    const hy_layout few   = planned(&dear, 0, bytes, &A, &A, &square);
    const hy_layout asked = planned(&dear, 4, bytes, &A, &A, &square);
    assert_true(few.depth == 2 && asked.depth == 4);
    assert_true(asked.count >= 32 && few.count < asked.count * 2 / 3);
    oracle_free(&square);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b_stays_beside_two_slots),
        cmocka_unit_test(dear_chunks_get_larger_slots),
    };
    fake_delays(1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
