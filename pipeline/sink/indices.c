/* pipeline/sink/indices.c - stores offsets and columns of a result in 32 or 64 bits. */
#include "pipeline/sink/indices.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    NEAR_COLUMNS = 1024, /* columns that are converted at once; they fit the first-level
                            cache */
    CONVERT_GRAIN = 1 << 16
};

void hy_offsets_put(hybrid_index type, void *to, int64_t at, const int64_t *from,
                    int64_t count, int64_t more)
{
    if (type == HYBRID_I64)
        for (int64_t i = 0; i < count; i++)
            ((int64_t *)to)[at + i] = from[i] + more;
    else
        for (int64_t i = 0; i < count; i++)
            ((int32_t *)to)[at + i] = (int32_t)(from[i] + more);
}

static void put_wide(int64_t *to, const int32_t *from, int64_t count)
{
    int64_t near[NEAR_COLUMNS];

    for (int64_t begin = 0; begin < count; begin += NEAR_COLUMNS) {
        const int64_t n = hy_min(NEAR_COLUMNS, count - begin);
        for (int64_t k = 0; k < n; k++)
            near[k] = from[begin + k];
        hy_copy_past(to + begin, near, (size_t)n * 8);
    }
}

void hy_columns_put(hybrid_index type, void *to, int64_t at, const int32_t *from,
                    int64_t count)
{
    if (type == HYBRID_I64)
        put_wide((int64_t *)to + at, from, count);
    else
        hy_copy_past((int32_t *)to + at, from, (size_t)count * 4);
}

typedef struct converting {
    const void *from;
    void *to;
} converting;

static hybrid_status widen(void *arg, int part, int64_t begin, int64_t end)
{
    const converting *c = arg;
    const int32_t *from = c->from;

    (void)part;
    hy_columns_put(HYBRID_I64, c->to, begin, from + begin, end - begin);
    return HYBRID_OK;
}

static hybrid_status narrow(void *arg, int part, int64_t begin, int64_t end)
{
    const converting *c = arg;
    const int64_t *from = c->from;

    (void)part;
    hy_offsets_put(HYBRID_I32, c->to, begin, from + begin, end - begin, 0);
    return HYBRID_OK;
}

hybrid_status hy_indices_convert(hy_context *ctx, hy_span *span, int64_t count,
                                 hybrid_index type)
{
    const int wide     = type == HYBRID_I64;
    const size_t bytes = (size_t)count * hy_index_size(type);
    hybrid_status status;
    hy_span to;

    HY_TRY(hy_results_reserve(
        ctx, bytes, "offsets or columns of C in the type that was asked for", &to));
    converting c = {span->ptr, to.ptr};
    HY_TRY_ELSE_DONE(hy_results_use(ctx, &to, bytes));
    HY_TRY_ELSE_DONE(hy_pool_for(ctx->pool, HY_PLACE, 0, count, CONVERT_GRAIN,
                                 wide ? widen : narrow, &c));
    hy_results_hand_out(ctx, span, wide ? bytes / 2 : bytes * 2);
    hy_results_release(ctx, span->ptr);
    *span = to;
done:
    if (status != HYBRID_OK)
        hy_results_release(ctx, to.ptr);
    return status;
}
