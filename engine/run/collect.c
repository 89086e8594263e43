/* engine/run/collect.c - lets devices read B from host memory during a run. */
#include "engine/run/collect.h"

#include <pthread.h>

#include "base/data/csr.h"
#include "base/memory/pinned.h"
#include "engine/api/engine.h"

/* ---- runs that have pinned arrays ---------------------------------------------------
 */

/* Runs of all engines that have pinned arrays. CUDA pins memory for the whole process, so
   that a second engine finds it pinned, but the first one unpins it after its run. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hy_collect *runs;

/* Returns 1 if the arrays share a byte. */
static int meet(const hy_collect_array *a, const hy_collect_array *b)
{
    return (uintptr_t)a->ptr < (uintptr_t)b->ptr + b->bytes &&
           (uintptr_t)b->ptr < (uintptr_t)a->ptr + a->bytes;
}

static int is_taken(const hy_collect *c)
{
    for (const hy_collect *run = runs; run; run = run->next)
        for (int i = 0; i < 4; i++)
            if (meet(&run->arrays[i / 2], &c->arrays[i % 2]))
                return 1;
    return 0;
}

/* Returns 1 if both arrays are pinned as a whole. */
static int are_pinned(const hy_collect *c)
{
    for (int i = 0; i < 2; i++)
        if (!hy_pinned(c->ctx, c->arrays[i].ptr, c->arrays[i].bytes))
            return 0;
    return 1;
}

/* Adds the run to the list, unless the caller has pinned its arrays. Returns 0 if another
   run has pinned a part of them. */
static int enter(hy_collect *c)
{
    pthread_mutex_lock(&lock);
    const int taken = is_taken(c);
    c->listed       = !taken && !are_pinned(c);
    if (c->listed) {
        c->next = runs;
        runs    = c;
    }
    pthread_mutex_unlock(&lock);
    return !taken;
}

static void leave(hy_collect *c)
{
    hy_collect **link = &runs;

    if (!c->listed)
        return;
    pthread_mutex_lock(&lock);
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    pthread_mutex_unlock(&lock);
    c->listed = 0;
}

/* ---- one run ------------------------------------------------------------------------
 */

static int is_wanted(const hybrid_plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        if (hy_image_is_collected(&plan->portions[i].layout.image))
            return 1;
    return 0;
}

/* Pins both arrays, except one that is pinned as a whole. */
static hybrid_status pin_both(hy_collect *c)
{
    for (int i = 0; i < 2; i++) {
        const hy_collect_array *array = &c->arrays[i];
        if (array->bytes == 0 || hy_pinned(c->ctx, array->ptr, array->bytes))
            continue;
        HY_TRY(hy_pins_add(c->ctx, (void *)(uintptr_t)array->ptr, array->bytes));
        c->pinned[i] = 1;
    }
    return HYBRID_OK;
}

hybrid_status hy_collect_begin(const hybrid_plan *plan, const hybrid_csr *B,
                               int *collects, hy_collect *out)
{
    hy_context *ctx      = &plan->product.engine->ctx;
    const size_t entries = (size_t)B->nnz;

    *collects = 0;
    *out      = (hy_collect){
             .ctx    = ctx,
             .arrays = {{hy_cols(B), entries * sizeof(int32_t)},
                        {B->val, entries * hy_value_size(B->type)}},
    };
    if (!is_wanted(plan) || !enter(out))
        return HYBRID_OK;
    const hybrid_status status = pin_both(out);
    if (status != HYBRID_NO_MEMORY && status != HYBRID_BAD_ARGUMENT) {
        *collects = status == HYBRID_OK;
        return status;
    }
    /* A part of an array is pinned by other means, or too much is. */
    hy_collect_end(out);
    hy_message_clear(&ctx->message);
    return HYBRID_OK;
}

void hy_collect_end(hy_collect *c)
{
    for (int i = 0; i < 2; i++)
        if (c->pinned[i])
            (void)hy_pins_remove(c->ctx, c->arrays[i].ptr);
    c->pinned[0] = c->pinned[1] = 0;
    leave(c);
}
