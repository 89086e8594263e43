/* tests/support/subjects/ring_products.c - products of banded matrices for a ring of
   entries. */
#include "tests/support/subjects/ring_products.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/plan/plan.h"
#include "support/fake/fake_backend.h"
#include "support/inputs/builder.h"

static const test_kind f64              = {HYBRID_F64, HYBRID_I64, 1};
const hy_variant *const ring_variants[] = {&hy_spgemm_fake_esc, NULL};

hybrid_csr ring_band(unsigned seed)
{
    builder b = build_start(RING_ROWS, RING_ROWS);

    for (int64_t i = 0; i < RING_ROWS; i++) {
        const int64_t count = test_below(seed, (uint64_t)i, 8);
        for (int64_t k = 0; k < count; k++) {
            const int64_t j = i - 4 + test_below(seed + 1, (uint64_t)(i * 8 + k), 9);
            if (j >= 0 && j < RING_ROWS)
                build_add(&b, j);
        }
        build_end_row(&b);
    }
    return build_finish(&b, seed, f64);
}

void ring_open(unsigned seed, int squared, ring_product *p)
{
    p->A = ring_band(seed);
    p->B = squared ? p->A : ring_band(seed + 7);
    oracle_spgemm(&p->A, &p->B, &p->C);
}

void ring_close(ring_product *p)
{
    oracle_free(&p->C);
    if (p->B.row_ptr != p->A.row_ptr)
        matrix_free(&p->B);
    matrix_free(&p->A);
}

hybrid_status ring_multiply(hybrid_engine *engine, const ring_product *p, unsigned flags,
                            int runs, int64_t *held)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.flags        = flags;
    options.split        = HYBRID_SPLIT_GPU;
    hybrid_status status = hybrid_spgemm_plan(engine, &p->A, &p->B, &options, &plan);
    if (status != HYBRID_OK)
        return status;
    const hy_image *image = &plan->portions->layout.image;
    *held                 = image->axis == HY_AXIS_ENTRIES ? image->held : 0;
    for (int k = 0; k < runs && status == HYBRID_OK; k++) {
        hybrid_csr C;
        status = hybrid_spgemm_run(plan, &p->A, &p->B, &C);
        if (status == HYBRID_OK) {
            assert_null(oracle_check(&p->C, &C, 1));
            hybrid_csr_free(engine, &C);
        }
    }
    hybrid_plan_destroy(plan);
    return status;
}
