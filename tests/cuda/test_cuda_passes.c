/* tests/cuda/test_cuda_passes.c - a GPU that multiplies B in passes, by every variant
   that can.

   The test is skipped without a GPU. It is plain C without a test framework, because GPU
   machines seldom have one. An argument is the number of rows of B, for tools that make
   kernels slow. */
#include <stdlib.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "engine/schedules/schedule.h"
#include "partition/parts/passes.h"
#include "support/check/expect.h"
#include "support/check/oracle.h"
#include "support/engines/open_cuda.h"
#include "support/fake/settings.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"

enum {
    SKIP   = 77,
    ROWS   = 100000, /* rows of B, and columns of A */
    FEW    = 40,     /* rows of A, and columns of B */
    SPARSE = 50,     /* one of SPARSE elements of A is an entry */
    EACH   = 8,      /* entries of a row of B, repeats included */
    FIXED = 1 << 20, /* the budget of device memory: FIXED bytes, and PART for each row of
                        B, which takes about twice as many */
    PART = 30
};

static hybrid_csr make_a(int64_t rows, test_kind kind)
{
    builder b = build_start(FEW, rows);

    for (int64_t i = 0; i < FEW; i++) {
        for (int64_t j = 0; j < rows && i % 50 != 7; j++)
            if (test_below(1, (uint64_t)(i * rows + j), SPARSE) == 0)
                build_add(&b, j);
        build_end_row(&b);
    }
    return build_finish(&b, 1, kind);
}

static hybrid_csr make_b(int64_t rows, test_kind kind)
{
    builder b = build_start(rows, FEW);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < EACH && i % 9 != 4; j++)
            build_add(&b, test_below(2, (uint64_t)(i * EACH + j), FEW));
        build_end_row(&b);
    }
    return build_finish(&b, 2, kind);
}

/* Computes A*B twice by one plan, and checks C. */
static void check(hybrid_engine *engine, const char *variant, int64_t chunk_rows,
                  const hybrid_csr *A, const hybrid_csr *B, const oracle *product)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan     = NULL;
    hybrid_csr C;

    o.split      = HYBRID_SPLIT_GPU;
    o.variant    = variant;
    o.chunk_rows = chunk_rows;
    expect(hybrid_spgemm_plan(engine, A, B, &o, &plan) == HYBRID_OK, "no plan");
    for (int run = 0; plan && run < 2; run++) {
        expect(hy_passes(&plan->portions->layout.image) > 1, "one pass");
        expect(hybrid_spgemm_run(plan, A, B, &C) == HYBRID_OK, "no product");
        expect(oracle_check(product, &C, 1) == NULL, "a wrong product");
        hybrid_csr_free(engine, &C);
    }
    hybrid_plan_destroy(plan);
}

static void check_kind(hybrid_engine *engine, int64_t rows, test_kind kind)
{
    static const char *const variants[] = {"spgemm.cuda.hash", "spgemm.cuda.dense",
                                           "spgemm.cuda.esc"};
    hybrid_csr A = make_a(rows, kind), B = make_b(rows, kind);
    oracle product;

    oracle_spgemm(&A, &B, &product);
    for (size_t k = 0; k < sizeof variants / sizeof *variants; k++) {
        check(engine, variants[k], 0, &A, &B, &product);
        check(engine, variants[k], FEW / 5, &A, &B, &product);
    }
    oracle_free(&product);
    matrix_free(&A);
    matrix_free(&B);
}

int main(int argc, char **argv)
{
    const int64_t rows = argc > 1 ? atoi(argv[1]) : ROWS;
    hybrid_engine *engine;
    const hybrid_status status = open_cuda((size_t)(FIXED + PART * rows), &engine);

    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    settings_of(engine)->schedule = &hy_schedule_passes;
    check_kind(engine, rows, (test_kind){HYBRID_F32, HYBRID_I64, 1});
    check_kind(engine, rows, (test_kind){HYBRID_F64, HYBRID_I32, 1});
    hybrid_engine_destroy(engine);
    return expect_failed() > 0;
}
