/* partition/needs.c - which rows of B or X chunks wait for, and which are done with. */
#include "base/csr.h"
#include "base/pool.h"
#include "partition/chunks.h"

typedef struct needing {
    const hybrid_csr *A;
    hy_chunk *chunks;
    int64_t b_rows; /* SpGEMM; 0 for SpMM */
} needing;

/* The first and the last row of B or X that a chunk touches; and its own rows, which are
   rows of B too when A is squared, for the last. */
static hybrid_status find_needs(void *arg, int part, int64_t begin, int64_t end)
{
    const needing *n = arg;

    (void)part;
    for (int64_t c = begin; c < end; c++) {
        hy_chunk *chunk = &n->chunks[c];
        int64_t last    = (chunk->row_end < n->b_rows ? chunk->row_end : n->b_rows) - 1;
        int64_t first   = n->A->cols;
        for (int64_t i = chunk->row_begin; i < chunk->row_end; i++) {
            const int64_t start = hy_offset(n->A, i), stop = hy_offset(n->A, i + 1);
            if (start == stop)
                continue;
            first = n->A->col[start] < first ? n->A->col[start] : first;
            last  = n->A->col[stop - 1] > last ? n->A->col[stop - 1] : last;
        }
        chunk->first = first;
        chunk->needs = last + 1;
    }
    return HYBRID_OK;
}

hybrid_status hy_chunk_needs(hy_context *ctx, const hybrid_csr *A, int64_t b_rows,
                             hy_chunk *chunks, int64_t count)
{
    needing n = {A, chunks, b_rows};

    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, count, 1, find_needs, &n));
    for (int64_t c = count - 1; c > 0; c--) /* what later ones touch is not done with */
        if (chunks[c].first < chunks[c - 1].first)
            chunks[c - 1].first = chunks[c].first;
    return HYBRID_OK;
}
