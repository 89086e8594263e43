/* pipeline/gear.c - what a pipeline works with besides memory: lanes, marks and threads.
 */
#include "pipeline/gear.h"

#include <string.h>

#include "base/clock.h"
#include "pipeline/run.h"

enum { KEPT = 2, FIRST_ROOM = 32 }; /* idle ones of a backend; marks and lanes at first */

/* ---- threads ------------------------------------------------------------------- */

static void *serve(void *arg)
{
    hy_thread *thread = arg;
    hy_slot *slot;

    while ((slot = hy_slot_pop(&thread->queue)))
        thread->serve(slot);
    return NULL;
}

static hybrid_status start(hy_context *ctx, hy_thread *thread,
                           void (*what)(hy_slot *slot))
{
    thread->serve = what;
    hy_slot_queue_open(&thread->queue, hy_pool_leaves_cores(ctx->pool));
    if (pthread_create(&thread->id, NULL, serve, thread) != 0) {
        hy_slot_queue_destroy(&thread->queue);
        return hy_fail(ctx, HYBRID_NO_MEMORY, "no thread for a pipeline");
    }
    thread->started = 1;
    return HYBRID_OK;
}

static void end(hy_thread *thread)
{
    if (!thread->started)
        return;
    hy_slot_queue_close(&thread->queue);
    pthread_join(thread->id, NULL);
    hy_slot_queue_destroy(&thread->queue);
}

static void watch(hy_slot *slot)
{
    slot->status  = slot->site->backend->ops->host_wait(slot->unseen);
    slot->seen_ns = hy_now_ns();
    slot->unseen  = NULL;
    hy_slot_push(&slot->side->run->inbox, slot);
}

hybrid_status hy_gear_loader(hy_gear *gear, void (*load)(hy_slot *slot))
{
    return gear->loader.started ? HYBRID_OK
                                : start(gear->backend->ctx, &gear->loader, load);
}

/* ---- marks, and lanes of slots --------------------------------------------------- */

static hybrid_status make_room(hy_context *ctx, hy_made *made)
{
    const int room = made->room > 0 ? 2 * made->room : FIRST_ROOM;
    void *more;

    if (made->count < made->room)
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, room, sizeof *made->items, "marks and lanes", &more));
    if (made->count > 0)
        memcpy(more, made->items, (size_t)made->count * sizeof *made->items);
    hy_array_free(ctx, made->items);
    made->items = more;
    made->room  = room;
    return HYBRID_OK;
}

hybrid_status hy_gear_mark(hy_gear *gear, hy_mark **out)
{
    hy_backend *backend = gear->backend;
    hy_made *made       = &gear->marks;

    if (made->used == made->count) {
        HY_TRY(make_room(backend->ctx, made));
        HY_TRY(backend->ops->mark_new(backend, out));
        made->items[made->count++] = *out;
    }
    *out = made->items[made->used++];
    return HYBRID_OK;
}

hybrid_status hy_gear_run_lane(hy_gear *gear, hy_lane **out)
{
    hy_backend *backend = gear->backend;
    hy_made *made       = &gear->runs;

    if (made->used == made->count) {
        HY_TRY(make_room(backend->ctx, made));
        HY_TRY(backend->ops->lane_open(backend, "run", 0, out));
        made->items[made->count++] = *out;
    }
    *out = made->items[made->used++];
    return HYBRID_OK;
}

hybrid_status hy_mark_untimed(hy_lane *lane, hy_mark *mark)
{
    const hy_backend_ops *ops = lane->backend->ops;
    return (ops->mark_untimed ? ops->mark_untimed : ops->mark_set)(lane, mark);
}

/* ---- open and close ---------------------------------------------------------------- */

/* Where the backend computes in place, each slot has a run lane of its own instead, so
   that parallel loops of one chunk fill the barriers of another. One watcher is enough:
   it waits in the order of chunks, in which they are to finish. */
static hybrid_status open_lanes(hy_gear *gear)
{
    static const char *const names[HY_LANES] = {"h2d", "run", "d2h"};
    hy_backend *backend                      = gear->backend;

    for (hy_where lane = 0; lane < HY_LANES; lane++) {
        if (backend->ops->copy)
            HY_TRY(backend->ops->lane_open(backend, names[lane], lane != HY_ON_RUN,
                                           &gear->lanes[lane]));
        else if (lane != HY_ON_RUN)
            continue;
        if (lane != HY_ON_IN) /* what follows a copy to the device is a lane's stage */
            HY_TRY(start(backend->ctx, &gear->watchers[lane], watch));
    }
    return HYBRID_OK;
}

/* Lanes before marks: one may still have marks to reach. */
static void close_gear(hy_context *ctx, hy_gear *gear)
{
    const hy_backend_ops *ops = gear->backend->ops;

    end(&gear->loader);
    for (int lane = 0; lane < HY_LANES; lane++) {
        end(&gear->watchers[lane]);
        ops->lane_close(gear->lanes[lane]);
    }
    for (int i = 0; i < gear->runs.count; i++)
        ops->lane_close(gear->runs.items[i]);
    for (int i = 0; i < gear->marks.count; i++)
        ops->mark_free(gear->marks.items[i]);
    hy_array_free(ctx, gear->runs.items);
    hy_array_free(ctx, gear->marks.items);
    hy_array_free(ctx, gear);
}

static hybrid_status open_gear(hy_context *ctx, hy_backend *backend, hy_gear **out)
{
    void *memory;

    HY_TRY(hy_array(ctx, 1, sizeof(hy_gear), "lanes and threads", &memory));
    hy_gear *gear = memory;
    memset(gear, 0, sizeof *gear);
    gear->backend              = backend;
    const hybrid_status status = open_lanes(gear);
    if (status == HYBRID_OK)
        *out = gear;
    else
        close_gear(ctx, gear);
    return status;
}

/* ---- from pipeline to pipeline -------------------------------------------------------
 */

hybrid_status hy_gear_take(hy_context *ctx, hy_backend *backend, hy_gear **out)
{
    hy_gear **link = &ctx->gears;

    while (*link && (*link)->backend != backend)
        link = &(*link)->next;
    if (!*link)
        return open_gear(ctx, backend, out);
    *out  = *link;
    *link = (*out)->next;
    return HYBRID_OK;
}

static int count_idle(const hy_context *ctx, const hy_backend *backend)
{
    int count = 0;

    for (const hy_gear *gear = ctx->gears; gear; gear = gear->next)
        count += gear->backend == backend;
    return count;
}

void hy_gear_give(hy_context *ctx, hy_gear *gear, int clean)
{
    if (!gear)
        return;
    if (!clean || count_idle(ctx, gear->backend) >= KEPT) {
        close_gear(ctx, gear);
        return;
    }
    gear->marks.used = gear->runs.used = 0;
    gear->next                         = ctx->gears;
    ctx->gears                         = gear;
}

void hy_gears_trim(hy_context *ctx)
{
    while (ctx->gears) {
        hy_gear *gear = ctx->gears;
        ctx->gears    = gear->next;
        close_gear(ctx, gear);
    }
}
