/* pipeline/site/lane_set.c - lanes, marks and threads of a site. */
#include "pipeline/site/lane_set.h"

#include <string.h>

enum {
    POOLED     = 2,
    FIRST_ROOM = 32
}; /* POOLED: maximum idle lane sets of a backend; FIRST_ROOM: number of items for which a
      new array (hy_made) has memory */

/* ---- threads ------------------------------------------------------------------- */

/* Names of lanes on devices 0, 1 and so on. They are static because traces keep pointers
   to them as long as the engine lives. */
#define NAMES(name)                                                                      \
    {                                                                                    \
        name, name "1", name "2", name "3", name "4", name "5", name "6", name "7",      \
            name "8", name "9", name "10", name "11", name "12", name "13", name "14",   \
            name "15"                                                                    \
    }

const char *hy_lane_name(hy_lane_kind kind, int device)
{
    static const char *const names[HY_LANE_NAMES][HY_MAX_DEVICES] = {
        NAMES("h2d"),  NAMES("run"),  NAMES("d2h"),
        NAMES("load"), NAMES("peer"), NAMES("pin")};
    return names[kind][device];
}

enum { NO_WORKER = -1 }; /* the thread is not a worker of the pool */

static void *serve(void *arg)
{
    hy_thread *thread         = arg;
    const hy_backend *backend = thread->backend;
    hy_task *task;

    hy_topology_bind_node(hy_pool_topology(backend->ctx->pool), backend->node);
    hy_pool_set_home(hy_backend_home(backend));
    while ((task = hy_inbox_pop(&thread->inbox)))
        task->run(task, NO_WORKER);
    return NULL;
}

static hybrid_status start(const hy_backend *backend, hy_thread *thread)
{
    hy_context *ctx = backend->ctx;

    thread->backend = backend;
    hy_inbox_open(&thread->inbox, NULL, NULL, hy_pool_leaves_cores(ctx->pool));
    if (pthread_create(&thread->id, NULL, serve, thread) != 0) {
        hy_inbox_destroy(&thread->inbox);
        return hy_fail(ctx, HYBRID_NO_MEMORY,
                       "the system refuses to start a thread of a pipeline; raise the "
                       "limit on threads (ulimit -u)");
    }
    thread->started = 1;
    return HYBRID_OK;
}

static void end(hy_thread *thread)
{
    if (!thread->started)
        return;
    hy_inbox_close(&thread->inbox);
    pthread_join(thread->id, NULL);
    hy_inbox_destroy(&thread->inbox);
}

