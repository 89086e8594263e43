/* tests/support/products/bits.c - exact bits of SpGEMM under HYBRID_DETERMINISTIC. */
#include "support/products/bits.h"

#include <stdio.h>
#include <string.h>

#include "support/inputs/cases.h"
#include "support/check/plain_rows.h"

enum { PRIME_ROWS = 7, CHUNKINGS = 3 };

static const int64_t chunk_rows[] = {1, PRIME_ROWS, 0};
static const char *const cases[]  = {"power_law", "blocks", "long_row", "random"};

enum { CASES = sizeof cases / sizeof *cases };

static int complain(const char *variant, const test_case *t, int64_t rows,
                    const char *what)
{
    fprintf(stderr, "deterministic %s, case %s, f%d, %lld rows a chunk: %s\n", variant,
            t->name, t->A.type == HYBRID_F64 ? 64 : 32, (long long)rows, what);
    return 1;
}

static int check_run(hybrid_engine *engine, hybrid_plan *plan, const test_case *t,
                     const plain_rows *right, const char *variant, int64_t rows)
{
    hybrid_csr C;

    if (hybrid_spgemm_run(plan, &t->A, &t->B, &C) != HYBRID_OK)
        return complain(variant, t, rows, hybrid_engine_message(engine));
    const char *wrong = plain_rows_differ(right, &C);
    hybrid_csr_free(engine, &C);
    return wrong ? complain(variant, t, rows, wrong) : 0;
}

static int check_variant(hybrid_engine *engine, const test_case *t,
                         const plain_rows *right, const char *variant, int64_t rows,
                         int64_t *checked)
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
    const int failed = check_run(engine, plan, t, right, variant, rows);
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
        plain_rows right;
        case_named(cases[i / 2], kinds[i % 2], &t);
        plain_rows_make(&t.A, &t.B, &right);
        for (const char *const *name = names; *name; name++)
            for (int k = 0; k < CHUNKINGS && strncmp(*name, "spgemm", 6) == 0; k++)
                failed +=
                    check_variant(engine, &t, &right, *name, chunk_rows[k], checked);
        plain_rows_free(&right);
        case_free(&t);
    }
    return failed;
}
