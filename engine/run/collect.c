/* engine/run/collect.c - lets devices read B from host memory during a run. */
#include "engine/run/collect.h"

#include "base/data/csr.h"
#include "engine/api/engine.h"

static int is_wanted(const hybrid_plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        if (hy_image_is_collected(&plan->portions[i].layout.image))
            return 1;
    return 0;
}

/* Pins an array, unless it is empty or pinned as a whole. Sets *is_pinned to 0 if it
   cannot be pinned. */
static hybrid_status pin(hy_context *ctx, const void *ptr, size_t bytes, hy_run_pin *out,
                         int *is_pinned)
{
    if (bytes == 0 || hy_pinned(ctx, ptr, bytes))
        return HYBRID_OK;
    HY_TRY(hy_run_pin_add(ctx, ptr, bytes, out));
    *is_pinned = out->range.bytes > 0;
    return HYBRID_OK;
}

hybrid_status hy_collect_begin(const hybrid_plan *plan, const hybrid_csr *B,
                               int *collects, hy_collect *out)
{
    hy_context *ctx      = &plan->product.engine->ctx;
    const size_t entries = (size_t)B->nnz;

    *out      = (hy_collect){.pins = {{.ctx = NULL}}};
    *collects = is_wanted(plan);
    if (*collects)
        HY_TRY(pin(ctx, hy_cols(B), entries * sizeof(int32_t), &out->pins[0], collects));
    if (*collects)
        HY_TRY(
            pin(ctx, B->val, entries * hy_value_size(B->type), &out->pins[1], collects));
    if (!*collects)
        hy_collect_end(out);
    return HYBRID_OK;
}

void hy_collect_end(hy_collect *c)
{
    hy_run_pin_remove(&c->pins[0]);
    hy_run_pin_remove(&c->pins[1]);
}
