/* partition/pattern/stamps.c - counts the rows of B or X that a growing chunk touches. */
#include "partition/pattern/stamps.h"

#include "base/data/csr.h"
#include "base/threads/pool.h"

hybrid_status hy_stamps_open(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                             hy_stamps *out)
{
    void *last;

    HY_TRY(hy_array(ctx, A->cols, sizeof *out->last, "stamps of touched rows", &last));
    *out = (hy_stamps){ctx, A, B, last};
    const hybrid_status status =
        hy_pool_set(ctx->pool, HY_PLAN, last, 0xff, A->cols * (int64_t)sizeof *out->last);
    if (status != HYBRID_OK)
        hy_stamps_close(out);
    return status;
}

void hy_stamps_close(hy_stamps *stamps)
{
    if (stamps->last)
        hy_array_free(stamps->ctx, stamps->last);
    *stamps = (hy_stamps){.last = NULL};
}

hybrid_status hy_stamps_touch(const hy_stamps *stamps, int64_t row, int64_t chunk,
                              hy_reach *sum)
{
    const hybrid_csr *A = stamps->A, *B = stamps->B;
    const int64_t end = hy_offset(A, row + 1);

    for (int64_t k = hy_offset(A, row); k < end; k++) {
        const int64_t col = hy_cols(A)[k];
        if (stamps->last[col] == chunk)
            continue;
        stamps->last[col] = chunk;
        sum->rows++;
        sum->entries += B ? hy_offset(B, col + 1) - hy_offset(B, col) : 0;
    }
    return hy_progress_check(&stamps->ctx->progress);
}
