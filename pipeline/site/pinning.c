/* pipeline/site/pinning.c - the pinned memory of sites: that of slots, and the rings of
   loaders.

   Making pages present and pinning them takes longer than everything else in opening a
   site. Sites therefore do it at the same time. */
#include "base/threads/clock.h"
#include "pipeline/site/site.h"

/* Allocates one block for all slots, because pinning takes 1.2 ms however small a block
   is. */
static hybrid_status pin_slots(hy_site *site)
{
    const size_t each = site->slot_pinned, depth = (size_t)site->depth;

    if (depth * each == 0)
        return HYBRID_OK;
    HY_TRY(site->backend->ops->alloc(site->backend, HY_PINNED, depth * each,
                                     "chunk buffers", &site->pinned));
    for (size_t i = 0; i < depth; i++)
        site->slots[i].pinned = hy_buffer_part(&site->pinned, i * each, each);
    return HYBRID_OK;
}

static hybrid_status pin(hy_site *site)
{
    site->pin_begin_ns   = hy_now_ns();
    hybrid_status status = pin_slots(site);
    if (status == HYBRID_OK && site->loader)
        status = hy_loader_pin(site->loader);
    site->pin_end_ns = hy_now_ns();
    return status;
}

/* ---- several sites ------------------------------------------------------------------
 */

/* The allocation of one site, as a task of a watcher, which is idle between runs. */
typedef struct pinning {
    hy_task task; /* must be first, because its function casts the task to this struct */
    hy_site *site;
    hy_inbox *done; /* receives the task when the site has its memory */
    hybrid_status status;
    hy_message said; /* error sentence of the site */
} pinning;

static void pin_in_thread(hy_task *task, int worker)
{
    pinning *p = (pinning *)task;

    (void)worker;
    hy_message_aside(&p->said);
    p->status = pin(p->site);
    hy_message_aside(NULL);
    hy_inbox_push(p->done, task);
}

/* Passes the first error on to the context. */
static hybrid_status first_error(const pinning *of, int count)
{
    for (int i = 0; i < count; i++)
        if (of[i].status != HYBRID_OK)
            return hy_fail(of[i].site->ctx, of[i].status, "%s", of[i].said.text);
    return HYBRID_OK;
}

static hybrid_status pin_at_once(hy_site *const *sites, int count)
{
    hy_context *ctx = sites[0]->ctx;
    pinning of[HY_MAX_DEVICES];
    hy_inbox done;

    hy_inbox_open(&done, &ctx->progress, ctx->pool, hy_pool_leaves_cores(ctx->pool));
    for (int i = 0; i < count; i++) {
        of[i] =
            (pinning){.task = {.run = pin_in_thread}, .site = sites[i], .done = &done};
        hy_message_init(&of[i].said);
        hy_inbox_push(&sites[i]->lane_set->watchers[HY_ON_RUN].inbox, &of[i].task);
    }
    for (int i = 0; i < count; i++)
        hy_inbox_pop(&done);
    const hybrid_status status = first_error(of, count);
    for (int i = 0; i < count; i++)
        hy_message_destroy(&of[i].said);
    hy_inbox_destroy(&done);
    return status;
}

hybrid_status hy_sites_pin(hy_site *const *sites, int count)
{
    return count == 1 ? pin(sites[0]) : pin_at_once(sites, count);
}
