/* tests/support/bits.c - products under HYBRID_DETERMINISTIC, bit for bit. */
#include "support/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"

enum { PRIME_ROWS = 7, CHUNKINGS = 3 };

static const int64_t chunk_rows[] = {1, PRIME_ROWS, 0};
static const char *const cases[]  = {"power_law", "blocks", "long_row", "random"};

enum { CASES = sizeof cases / sizeof *cases };

static int64_t offset_at(const hybrid_csr *M, int64_t i)
{
    return M->offset_type == HYBRID_I64 ? ((const int64_t *)M->row_ptr)[i]
                                        : ((const int32_t *)M->row_ptr)[i];
}

/* a + b * c in the type, rounded twice. */
static double add_product(hybrid_type type, double a, double b, double c)
{
    if (type == HYBRID_F64) {
        const volatile double product = b * c;
        return a + product;
    }
    const volatile float product = (float)b * (float)c;
    return (double)((float)a + product);
}

/* Row i of A*B, where it has entries, in `sum`. */
static void row_of(const test_case *t, int64_t i, double *sum)
{
    const hybrid_csr *A = &t->A, *B = &t->B;

    for (int64_t k = offset_at(A, i); k < offset_at(A, i + 1); k++)
        for (int64_t l = offset_at(B, A->col[k]); l < offset_at(B, A->col[k] + 1); l++)
            sum[B->col[l]] =
                add_product(A->type, sum[B->col[l]], value_at(A->val, A->type, k),
                            value_at(B->val, B->type, l));
}

/* The first row of C that differs, or -1. */
static int64_t differing_row(const test_case *t, const hybrid_csr *C)
{
    double *sum = malloc((size_t)C->cols * sizeof *sum);
    int64_t row = -1;

    if (!sum)
        abort();
    for (int64_t i = 0; i < C->rows && row < 0; i++) {
        memset(sum, 0, (size_t)C->cols * sizeof *sum);
        row_of(t, i, sum);
        for (int64_t k = offset_at(C, i); k < offset_at(C, i + 1); k++)
            if (value_at(C->val, C->type, k) != sum[C->col[k]])
                row = i;
    }
    free(sum);
    return row;
}

static int complain(const char *variant, const test_case *t, int64_t rows,
                    const char *what)
{
    fprintf(stderr, "deterministic %s, case %s, f%d, %lld rows a chunk: %s\n", variant,
            t->name, t->A.type == HYBRID_F64 ? 64 : 32, (long long)rows, what);
    return 1;
}

static int check_run(hybrid_engine *engine, hybrid_plan *plan, const test_case *t,
                     const char *variant, int64_t rows)
{
    hybrid_csr C;
    char what[64];

    if (hybrid_spgemm_run(plan, &t->A, &t->B, &C) != HYBRID_OK)
        return complain(variant, t, rows, hybrid_engine_message(engine));
    const int64_t row = differing_row(t, &C);
    hybrid_csr_free(engine, &C);
    snprintf(what, sizeof what, "row %lld has other bits", (long long)row);
    return row < 0 ? 0 : complain(variant, t, rows, what);
}

static int check_variant(hybrid_engine *engine, const test_case *t, const char *variant,
                         int64_t rows, int64_t *checked)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.variant    = variant;
    options.chunk_rows = rows;
    options.flags      = HYBRID_DETERMINISTIC;
    const hybrid_status status =
        hybrid_spgemm_plan(engine, &t->A, &t->B, &options, &plan);
    if (status == HYBRID_UNSUPPORTED &&
        strstr(hybrid_engine_message(engine), "no fixed order"))
        return 0;
    if (status != HYBRID_OK)
        return complain(variant, t, rows, hybrid_engine_message(engine));
    const int failed = check_run(engine, plan, t, variant, rows);
    hybrid_plan_destroy(plan);
    ++*checked;
    return failed;
}

int bits_check(hybrid_engine *engine, const char *const *names, int64_t *checked)
{
    static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 0},
                                      {HYBRID_F64, HYBRID_I64, 0}};
    int failed                     = 0;

    for (int i = 0; i < CASES * 2; i++) {
        test_case t;
        case_named(cases[i / 2], kinds[i % 2], &t);
        for (const char *const *name = names; *name; name++)
            for (int k = 0; k < CHUNKINGS && strncmp(*name, "spgemm", 6) == 0; k++)
                failed += check_variant(engine, &t, *name, chunk_rows[k], checked);
        case_free(&t);
    }
    return failed;
}
