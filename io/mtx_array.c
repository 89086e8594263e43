/* io/mtx_array.c - Matrix Market array files: dense, one value a line, column by column.
 */
#include "io/mtx.h"

#include "base/csr.h"
#include "base/pool.h"
#include "base/results.h"
#include "io/number.h"

typedef struct reader {
    const hy_mtx_header *header;
    hybrid_type type;
    locale_t c;
    void *values;
} reader;

static void put(void *data, hybrid_type type, int64_t at, double value)
{
    if (type == HYBRID_F64)
        ((double *)data)[at] = value;
    else
        ((float *)data)[at] = (float)value;
}

static double get(const void *data, hybrid_type type, int64_t at)
{
    return type == HYBRID_F64 ? ((const double *)data)[at] : ((const float *)data)[at];
}

static const char *read_value(void *arg, int64_t index, const char *p, char *why)
{
    const reader *r = arg;
    double value    = 0;

    p = hy_mtx_value(p, r->header->field, r->type, r->c, &value, why);
    if (p)
        put(r->values, r->type, index, value);
    return p;
}

/* Values in the order of the file; room only for what the file holds. */
static hybrid_status read_values(hy_context *ctx, const hy_source *source, reader *r)
{
    hy_lines lines = {0};
    hybrid_status status;
    const int64_t announced = r->header->count;

    r->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!r->c)
        return hy_fail(ctx, HYBRID_NO_MEMORY, "no memory for the C locale");
    HY_TRY_ELSE_DONE(hy_lines_open(ctx, source, r->header->body, &lines));
    HY_TRY_ELSE_DONE(
        hy_results_array(ctx, lines.count < announced ? lines.count : announced,
                         hy_value_size(r->type), "values of a matrix", &r->values));
    HY_TRY_ELSE_DONE(hy_lines_read(ctx, &lines, announced, "values", read_value, r));
done:
    hy_lines_close(ctx, &lines);
    freelocale(r->c);
    return status;
}

/* Column j of the lower triangle, and row j of the upper one. */
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
            put(x->to, type, j + j * n, 0);
        for (int64_t i = skew ? j + 1 : j; i < n; i++, at++) {
            const double value = get(x->r->values, type, at);
            put(x->to, type, j + i * n, skew ? -value : value);
            put(x->to, type, i + j * n, value);
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

hybrid_status hy_mtx_read_array(hy_context *ctx, const hy_source *source,
                                const hy_mtx_header *header, hybrid_type type,
                                hybrid_dense *out)
{
    reader r = {.header = header, .type = type};
    hybrid_status status;

    HY_TRY_ELSE_DONE(read_values(ctx, source, &r));
    if (header->symmetry != HY_MTX_GENERAL)
        HY_TRY_ELSE_DONE(expand(ctx, &r));
    *out = (hybrid_dense){.rows  = header->rows,
                          .cols  = header->cols,
                          .ld    = header->rows,
                          .order = HYBRID_COL_MAJOR,
                          .data  = r.values,
                          .type  = type};
    return HYBRID_OK;
done:
    hy_results_release(ctx, r.values);
    return status;
}
