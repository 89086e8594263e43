/* engine/api/scale.c - Y = alpha*A*X + beta*Y with alpha == 0. A and X are not read, as
   in BLAS, so NaN in them has no effect. */
#include "engine/api/scale.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "pipeline/site/lane_set.h"

enum { GRAIN = 1 << 16 }; /* elements that a worker scales at a time */

typedef struct scaling {
    const hybrid_dense *Y;
    double beta;
    int64_t length; /* length of the runs of Y's elements that follow each other without
                       a gap: a row, a column, or all of Y */
} scaling;

#define DEFINE_SCALE(is, T, suffix, ...)                                                 \
    static void scale_##suffix(double beta, T *y, int64_t count)                         \
    {                                                                                    \
        for (int64_t i = 0; i < count; i++)                                              \
            y[i] = (T)(beta * (double)y[i]);                                             \
    }

HY_VALUE_TYPES(DEFINE_SCALE)

/* Sets `count` elements of y, which follow each other, to beta times their value. */
static void scale_run(const scaling *s, void *y, int64_t count)
{
    if (s->beta == 0)
        memset(y, 0, (size_t)count * hy_value_size(s->Y->type));
    else
        HY_CALL_BY_TYPE(s->Y->type, scale, s->beta, y, count);
}

/* Scales elements [begin, end) of Y. Elements are counted without the gaps. */
static hybrid_status scale_part(void *arg, int part, int64_t begin, int64_t end)
{
    const scaling *s = arg;

    (void)part;
    for (int64_t k = begin, next; k < end; k = next) {
        const int64_t line = k / s->length;
        next               = hy_min((line + 1) * s->length, end);
        scale_run(s, hy_dense_at(s->Y, line * s->Y->ld + k % s->length), next - k);
    }
    return HYBRID_OK;
}

/* Scales Y on the device that holds it, in the lane set `lanes`. */
static hybrid_status combine(hy_lane_set *lanes, double beta, const hybrid_dense *Y)
{
    const hy_backend_ops *ops = lanes->backend->ops;
    const int in_rows         = Y->order == HYBRID_ROW_MAJOR;
    hy_lane *lane             = lanes->lanes[HY_ON_RUN];
    const hy_combining c      = {.to     = Y->data,
                                 .to_row = in_rows ? Y->ld : 1,
                                 .to_col = in_rows ? 1 : Y->ld,
                                 .rows   = Y->rows,
                                 .cols   = Y->cols,
                                 .filled = Y->cols,
                                 .beta   = beta,
                                 .type   = Y->type};
    hy_mark *mark;

    HY_TRY(hy_lane_set_mark(lanes, &mark));
    HY_TRY(ops->combine(lane, &c));
    HY_TRY(ops->mark_set(lane, mark));
    return ops->host_wait(mark);
}

static hybrid_status scale_on_device(hybrid_engine *engine, double beta,
                                     const hybrid_dense *Y)
{
    hy_lane_set *lanes;

    HY_TRY(hy_lane_set_acquire(&engine->ctx, engine->spaces.device, &lanes));
    const hybrid_status status = combine(lanes, beta, Y);
    hy_lane_set_release(&engine->ctx, lanes, status == HYBRID_OK);
    return status;
}

static hybrid_status scale_on_host(hybrid_engine *engine, double beta,
                                   const hybrid_dense *Y)
{
    const int64_t count = Y->rows * Y->cols;
    const int64_t line  = Y->order == HYBRID_ROW_MAJOR ? Y->cols : Y->rows;
    scaling s           = {Y, beta, Y->ld == line ? count : line};

    return hy_pool_for(engine->ctx.pool, HY_COMPUTE, 0, count, GRAIN, scale_part, &s);
}

hybrid_status hy_scale(hybrid_engine *engine, double beta, const hybrid_dense *Y,
                       const hy_beginning *start, hybrid_report *report)
{
    hy_context *ctx              = &engine->ctx;
    const int64_t count          = Y->rows * Y->cols;
    const int64_t bytes          = count * (int64_t)hy_value_size(Y->type);
    const int there              = Y->space == HYBRID_SPACE_DEVICE;
    const hy_reference reference = {.down = there ? 0 : bytes};

    hy_meter_reset_peak(&ctx->memory.meter);
    if (beta != 1 && count > 0)
        HY_TRY((there ? scale_on_device : scale_on_host)(engine, beta, Y));
    *report                 = (hybrid_report)HYBRID_REPORT_INIT;
    report->rows            = Y->rows;
    report->nnz_out         = count;
    report->host_bytes      = there ? 0 : beta == 0 ? bytes : beta == 1 ? 0 : 2 * bytes;
    report->peak_host_bytes = hy_meter_peak(&ctx->memory.meter);
    const hy_backend *host  = engine->host;
    hy_usage_end(engine, &host, 1, start, &reference, report);
    return HYBRID_OK;
}
