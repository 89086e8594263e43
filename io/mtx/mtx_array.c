/* io/mtx/mtx_array.c - reads Matrix Market array files: dense, one value per line, by
   columns. */
#include "io/mtx/mtx.h"

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "base/memory/results.h"

typedef struct reader {
    const hy_mtx_header *header;
    hybrid_type type;
    hy_numbers *numbers;
    void *values;
} reader;

static const char *read_value(void *arg, const char *p, void *item, char *why)
{
    const reader *r = arg;
    return hy_mtx_value(p, r->header->field, r->type, r->numbers, item, why);
}

static void read_block(void *arg, hy_mtx_block *block)
{
    hy_block_read(block, sizeof(double), '%', read_value, arg);
}

static void put_values(void *arg, const void *items, int64_t count, int64_t first)
{
    const reader *r      = arg;
    const double *values = items;

    for (int64_t k = 0; k < count; k++)
        hy_value_put(r->type, r->values, first + k, values[k]);
}

/* Reads values in the order of the file. Makes room for no more values than the file can
   hold, if its size is known. */
static hybrid_status read_values(hy_context *ctx, hy_input *input, reader *r)
{
    hy_lines lines = {.input       = input,
                      .body        = r->header->body,
                      .announced   = r->header->count,
                      .noun        = "values",
                      .item_bytes  = sizeof(double),
                      .least_bytes = sizeof "1",
                      .read        = read_block,
                      .put         = put_values,
                      .arg         = r};
    hybrid_status status;

    HY_TRY_ELSE_DONE(hy_numbers_open(ctx, &r->numbers));
    HY_TRY_ELSE_DONE(hy_results_array(ctx, hy_lines_max(&lines), hy_value_size(r->type),
                                      "values of a matrix", &r->values));
    HY_TRY_ELSE_DONE(hy_lines_read(ctx, &lines));
done:
    hy_lines_close(ctx, &lines);
    hy_numbers_close(ctx, r->numbers);
    return status;
}

/* Work of a loop that expands a stored lower triangle: column j goes to column j of the
   full matrix and to its row j, negated there if the matrix is skew-symmetric. */
typedef struct expansion {
    const reader *r;
    void *to;
} expansion;

static hybrid_status expand_columns(void *arg, int part, int64_t begin, int64_t end)
{
    const expansion *x         = arg;
    const hy_mtx_header *h     = x->r->header;
    const hybrid_type type     = x->r->type;
    const hy_mtx_symmetry skew = h->symmetry == HY_MTX_SKEW;
    const int64_t n            = h->rows;
    (void)part;

    for (int64_t j = begin; j < end; j++) {
        int64_t at = skew ? j * (2 * n - j - 1) / 2 : j * (2 * n - j + 1) / 2;
        if (skew)
            hy_value_put(type, x->to, j + j * n, 0);
        for (int64_t i = skew ? j + 1 : j; i < n; i++, at++) {
            const double value = hy_value_at(type, x->r->values, at);
            hy_value_put(type, x->to, j + i * n, skew ? -value : value);
            hy_value_put(type, x->to, i + j * n, value);
        }
    }
    return HYBRID_OK;
}

static hybrid_status expand(hy_context *ctx, reader *r)
{
    const int64_t n = r->header->rows;
    expansion x     = {.r = r};

    HY_TRY(hy_results_array(ctx, n * n, hy_value_size(r->type), "values of a matrix",
                            &x.to));
    const hybrid_status status =
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, n, 16, expand_columns, &x);
    hy_results_release(ctx, r->values);
    r->values = x.to;
    return status;
}

hybrid_status hy_mtx_read_array(hy_context *ctx, hy_input *input,
                                const hy_mtx_header *header, hybrid_type type,
                                hybrid_dense *out)
{
    reader r = {.header = header, .type = type};
    hybrid_status status;

    HY_TRY_ELSE_DONE(read_values(ctx, input, &r));
    if (header->symmetry != HY_MTX_GENERAL)
        HY_TRY_ELSE_DONE(expand(ctx, &r));
    *out = (hybrid_dense){.rows  = header->rows,
                          .cols  = header->cols,
                          .ld    = header->rows,
                          .order = HYBRID_COL_MAJOR,
                          .data  = r.values,
                          .type  = type,
                          .space = HYBRID_SPACE_HOST};
    return HYBRID_OK;
done:
    hy_results_release(ctx, r.values);
    return status;
}
