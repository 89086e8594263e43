/* engine/api/narrow.c - converts 64-bit column indices to 32 bits for one call. */
#include "engine/api/narrow.h"

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "base/memory/results.h"

enum { NARROW_ENTRIES = 1 << 16 }; /* entries that a worker converts at a time */

typedef struct narrowing {
    const hybrid_csr *A;
    int32_t *to;
} narrowing;

/* Converts column indices [begin, end) of A to 32 bits. Returns BAD_MATRIX if one is out
   of range: if it, or its distance from the last column, is negative. The loop collects
   signs without a branch, so that it vectorises. */
static hybrid_status narrow_some(void *arg, int part, int64_t begin, int64_t end)
{
    const narrowing *n  = arg;
    const int64_t *from = n->A->col;
    const uint64_t last = (uint64_t)n->A->cols - 1;
    uint64_t signs      = 0;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        n->to[k] = (int32_t)from[k];
        signs |= (uint64_t)from[k] | (last - (uint64_t)from[k]);
    }
    return signs >> 63 ? HYBRID_BAD_MATRIX : HYBRID_OK;
}

/* Converts all columns of A. If one is out of range, returns the error of hy_csr_check(),
   which names the entry. */
static hybrid_status narrow_all(hy_context *ctx, const hybrid_csr *A, const char *name,
                                int32_t *to)
{
    narrowing n = {A, to};

    const hybrid_status status =
        hy_pool_for(ctx->pool, HY_PLAN, 0, A->nnz, NARROW_ENTRIES, narrow_some, &n);
    return status == HYBRID_BAD_MATRIX ? hy_csr_check(ctx, A, name) : status;
}

/* Returns the 32-bit columns of an earlier operand with the same column array, or
   NULL. */
static void *find_columns(const hy_narrow *narrow, const hybrid_csr *A)
{
    for (int i = 0; i < narrow->count; i++) {
        const hybrid_csr *B = narrow->from[i];
        if (A->col == B->col && A->nnz == B->nnz && A->cols == B->cols)
            return narrow->of[i].col;
    }
    return NULL;
}

/* Adds A, with the converted columns `col`, to the operands of the call. */
static void note(hy_narrow *narrow, const hybrid_csr *A, void *col)
{
    const int i = narrow->count++;

    narrow->from[i]        = A;
    narrow->of[i]          = *A;
    narrow->of[i].col      = col;
    narrow->of[i].col_type = HYBRID_I32;
}

static hybrid_status take(hy_context *ctx, hy_narrow *narrow, const hybrid_csr *A,
                          const char *name)
{
    void *col   = find_columns(narrow, A);
    void **copy = &narrow->copies[narrow->count];

    if (!col) {
        HY_TRY(hy_results_array(ctx, A->nnz, 4, "columns in 32 bits", copy));
        col = *copy;
        HY_TRY(narrow_all(ctx, A, name, col));
    }
    note(narrow, A, col);
    return HYBRID_OK;
}

hybrid_status hy_narrow_add(hy_context *ctx, hy_narrow *narrow, const hybrid_csr **A,
                            const char *name)
{
    int i = 0;

    if ((*A)->col_type != HYBRID_I64)
        return HYBRID_OK;
    while (i < narrow->count && narrow->from[i] != *A)
        i++;
    if (i == narrow->count)
        HY_TRY(take(ctx, narrow, *A, name));
    *A = &narrow->of[i];
    return HYBRID_OK;
}

hybrid_status hy_narrow_two(hy_context *ctx, hy_narrow *narrow, const hybrid_csr **A,
                            const hybrid_csr **B)
{
    HY_TRY(hy_narrow_add(ctx, narrow, A, "A"));
    return hy_narrow_add(ctx, narrow, B, "B");
}

void hy_narrow_free(hy_context *ctx, hy_narrow *narrow)
{
    for (int i = 0; i < HY_NARROW_MOST; i++) {
        hy_results_release(ctx, narrow->copies[i]);
        narrow->copies[i] = NULL;
    }
    narrow->count = 0;
}
