/* tests/support/check/right_products.c - right products, which verification must
   accept. */
#include "tests/support/check/right_products.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/inputs/cases.h"
#include "tests/support/inputs/long_rows.h"

enum { SIZES = 40, TRIALS = 1, LONG_TRIALS = 5 };

static const double EQUAL = 0.1; /* value of all entries, with which rounding errors of
                                    sums grow much faster than with random values */

typedef struct product {
    hybrid_engine *engine;
    const char *variant;
    unsigned flags;
    uint64_t seed;
    int trials;
    int64_t *verified; /* counter of verified products, increased by each one */
} product;

static int complain(const product *p, const char *what)
{
    fprintf(stderr, "%s, flags %u, seed %llu: %s\n", p->variant, p->flags,
            (unsigned long long)p->seed, what);
    return 1;
}

/* Returns 1 after printing a message if the product failed or verification rejected it
   (row >= 0), else 0. Counts a product that did not fail. */
static int judge(const product *p, hybrid_status status, int64_t row)
{
    if (status != HYBRID_OK)
        return complain(p, hybrid_engine_message(p->engine));
    ++*p->verified;
    return row >= 0 ? complain(p, "false alarm") : 0;
}

static int verify_spgemm(const product *p, const hybrid_csr *A, const hybrid_csr *B)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan           = NULL;
    hybrid_csr C                = {0};
    int64_t row                 = -1;

    options.variant      = p->variant;
    options.flags        = p->flags;
    hybrid_status status = hybrid_spgemm_plan(p->engine, A, B, &options, &plan);
    if (status == HYBRID_UNSUPPORTED && (p->flags & HYBRID_DETERMINISTIC))
        return 0;
    if (status == HYBRID_OK)
        status = hybrid_spgemm_run(plan, A, B, &C);
    if (status == HYBRID_OK)
        status = hybrid_verify_spgemm(p->engine, A, B, &C, p->trials, p->seed, &row);
    const int wrong = judge(p, status, row);
    hybrid_csr_free(p->engine, &C);
    hybrid_plan_destroy(plan);
    return wrong;
}

static int verify_spmm(const product *p, const hybrid_csr *A, const hybrid_dense *X,
                       hybrid_dense *Y)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan           = NULL;
    int64_t row                 = -1;

    options.variant      = p->variant;
    options.flags        = p->flags;
    hybrid_status status = hybrid_spmm_plan(p->engine, A, X->cols, &options, &plan);
    if (status == HYBRID_UNSUPPORTED)
        return 0; /* SpMV variants refuse more than one column */
    if (status == HYBRID_OK)
        status = hybrid_spmm_run(plan, 1, A, X, 0, Y);
    if (status == HYBRID_OK)
        status = (p->flags & HYBRID_ALLOW_TF32
                      ? hybrid_verify_spmm_tf32
                      : hybrid_verify_spmm)(p->engine, A, X, Y, p->trials, p->seed, &row);
    hybrid_plan_destroy(plan);
    return judge(p, status, row);
}

/* Sets values that are random, all equal, or between 1e-6 and 1e6 in size. */
static void set_values(void *val, hybrid_type type, int64_t count, uint64_t seed)
{
    const uint64_t which = test_hash(seed, 0) % 3;

    for (int64_t k = 0; k < count; k++) {
        const double v        = test_number(seed, k, 0);
        const double exponent = (double)(test_hash(seed, (uint64_t)k) % 13) - 6;
        value_set(val, type, k,
                  which == 0   ? v
                  : which == 1 ? EQUAL
                               : v * pow(10, exponent));
    }
}

static int64_t size_from(uint64_t seed, uint64_t k)
{
    return 1 + (int64_t)(test_hash(seed, k) % SIZES);
}

static int small_spgemm(const product *p, test_kind kind)
{
    const int64_t rows = size_from(p->seed, 1), inner = size_from(p->seed, 2);
    const int64_t cols = size_from(p->seed, 3);
    hybrid_csr A, B;

    matrix_random(rows, inner, (double)inner / 4, (unsigned)p->seed, kind, &A);
    matrix_random(inner, cols, (double)cols / 4, (unsigned)p->seed + 1, kind, &B);
    set_values(A.val, A.type, A.nnz, 2 * p->seed);
    set_values(B.val, B.type, B.nnz, 2 * p->seed + 1);
    const int wrong = verify_spgemm(p, &A, &B);
    matrix_free(&A);
    matrix_free(&B);
    return wrong;
}

static int small_spmm(const product *p, test_kind kind)
{
    const int64_t rows = size_from(p->seed, 1), inner = size_from(p->seed, 2);
    const int64_t cols       = 1 + size_from(p->seed, 3) / 4;
    const hybrid_order order = p->seed & 16 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR;
    hybrid_csr A;
    hybrid_dense X, Y;

    matrix_random(rows, inner, (double)inner / 4, (unsigned)p->seed, kind, &A);
    dense_make(inner, cols, 0, order, (unsigned)p->seed + 1, kind, &X);
    dense_make(rows, cols, 0, order, (unsigned)p->seed + 2, kind, &Y);
    set_values(A.val, A.type, A.nnz, 2 * p->seed);
    set_values(X.data, X.type, inner * cols, 2 * p->seed + 1);
    const int wrong = verify_spmm(p, &A, &X, &Y);
    matrix_free(&A);
    dense_free(&X);
    dense_free(&Y);
    return wrong;
}

static int small_product(hybrid_engine *engine, const char *variant, uint64_t seed,
                         int64_t *verified)
{
    const uint64_t bits  = test_hash(seed, 0);
    const test_kind kind = {bits & 1 ? HYBRID_F32 : HYBRID_F64,
                            bits & 2 ? HYBRID_I32 : HYBRID_I64, 0};
    product p = {engine, variant, 0, seed, TRIALS, verified};

    if (bits & 4)
        p.flags |= HYBRID_DETERMINISTIC;
    if (strncmp(variant, "spgemm", 6) == 0)
        return small_spgemm(&p, kind);
    if (bits & 8)
        p.flags |= HYBRID_ALLOW_TF32;
    return small_spmm(&p, kind);
}

int right_products(hybrid_engine *engine, const char *const *names, int64_t count,
                   int64_t *verified)
{
    uint64_t seed = 0;
    int wrong     = 0;

    while (seed < (uint64_t)count)
        for (const char *const *name = names; *name; name++)
            wrong += small_product(engine, *name, seed++, verified);
    return wrong;
}

/* ---- long rows ---- */

static int long_product(const product *p, const long_rows *shape, hybrid_type type)
{
    hybrid_csr A, B;

    long_rows_make(shape, type, LONG_EQUAL, &A, &B);
    const int wrong = verify_spgemm(p, &A, &B);
    matrix_free(&A);
    matrix_free(&B);
    if (wrong)
        fprintf(stderr, "these were of \"%s\"\n", shape->name);
    return wrong;
}

int right_long_rows(hybrid_engine *engine, const char *const *names, int64_t *verified)
{
    int wrong = 0;

    for (; *names; names++) {
        const product p = {engine, *names, 0, 1, LONG_TRIALS, verified};
        if (strncmp(*names, "spgemm", 6) != 0)
            continue;
        for (int n = 0; n < LONG_ROWS; n++) {
            wrong += long_product(&p, &long_rows_table[n], HYBRID_F32);
            wrong += long_product(&p, &long_rows_table[n], HYBRID_F64);
        }
    }
    return wrong;
}
