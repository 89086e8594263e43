/* tests/support/inputs/large.c - products that occupy a whole device. */
#include "support/inputs/large.h"

#include <stdio.h>
#include <string.h>

#include "support/inputs/builder.h"
#include "support/inputs/cases.h"
#include "support/check/oracle.h"

enum { KINDS = 2, LENGTHS = 3, WIDTHS = LARGE_PRODUCTS / KINDS / LENGTHS };

static const int64_t widths[WIDTHS] = {17, 31,  32,  33,  35,  64,  65,  66,
                                       98, 100, 128, 129, 131, 132, 196, 257};
/* Mean numbers of entries of a row. A kernel divides rows and entries into equal tiles
   (partition/format/merge.h); with the last number there are many tiles. */
static const double lengths[]  = {3, 11, 18};
static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F64, HYBRID_I64, 0}};

static int check(hybrid_engine *engine, const char *name, const hybrid_csr *A,
                 int64_t width, test_kind kind)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    const char *wrong     = NULL;
    hybrid_plan *plan     = NULL;
    hybrid_dense X, Y, before;

    dense_make(A->cols, width, 0, HYBRID_ROW_MAJOR, 3, kind, &X);
    dense_make(A->rows, width, 0, HYBRID_ROW_MAJOR, 4, kind, &Y);
    dense_copy(&Y, &before);
    o.variant    = name;
    o.chunk_rows = A->rows; /* the plan has all of A in one chunk */
    if (hybrid_spmm_plan(engine, A, width, &o, &plan) != HYBRID_OK ||
        hybrid_spmm_run(plan, 1, A, &X, 0, &Y) != HYBRID_OK)
        wrong = hybrid_engine_message(engine);
    else
        wrong = oracle_check_spmm(1, A, &X, 0, &before, &Y, kind.integers);
    if (wrong)
        fprintf(stderr, "%s, %lld rows, %lld entries, %lld columns: %s\n", name,
                (long long)A->rows, (long long)A->nnz, (long long)width, wrong);
    hybrid_plan_destroy(plan);
    dense_free(&before);
    dense_free(&Y);
    dense_free(&X);
    return wrong != NULL;
}

int large_check(hybrid_engine *engine, const char *const *names, int64_t rows, int step,
                int64_t *checked)
{
    int failed = 0;

    for (int i = 0; i < KINDS * LENGTHS; i++) {
        const test_kind kind = kinds[i % KINDS];
        hybrid_csr A;
        matrix_random(rows, rows, lengths[i / KINDS], 8, kind, &A);
        for (const char *const *name = names; *name; name++)
            for (int w = i % step; w < WIDTHS; w += step) {
                if (strncmp(*name, "spmm.", 5) != 0)
                    continue;
                failed += check(engine, *name, &A, widths[w], kind);
                ++*checked;
            }
        matrix_free(&A);
    }
    return failed;
}

/* ---- SpGEMM ---- */

enum { B_ROWS = 5000, B_COLS = 200000, B_EACH = 64, DOUBLINGS = 13 };

/* Makes a matrix of `like` rows with 1 entry, `like` with 2, `like` with 4, and so on up
   to 4096. */
static hybrid_csr rising(int like, test_kind kind)
{
    builder b = build_start((int64_t)like * DOUBLINGS, B_ROWS);

    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t k = 0; k < (int64_t)1 << (i / like); k++)
            build_add(&b, (i * 31 + k) % B_ROWS);
        build_end_row(&b);
    }
    return build_finish(&b, 3, kind);
}

static int check_spgemm(hybrid_engine *engine, const char *name, const hybrid_csr *A,
                        const hybrid_csr *B, const oracle *reference, test_kind kind)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    const char *wrong     = NULL;
    hybrid_plan *plan     = NULL;
    hybrid_csr C;

    o.variant = name;
    if (hybrid_spgemm_plan(engine, A, B, &o, &plan) != HYBRID_OK ||
        hybrid_spgemm_run(plan, A, B, &C) != HYBRID_OK) {
        wrong = hybrid_engine_message(engine);
    } else {
        wrong = oracle_check(reference, &C, kind.integers);
        hybrid_csr_free(engine, &C);
    }
    if (wrong)
        fprintf(stderr, "%s, rows of up to %d products: %s\n", name,
                B_EACH << (DOUBLINGS - 1), wrong);
    hybrid_plan_destroy(plan);
    return wrong != NULL;
}

int large_check_spgemm(hybrid_engine *engine, const char *const *names, int like,
                       int64_t *checked)
{
    int failed = 0;

    for (int i = 0; i < KINDS; i++) {
        hybrid_csr A = rising(like, kinds[i]), B;
        oracle reference;
        matrix_random(B_ROWS, B_COLS, B_EACH, 4, kinds[i], &B);
        oracle_spgemm(&A, &B, &reference);
        for (const char *const *name = names; *name; name++)
            if (strncmp(*name, "spgemm.", 7) == 0) {
                failed += check_spgemm(engine, *name, &A, &B, &reference, kinds[i]);
                ++*checked;
            }
        oracle_free(&reference);
        matrix_free(&A);
        matrix_free(&B);
    }
    return failed;
}
