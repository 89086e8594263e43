/* engine/run/pattern.c - what a plan keeps of the patterns that it was made for. */
#include "engine/run/pattern.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"

enum { KEEP_ROWS = 1 << 15 };

int hy_pattern_same(const hybrid_csr *A, const hybrid_csr *B)
{
    return A->row_ptr == B->row_ptr && A->col == B->col &&
           A->offset_type == B->offset_type && A->rows == B->rows && A->nnz == B->nnz;
}

static hybrid_status hash_both(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                               uint64_t *a, uint64_t *b)
{
    HY_TRY(hy_csr_hash(ctx, A, a));
    *b = *a;
    return hy_pattern_same(A, B) ? HYBRID_OK : hy_csr_hash(ctx, B, b);
}

hybrid_status hy_pattern_note(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                              hy_pattern *out)
{
    void *array;

    HY_TRY(hash_both(ctx, A, B, &out->a, &out->b));
    HY_TRY(hy_array(ctx, A->rows + 1, 8, "row offsets of later results", &array));
    out->row_ptr = array;
    out->known   = 0;
    return HYBRID_OK;
}

void hy_pattern_free(hy_context *ctx, hy_pattern *pattern)
{
    hy_array_free(ctx, pattern->row_ptr);
    memset(pattern, 0, sizeof *pattern);
}

hybrid_status hy_pattern_check(hy_context *ctx, const hy_pattern *pattern, uint64_t a,
                               uint64_t b)
{
    if (a == pattern->a && b == pattern->b)
        return HYBRID_OK;
    return hy_fail(ctx, HYBRID_BAD_STATE,
                   "the pattern of %s differs from the plan's: only values may change "
                   "between runs of a plan; make a plan for the new pattern",
                   a != pattern->a ? "A" : "B");
}

typedef struct keeping {
    const hybrid_csr *C;
    int64_t *to;
} keeping;

static hybrid_status keep(void *arg, int part, int64_t begin, int64_t end)
{
    const keeping *k = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        k->to[i] = hy_offset(k->C, i);
    return HYBRID_OK;
}

void hy_pattern_record(hy_context *ctx, hy_pattern *pattern, const hybrid_csr *C)
{
    keeping k = {C, pattern->row_ptr};

    if (!pattern->row_ptr || pattern->known)
        return;
    pattern->known = hy_pool_for(ctx->pool, HY_COMPUTE, 0, C->rows + 1, KEEP_ROWS, keep,
                                 &k) == HYBRID_OK;
}
