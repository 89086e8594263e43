/* engine/report/events.c - collects the events of runs in memory: hybrid_trace. */
#include <stdio.h>
#include <string.h>

#include "base/memory/shortage.h"
#include "engine/api/engine.h"
#include "engine/report/trace_json.h"

enum { FIRST_ROOM = 256 };

struct hybrid_trace {
    hybrid_engine *engine;
    hybrid_event *events;
    size_t count, room;
    size_t lost; /* number of events that were dropped because there was no memory */
};

hybrid_status hybrid_trace_create(hybrid_engine *engine, hybrid_trace **trace)
{
    void *made;

    HY_TRY(hy_engine_begin(engine));
    if (!trace)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "trace is NULL");
    HY_TRY(hy_array(&engine->ctx, 1, sizeof(hybrid_trace), "a trace", &made));
    *trace  = made;
    **trace = (hybrid_trace){.engine = engine};
    return HYBRID_OK;
}

void hybrid_trace_destroy(hybrid_trace *trace)
{
    if (!trace || hy_engine_inherited(trace->engine))
        return;
    hy_context *ctx = &trace->engine->ctx;
    hy_array_free(ctx, trace->events);
    hy_array_free(ctx, trace);
}

/* Makes room for one more event. Returns 1, or 0 if there is no memory; the message
   about that is removed, because a successful run must leave none, and
   hybrid_trace_write_json() reports the lost event. */
static int make_room(hybrid_trace *trace)
{
    hy_context *ctx   = &trace->engine->ctx;
    const size_t room = trace->room > 0 ? 2 * trace->room : FIRST_ROOM;
    hy_message dropped;
    void *more;

    if (trace->count < trace->room)
        return 1;
    hy_message_hush(&dropped);
    const hybrid_status status =
        hy_array(ctx, (int64_t)room, sizeof *trace->events, "the trace", &more);
    hy_message_heed(&dropped);
    if (status != HYBRID_OK)
        return 0;
    if (trace->count > 0)
        memcpy(more, trace->events, trace->count * sizeof *trace->events);
    hy_array_free(ctx, trace->events);
    trace->events = more;
    trace->room   = room;
    return 1;
}

void hybrid_trace_add(void *user, const hybrid_event *event)
{
    hybrid_trace *trace = user;

    if (!trace || !event || hy_engine_inherited(trace->engine))
        return;
    if (make_room(trace))
        trace->events[trace->count++] = *event;
    else
        trace->lost++;
}

static hybrid_status fail_lost(hy_context *ctx, const hybrid_trace *trace)
{
    const size_t all = trace->count + trace->lost;
    char what[96];

    snprintf(what, sizeof what, "the trace (%zu of %zu events were lost)", trace->lost,
             all);
    return hy_memory_full(ctx, what, (int64_t)(all * sizeof *trace->events), "");
}

hybrid_status hybrid_trace_write_json(hybrid_trace *trace, const char *path)
{
    if (!trace)
        return HYBRID_BAD_ARGUMENT;
    HY_TRY(hy_engine_begin(trace->engine));
    hy_context *ctx = &trace->engine->ctx;
    if (!path)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "path is NULL");
    if (trace->lost > 0)
        return fail_lost(ctx, trace);
    return hy_trace_json(trace->engine, trace->events, trace->count, path);
}
