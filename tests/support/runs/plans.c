/* tests/support/runs/plans.c - SpMM plans for a named variant. */
#include "support/runs/plans.h"

#include <string.h>

enum { PRIME_ROWS = 7, LARGER_PRIME = 61, MOST_CHUNKS = 100 };

const test_kind plan_kinds[PLAN_KINDS] = {{HYBRID_F64, HYBRID_I64, 1},
                                          {HYBRID_F32, HYBRID_I32, 0}};

int64_t plan_prime_rows(const hybrid_csr *A)
{
    return A->rows > MOST_CHUNKS * PRIME_ROWS ? LARGER_PRIME : PRIME_ROWS;
}

const char *plan_spmm(hybrid_engine *engine, const hybrid_csr *A, int64_t cols,
                      const hybrid_plan_options *options, hybrid_plan **plan)
{
    *plan                      = NULL;
    const hybrid_status status = hybrid_spmm_plan(engine, A, cols, options, plan);
    if (status == HYBRID_OK ||
        (status == HYBRID_UNSUPPORTED && strncmp(options->variant, "spmv.", 5) == 0))
        return NULL;
    return hybrid_engine_message(engine);
}