hybrid_status hy_lane_set_loader(hy_lane_set *lane_set)
{
    hy_context *ctx = lane_set->backend->ctx;

    if (lane_set->loader.started)
        return HYBRID_OK;
    lane_set->call = ctx->call;
    return start(lane_set->backend, &lane_set->loader);
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

hybrid_status hy_lane_set_mark(hy_lane_set *lane_set, hy_mark **out)
{
    hy_backend *backend = lane_set->backend;
    hy_made *made       = &lane_set->marks;

    if (made->used == made->count) {
        lane_set->call = backend->ctx->call;
        HY_TRY(make_room(backend->ctx, made));
        HY_TRY(backend->ops->mark_new(backend, out));
        made->items[made->count++] = *out;
    }
    *out = made->items[made->used++];
    return HYBRID_OK;
}

hybrid_status hy_lane_set_run_lane(hy_lane_set *lane_set, hy_lane **out)
{
    hy_backend *backend = lane_set->backend;
    hy_made *made       = &lane_set->runs;

    if (made->used == made->count) {
        lane_set->call = backend->ctx->call;
        HY_TRY(make_room(backend->ctx, made));
        HY_TRY(backend->ops->lane_open(
            backend,
            backend->ops->copy ? hy_lane_name(HY_NAME_RUN, backend->index) : "run", 0,
            out));
        made->items[made->count++] = *out;
    }
    *out = made->items[made->used++];
    return HYBRID_OK;
}

hybrid_status hy_lane_set_peer(hy_lane_set *lane_set)
{
    hy_backend *backend = lane_set->backend;

    if (lane_set->peer)
        return HYBRID_OK;
    lane_set->call = backend->ctx->call;
    return backend->ops->lane_open(backend, hy_lane_name(HY_NAME_PEER, backend->index), 1,
                                   &lane_set->peer);
}

hybrid_status hy_mark_untimed(hy_lane *lane, hy_mark *mark)
{
    const hy_backend_ops *ops = lane->backend->ops;
    return (ops->mark_untimed ? ops->mark_untimed : ops->mark_set)(lane, mark);
}

/* ---- surveys --------------------------------------------------------------------- */

static hybrid_status clear(hy_lane *lane, const hy_buffer *buffer)
{
    const int64_t words     = (int64_t)(buffer->bytes / sizeof(double));
    const hy_combining zero = {.to     = buffer->ptr,
                               .to_row = 1,
                               .rows   = words,
                               .cols   = 1,
                               .filled = 1,
                               .type   = HYBRID_F64};

    return lane->backend->ops->combine(lane, &zero);
}

hybrid_status hy_lane_set_survey(hy_lane_set *lane_set, size_t told_bytes)
{
    hy_backend *backend       = lane_set->backend;
    const hy_backend_ops *ops = backend->ops;

    if (lane_set->survey.ptr)
        return HYBRID_OK;
    lane_set->call = backend->ctx->call;
    if (!lane_set->told.ptr)
        HY_TRY(ops->alloc(backend, HY_PINNED, told_bytes, "the numbers of a product",
                          &lane_set->told));
    HY_TRY(ops->alloc(backend, HY_DEVICE, ops->survey_bytes + sizeof(double),
                      "the survey of a pattern", &lane_set->survey));
    return clear(lane_set->lanes[HY_ON_RUN], &lane_set->survey);
}

int *hy_lane_set_gate(const hy_lane_set *lane_set)
{
    char *work = lane_set->survey.ptr;
    return (int *)(void *)(work + lane_set->backend->ops->survey_bytes);
}

/* ---- open and close ---------------------------------------------------------------- */

/* If the backend computes in place, every slot has a run lane of its own, so that
   parallel loops of one chunk use workers that have finished another chunk. One watcher
   is enough, since it waits for chunks in the order in which they finish. */
static hybrid_status open_lanes(hy_lane_set *lane_set)
{
    hy_backend *backend = lane_set->backend;

    for (hy_where lane = 0; lane < HY_LANES; lane++) {
        if (backend->ops->copy)
            HY_TRY(backend->ops->lane_open(
                backend, hy_lane_name((hy_lane_kind)lane, backend->index),
                lane != HY_ON_RUN, &lane_set->lanes[lane]));
        else if (lane != HY_ON_RUN)
            continue;
        if (lane != HY_ON_IN) /* the stage after a copy to the device is on a lane, too,
                                 so the host need not see the end of that copy */
            HY_TRY(start(backend, &lane_set->watchers[lane]));
    }
    return HYBRID_OK;
}

/* Closes lanes before marks, since a lane may still set marks. */
static void close_lane_set(hy_context *ctx, hy_lane_set *lane_set)
{
    const hy_backend_ops *ops = lane_set->backend->ops;

    end(&lane_set->loader);
    for (int lane = 0; lane < HY_LANES; lane++) {
        end(&lane_set->watchers[lane]);
        ops->lane_close(lane_set->lanes[lane]);
    }
    ops->lane_close(lane_set->peer);
    for (int i = 0; i < lane_set->runs.count; i++)
        ops->lane_close(lane_set->runs.items[i]);
    for (int i = 0; i < lane_set->marks.count; i++)
        ops->mark_free(lane_set->marks.items[i]);
    ops->free(lane_set->backend, &lane_set->told);
    ops->free(lane_set->backend, &lane_set->survey);
    hy_array_free(ctx, lane_set->runs.items);
    hy_array_free(ctx, lane_set->marks.items);
    hy_array_free(ctx, lane_set);
}

static hybrid_status open_lane_set(hy_context *ctx, hy_backend *backend,
                                   hy_lane_set **out)
{
    void *memory;

    HY_TRY(hy_array(ctx, 1, sizeof(hy_lane_set), "lanes and threads", &memory));
    hy_lane_set *lane_set = memory;
    memset(lane_set, 0, sizeof *lane_set);
    lane_set->backend          = backend;
    lane_set->call             = ctx->call;
    const hybrid_status status = open_lanes(lane_set);
    if (status == HYBRID_OK)
        *out = lane_set;
    else
        close_lane_set(ctx, lane_set);
    return status;
}

/* ---- from site to site ----------------------------------------------------------- */

hybrid_status hy_lane_set_acquire(hy_context *ctx, hy_backend *backend, hy_lane_set **out)
{
    hy_lane_set **link = &ctx->lane_sets;

    while (*link && (*link)->backend != backend)
        link = &(*link)->next;
    if (!*link)
        return open_lane_set(ctx, backend, out);
    *out  = *link;
    *link = (*out)->next;
    return HYBRID_OK;
}

static int count_idle(const hy_context *ctx, const hy_backend *backend)
{
    int count = 0;

    for (const hy_lane_set *idle = ctx->lane_sets; idle; idle = idle->next)
        count += idle->backend == backend;
    return count;
}

void hy_lane_set_release(hy_context *ctx, hy_lane_set *lane_set, int clean)
{
    if (!lane_set)
        return;
    if (!clean || count_idle(ctx, lane_set->backend) >= POOLED) {
        close_lane_set(ctx, lane_set);
        return;
    }
    lane_set->marks.used = lane_set->runs.used = 0;
    lane_set->next                             = ctx->lane_sets;
    ctx->lane_sets                             = lane_set;
}

void hy_lane_sets_trim(hy_context *ctx, int64_t since)
{
    for (hy_lane_set **link = &ctx->lane_sets; *link;) {
        hy_lane_set *lane_set = *link;
        if (lane_set->call < since) {
            link = &lane_set->next;
            continue;
        }
        *link = lane_set->next;
        close_lane_set(ctx, lane_set);
    }
}
