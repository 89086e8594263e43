/* partition/pattern/hypersparse.c - A without its empty rows and columns. */
#include "partition/pattern/hypersparse.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "base/memory/results.h"

/* ROWS, ENTRIES: number of rows, and of entries, that one worker takes at a time */
enum { ROWS = 1 << 14, ENTRIES = 1 << 16 };

typedef struct making {
    const hybrid_csr *A;
    const hy_hypersparse *to;
} making;

static hybrid_status make_offsets(void *arg, int part, int64_t begin, int64_t end)
{
    const making *m  = arg;
    int64_t *row_ptr = m->to->A.row_ptr;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        row_ptr[i] = hy_offset(m->A, m->to->rows.rows[i]);
    return HYBRID_OK;
}

static hybrid_status make_cols(void *arg, int part, int64_t begin, int64_t end)
{
    const making *m = arg;

    (void)part;
    hy_renumber(&m->to->cols, hy_cols(m->A) + begin, end - begin,
                hy_cols(&m->to->A) + begin);
    return HYBRID_OK;
}

/* Allocates the arrays of the reduced A in pages that the engine pools: a one-shot
   product would otherwise wait for fresh pages each time. */
static hybrid_status open_arrays(hy_context *ctx, hybrid_csr *out)
{
    HY_TRY(hy_results_array(ctx, out->rows + 1, 8, "offsets of rows that are not empty",
                            &out->row_ptr));
    void *array;
    HY_TRY(hy_results_array(ctx, out->nnz, 4, "columns numbered anew", &array));
    out->col = array;
    return HYBRID_OK;
}

hybrid_status hy_hypersparse_make(hy_context *ctx, const hybrid_csr *A, hy_hypersparse *h)
{
    hybrid_csr *out = &h->A;
    making m        = {A, h};

    HY_TRY(hy_touched_list(ctx, &h->rows));
    HY_TRY(hy_touched_list(ctx, &h->cols));
    *out = (hybrid_csr){.rows        = h->rows.count,
                        .cols        = h->cols.count,
                        .nnz         = A->nnz,
                        .offset_type = HYBRID_I64,
                        .type        = A->type,
                        .col_type    = HYBRID_I32,
                        .space       = HYBRID_SPACE_HOST};
    HY_TRY(open_arrays(ctx, out));
    ((int64_t *)out->row_ptr)[out->rows] = A->nnz;
    HY_TRY(hy_pool_for(ctx->pool, HY_PLAN, 0, out->rows, ROWS, make_offsets, &m));
    return hy_pool_for(ctx->pool, HY_PLAN, 0, out->nnz, ENTRIES, make_cols, &m);
}

void hy_hypersparse_free(hy_context *ctx, hy_hypersparse *h)
{
    hy_results_release(ctx, h->A.row_ptr);
    hy_results_release(ctx, h->A.col);
    hy_touched_free(ctx, &h->rows);
    hy_touched_free(ctx, &h->cols);
    memset(h, 0, sizeof *h);
}
