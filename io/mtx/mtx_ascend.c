/* io/mtx/mtx_ascend.c - builds compressed rows from entries that already ascend.

   Files that were written from compressed rows have such entries. The arrays of columns
   and values become those of the result. */
#include "io/mtx/mtx.h"

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "base/memory/results.h"

enum { PIECE = 1 << 16 };

/* Work of a loop over pieces of the entries, which sets the offsets of rows. The first
   entry of a row sets the offset of this row and of the empty rows before it. The last
   piece sets the offsets after the last entry. */
typedef struct rows {
    const hy_entries *in;
    int64_t rows;
    int64_t *row_ptr;
} rows;

static void set_from(const rows *r, int64_t after, int64_t row, int64_t offset)
{
    for (int64_t i = after + 1; i <= row; i++)
        r->row_ptr[i] = offset;
}

static hybrid_status set_offsets(void *arg, int part, int64_t begin, int64_t end)
{
    const rows *r      = arg;
    const int32_t *row = r->in->row;
    int64_t before     = begin > 0 ? row[begin - 1] : -1;
    (void)part;

    for (int64_t k = begin; k < end; k++) {
        if (row[k] != before)
            set_from(r, before, row[k], k);
        before = row[k];
    }
    if (end == r->in->count)
        set_from(r, before, r->rows, end);
    return HYBRID_OK;
}

typedef struct narrowing {
    const double *from;
    float *to;
} narrowing;

static hybrid_status narrow(void *arg, int part, int64_t begin, int64_t end)
{
    const narrowing *n = arg;
    (void)part;

    for (int64_t k = begin; k < end; k++)
        n->to[k] = (float)n->from[k];
    return HYBRID_OK;
}

/* Makes the values of the result: those of the entries as they are, or a new array of
   32-bit values. */
static hybrid_status take_values(hy_context *ctx, hy_entries *in, hybrid_csr *out)
{
    if (hy_value_size(out->type) == sizeof *in->val) {
        out->val = in->val;
        in->val  = NULL;
        return HYBRID_OK;
    }
    HY_TRY(
        hy_results_array(ctx, in->count, sizeof(float), "values of a matrix", &out->val));
    narrowing n = {in->val, out->val};
    return hy_pool_for(ctx->pool, HY_COMPUTE, 0, in->count, PIECE, narrow, &n);
}

hybrid_status hy_mtx_build_ascending(hy_context *ctx, const hy_mtx_header *header,
                                     hy_entries *entries, hybrid_type type,
                                     hybrid_csr *out)
{
    hybrid_csr A = {.rows        = header->rows,
                    .cols        = header->cols,
                    .nnz         = entries->count,
                    .offset_type = HYBRID_I64,
                    .type        = type,
                    .col_type    = HYBRID_I32,
                    .space       = HYBRID_SPACE_HOST};
    rows r       = {.in = entries, .rows = header->rows};
    hybrid_status status;

    HY_TRY_ELSE_DONE(
        hy_results_array(ctx, A.rows + 1, 8, "offsets of a matrix", &A.row_ptr));
    r.row_ptr = A.row_ptr;
    set_from(&r, -1, A.nnz > 0 ? -1 : A.rows, 0);
    HY_TRY_ELSE_DONE(
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, A.nnz, PIECE, set_offsets, &r));
    HY_TRY_ELSE_DONE(take_values(ctx, entries, &A));
    A.col        = entries->col;
    entries->col = NULL;
    *out         = A;
done:
    if (status != HYBRID_OK)
        hy_csr_free(ctx, &A);
    return status;
}
