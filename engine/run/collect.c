/* engine/run/collect.c - lets devices read B from host memory during a run. */
#include "engine/run/collect.h"

#include "base/data/csr.h"
#include "base/memory/pinned.h"
#include "engine/api/engine.h"

static int is_wanted(const hybrid_plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        if (hy_image_is_collected(&plan->portions[i].layout.image))
            return 1;
    return 0;
}

/* Pins an array that is not pinned as a whole. */
static hybrid_status pin(hy_collect *c, const void *array, size_t bytes)
{
    if (bytes == 0 || hy_pinned(c->ctx, array, bytes))
        return HYBRID_OK;
    HY_TRY(hy_pins_add(c->ctx, (void *)(uintptr_t)array, bytes));
    c->pinned[c->count++] = array;
    return HYBRID_OK;
}

static hybrid_status pin_both(hy_collect *c, const hybrid_csr *B)
{
    const size_t entries = (size_t)B->nnz;

    HY_TRY(pin(c, hy_cols(B), entries * sizeof *hy_cols(B)));
    return pin(c, B->val, entries * hy_value_size(B->type));
}

hybrid_status hy_collect_begin(const hybrid_plan *plan, const hybrid_csr *B,
                               int *collects, hy_collect *out)
{
    hy_context *ctx = &plan->product.engine->ctx;

    *out      = (hy_collect){.ctx = ctx};
    *collects = 0;
    if (!is_wanted(plan))
        return HYBRID_OK;
    const hybrid_status status = pin_both(out, B);
    if (status != HYBRID_NO_MEMORY && status != HYBRID_BAD_ARGUMENT) {
        *collects = status == HYBRID_OK;
        return status;
    }
    /* A part of the array is pinned by other means, or too much is. */
    hy_collect_end(out);
    hy_message_clear(&ctx->message);
    return HYBRID_OK;
}

void hy_collect_end(hy_collect *c)
{
    while (c->count > 0)
        (void)hy_pins_remove(c->ctx, c->pinned[--c->count]);
}
