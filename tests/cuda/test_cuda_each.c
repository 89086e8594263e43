/* tests/cuda/test_cuda_each.c - rows of C handed over from the GPU.

   Tests each variant, with budgets that hold B or do not hold it. The test is skipped
   without a GPU. It is plain C without a test framework, because GPU machines seldom have
   one. */
#include <string.h>

#include "base/data/csr.h"
#include "support/inputs/cases.h"
#include "support/check/expect.h"
#include "support/engines/open_cuda.h"
#include "support/check/oracle.h"

enum { SKIP = 77, ROWS = 30000, CHUNK = 1000, LAST = 7 };

/* A stored C, with which received rows are compared. */
typedef struct compared {
    const hybrid_csr *C;
    int64_t rows, panels, last; /* numbers of received rows and parts; last: number of
                                   the part that ends the run, -1: none */
    int wrong;
} compared;

static int compare(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    compared *c            = user;
    const int64_t *there   = (const int64_t *)c->C->row_ptr + row_begin;
    const int64_t *row_ptr = rows->row_ptr;

    c->wrong |= row_begin != c->rows || there[rows->rows] - there[0] != rows->nnz;
    for (int64_t i = 0; i <= rows->rows && !c->wrong; i++)
        c->wrong |= row_ptr[i] != there[i] - there[0];
    if (!c->wrong)
        c->wrong =
            memcmp(rows->col, hy_cols(c->C) + there[0], (size_t)rows->nnz * 4) != 0;
    for (int64_t k = 0; k < rows->nnz && !c->wrong; k++)
        c->wrong |= value_at(rows->val, rows->type, k) !=
                    value_at(c->C->val, rows->type, there[0] + k);
    c->rows += rows->rows;
    return c->panels++ == c->last;
}

static void check_plan(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *C)
{
    compared all = {.C = C, .last = -1}, some = {.C = C, .last = LAST};

    expect(hybrid_spgemm_each(plan, A, A, compare, &all) == HYBRID_OK, "a run");
    expect(all.rows == ROWS && !all.wrong, "all rows");
    expect(hybrid_spgemm_each(plan, A, A, compare, &some) == HYBRID_CANCELLED,
           "a run that ends early");
    expect(some.panels == LAST + 1 && !some.wrong, "some rows");
    all = (compared){.C = C, .last = -1};
    expect(hybrid_spgemm_each(plan, A, A, compare, &all) == HYBRID_OK && !all.wrong,
           "a run after that");
}

static void check_variants(hybrid_engine *engine, const hybrid_csr *A)
{
    static const char *const names[] = {"spgemm.cuda.hash", "spgemm.cuda.dense",
                                        "spgemm.cuda.esc", "spgemm.cuda.esc_dup"};
    oracle reference;
    hybrid_csr C;

    oracle_spgemm(A, A, &reference);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
        hybrid_plan *plan;
        options.variant    = names[i];
        options.chunk_rows = CHUNK;
        expect(hybrid_spgemm_plan(engine, A, A, &options, &plan) == HYBRID_OK, names[i]);
        if (expect_failed())
            break;
        expect(hybrid_spgemm_run(plan, A, A, &C) == HYBRID_OK, names[i]);
        expect(!oracle_check(&reference, &C, 1), "C");
        check_plan(plan, A, &C);
        hybrid_csr_free(engine, &C);
        hybrid_plan_destroy(plan);
    }
    oracle_free(&reference);
}

int main(void)
{
    static const size_t budgets[] = {0, (size_t)2 << 20};

    for (int i = 0; i < 2 && !expect_failed(); i++) {
        const test_kind kind = {i ? HYBRID_F32 : HYBRID_F64, HYBRID_I64, 1};
        hybrid_engine *engine;
        hybrid_csr A;
        const hybrid_status status = open_cuda(budgets[i], &engine);
        if (status == HYBRID_NO_DEVICE)
            return SKIP;
        expect(status == HYBRID_OK, "an engine");
        if (expect_failed())
            break;
        matrix_random(ROWS, ROWS, 12, 5, kind, &A);
        check_variants(engine, &A);
        matrix_free(&A);
        hybrid_engine_destroy(engine);
    }
    return expect_failed() > 0;
}
