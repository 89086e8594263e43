/* tests/cuda/test_cuda_collect.c - a GPU that reads rows of B from host memory.

   The test is skipped without a GPU. It is plain C without a test framework, because GPU
   machines seldom have one. An argument is the number of rows of the matrices, for tools
   that make kernels slow. */
#include <stdlib.h>

#include "base/data/csr.h"
#include "engine/schedules/schedule.h"
#include "support/check/expect.h"
#include "support/check/oracle.h"
#include "support/engines/open_cuda.h"
#include "support/fake/settings.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"

enum {
    SKIP   = 77,
    ROWS   = 20000,
    LONG   = 3000, /* entries of the longest row of B */
    CHUNKS = 7
};

/* Makes a square matrix. Row rows / 2 has `longest` entries, and other rows have 0 to
   12. */
static hybrid_csr make(int64_t rows, int64_t longest, unsigned seed, test_kind kind)
{
    builder b = build_start(rows, rows);

    for (int64_t i = 0; i < rows; i++) {
        const int64_t count = i == rows / 2 ? longest : i * i % 13;
        for (int64_t j = 0; j < count; j++)
            build_add(&b, test_below(seed, (uint64_t)(i * LONG + j), rows));
        build_end_row(&b);
    }
    return build_finish(&b, seed, kind);
}

/* Computes A*B twice by one plan, and checks C. */
static void check(hybrid_engine *engine, const hybrid_csr *A, const hybrid_csr *B,
                  const oracle *product)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_report report  = HYBRID_REPORT_INIT;
    hybrid_plan *plan;
    hybrid_csr C;

    o.split      = HYBRID_SPLIT_GPU;
    o.chunk_rows = A->rows / CHUNKS;
    expect(hybrid_spgemm_plan(engine, A, B, &o, &plan) == HYBRID_OK, "no plan");
    for (int run = 0; plan && run < 2; run++) {
        expect(hybrid_spgemm_run(plan, A, B, &C) == HYBRID_OK, "no product");
        expect(oracle_check(product, &C, 1) == NULL, "a wrong product");
        hybrid_csr_free(engine, &C);
        expect(hybrid_plan_report(plan, &report) == HYBRID_OK, "no report");
        expect(report.gathered == 1 && report.chunks >= CHUNKS, "another schedule");
    }
    hybrid_plan_destroy(plan);
}

static void check_kind(hybrid_engine *engine, int64_t rows, test_kind kind)
{
    hybrid_csr A = make(rows, 12, 1, kind), B = make(rows, LONG, 2, kind);
    oracle product;

    oracle_spgemm(&A, &B, &product);
    check(engine, &A, &B, &product);
    expect(hybrid_pin(engine, B.val, (size_t)B.nnz * hy_value_size(B.type)) == HYBRID_OK,
           "values cannot be pinned");
    expect(hybrid_pin(engine, B.col, (size_t)B.nnz * 4) == HYBRID_OK,
           "columns cannot be pinned");
    check(engine, &A, &B, &product);
    expect(hybrid_unpin(engine, B.val) == HYBRID_OK, "values cannot be unpinned");
    expect(hybrid_unpin(engine, B.col) == HYBRID_OK, "columns cannot be unpinned");
    oracle_free(&product);
    matrix_free(&A);
    matrix_free(&B);
}

int main(int argc, char **argv)
{
    const int64_t rows = argc > 1 ? atoi(argv[1]) : ROWS;
    hybrid_engine *engine;
    const hybrid_status status = open_cuda(0, &engine);

    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    settings_of(engine)->schedule = &hy_schedule_collect;
    check_kind(engine, rows, (test_kind){HYBRID_F32, HYBRID_I64, 1});
    check_kind(engine, rows, (test_kind){HYBRID_F64, HYBRID_I32, 1});
    hybrid_engine_destroy(engine);
    return expect_failed() > 0;
}
