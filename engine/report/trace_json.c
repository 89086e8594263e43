/* engine/report/trace_json.c - writes a trace as Chrome Trace Event JSON:
   hybrid_trace_write_json().

   Each row of a lane is a thread of the timeline. Arrows follow a chunk from stage to
   stage. Counters show the memory in use when a chunk or a step of the caller is
   finished. */
#include "engine/report/trace_json.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/report/json_put.h"
#include "engine/report/timeline.h"
#include "engine/report/trace_facts.h"

/* An event of a chunk: index into the trace's events. Places are sorted by pass and
   chunk, then by time. */
typedef struct place {
    int64_t pass, chunk;
    size_t event;
} place;

typedef struct writer {
    const hybrid_engine *engine;
    hy_json json;
    const char *comma; /* what separates the next event from the one before: "" at first,
                          then "," */
    hy_timeline timeline;
    place *places;
} writer;

/* ---- events ---------------------------------------------------------------------- */

static void put_head(writer *w, const char *name, char phase, int tid)
{
    hy_json_put(&w->json, "%s\n{\"name\":", w->comma);
    hy_json_string(&w->json, name);
    hy_json_put(&w->json, ",\"ph\":\"%c\",\"pid\":1,\"tid\":%d", phase, tid);
    w->comma = ",";
}

static void put_bar(writer *w, const hybrid_event *e, int tid)
{
    const int known = e->bound >= 0 && e->bound < HYBRID_RESOURCES;

    put_head(w, e->stage, 'X', tid);
    hy_json_time(&w->json, "ts", e->begin_ns - w->timeline.zero_ns);
    hy_json_time(&w->json, "dur", e->end_ns - e->begin_ns);
    hy_json_put(&w->json, ",\"args\":{\"bound\":\"%s\"",
                known ? hybrid_resource_text(e->bound) : "other");
    if (e->chunk >= 0)
        hy_json_put(&w->json,
                    ",\"pass\":%lld,\"chunk\":%lld,\"first_row\":%lld,\"rows\":%lld",
                    (long long)e->pass, (long long)e->chunk, (long long)e->row_begin,
                    (long long)(e->row_end - e->row_begin));
    hy_json_put(&w->json, ",\"variant\":");
    hy_json_string(&w->json, e->variant);
    hy_json_put(&w->json, ",\"bytes\":%lld,\"flops\":%lld}}", (long long)e->bytes,
                (long long)e->flops);
}

/* Writes step i of the n steps of the arrow that follows a chunk through its stages. The
   step is tied to the bar of event p->event. */
static void put_arrow(writer *w, const place *p, size_t i, size_t n)
{
    const hybrid_event *e = &w->timeline.events[p->event];

    put_head(w, "chunk",
             i == 0      ? 's'
             : i + 1 < n ? 't'
                         : 'f',
             w->timeline.tids[p->event]);
    hy_json_time(&w->json, "ts", e->begin_ns - w->timeline.zero_ns);
    hy_json_put(&w->json, ",\"cat\":\"chunk\",\"bp\":\"e\",\"id\":\"%lld.%lld\"}",
                (long long)e->pass, (long long)e->chunk);
}

static void put_counter(writer *w, const char *memory, int64_t end_ns, int64_t bytes)
{
    put_head(w, memory, 'C', 0);
    hy_json_time(&w->json, "ts", end_ns - w->timeline.zero_ns);
    hy_json_put(&w->json, ",\"args\":{\"bytes\":%lld}}", (long long)bytes);
}

static void put_thread(writer *w, const hy_timeline_row *row, int tid)
{
    char name[HY_TIMELINE_NAME];

    hy_timeline_name(row, name);
    put_head(w, "thread_name", 'M', tid);
    hy_json_put(&w->json, ",\"args\":{\"name\":");
    hy_json_string(&w->json, name);
    hy_json_put(&w->json, "}}");
    put_head(w, "thread_sort_index", 'M', tid);
    hy_json_put(&w->json, ",\"args\":{\"sort_index\":%d}}", hy_timeline_order(row->lane));
}

/* ---- chunks ---------------------------------------------------------------------- */

static int by_chunk(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->pass != y->pass)
        return x->pass < y->pass ? -1 : 1;
    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static void put_memory(writer *w, const hybrid_event *e, int device)
{
    char name[32];

    hy_trace_memory_name(w->engine, device, name, sizeof name);
    put_counter(w, name, e->end_ns, e->device_bytes);
    put_counter(w, HY_TRACE_HOST_MEMORY, e->end_ns, e->host_bytes);
}

/* Writes a chunk with n events: an arrow through the first event of each stage, and the
   memory in use at the end of its last event. */
static void put_chunk(writer *w, const place *places, size_t n)
{
    const hybrid_event *last = &w->timeline.events[places[0].event];
    size_t steps = 0, step = 0;
    int device = 0;

    for (size_t i = 0; i < n; i++)
        steps += w->timeline.events[places[i].event].part == 0;
    for (size_t i = 0; i < n; i++) {
        const hybrid_event *e = &w->timeline.events[places[i].event];
        if (e->part == 0 && steps > 1)
            put_arrow(w, &places[i], step++, steps);
        if (e->end_ns > last->end_ns)
            last = e;
        if (hy_timeline_device(e->lane) >= 0)
            device = hy_timeline_device(e->lane);
    }
    put_memory(w, last, device);
}

/* Writes the memory in use after an event without a chunk: a copy of B or X, or a step
   that the caller added with host_bytes. */
static void put_step(writer *w, const hybrid_event *e)
{
    const int device = hy_timeline_device(e->lane);

    if (device >= 0)
        put_memory(w, e, device);
    else if (e->host_bytes > 0)
        put_counter(w, HY_TRACE_HOST_MEMORY, e->end_ns, e->host_bytes);
}

static void put_chunks(writer *w)
{
    place *places = w->places;
    size_t end;

    for (size_t i = 0; i < w->timeline.count; i++)
        places[i] = (place){w->timeline.events[i].pass, w->timeline.events[i].chunk, i};
    qsort(places, w->timeline.count, sizeof *places, by_chunk);
    for (size_t begin = 0; begin < w->timeline.count; begin = end) {
        for (end = begin;
             end < w->timeline.count && places[end].pass == places[begin].pass &&
             places[end].chunk == places[begin].chunk;
             end++)
            ;
        if (places[begin].chunk >= 0)
            put_chunk(w, places + begin, end - begin);
        else
            for (size_t i = begin; i < end; i++)
                put_step(w, &w->timeline.events[places[i].event]);
    }
}

/* ---- file ------------------------------------------------------------------------ */

static void put_trace(writer *w)
{
    hy_timeline *t = &w->timeline;

    hy_json_put(&w->json, "{\"displayTimeUnit\":\"ms\",");
    hy_trace_facts(w->engine, t, &w->json);
    hy_json_put(&w->json, ",\"traceEvents\":[");
    for (size_t i = 0; i < t->count; i++)
        put_bar(w, &t->events[i], t->tids[i]);
    put_head(w, "process_name", 'M', 0);
    hy_json_put(&w->json, ",\"args\":{\"name\":\"hybrid_spmm\"}}");
    for (int i = 0; i < t->row_count; i++)
        put_thread(w, &t->rows[i], i + 1);
    put_chunks(w);
    hy_json_put(&w->json, "\n]}\n");
}

static hybrid_status write_file(writer *w, const char *path)
{
    hy_context *ctx  = w->json.ctx;
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    hy_output output;

    if (!c)
        return hy_fail(
            ctx, HYBRID_NO_MEMORY,
            "cannot allocate memory for the C locale; free some memory on this machine");
    hybrid_status status = hy_output_open(ctx, path, &output);
    if (status == HYBRID_OK) {
        const locale_t previous = uselocale(c); /* a locale of the caller could make the
                                                   decimal point a comma */
        w->json.output = &output;
        put_trace(w);
        uselocale(previous);
        status = hy_output_finish(ctx, &output, w->json.status);
    }
    freelocale(c);
    return status;
}

hybrid_status hy_trace_json(hybrid_engine *engine, hybrid_event *events, size_t count,
                            const char *path)
{
    hy_context *ctx      = &engine->ctx;
    const double total_s = engine->report.struct_size > 0 ? engine->report.total_s : 0;
    const int64_t n      = (int64_t)count + 1;
    writer w             = {.engine = engine, .json = {.ctx = ctx}, .comma = ""};
    void *rows = NULL, *tids = NULL, *places = NULL;
    hybrid_status status;

    HY_TRY_ELSE_DONE(
        hy_array(ctx, n, sizeof(hy_timeline_row), "lanes of a trace", &rows));
    HY_TRY_ELSE_DONE(hy_array(ctx, n, sizeof(int), "bars of a trace", &tids));
    HY_TRY_ELSE_DONE(hy_array(ctx, n, sizeof *w.places, "chunks of a trace", &places));
    w.places = places;
    hy_timeline_make(events, count, total_s, tids, rows, &w.timeline);
    status = write_file(&w, path);
done:
    hy_array_free(ctx, places);
    hy_array_free(ctx, tids);
    hy_array_free(ctx, rows);
    return status;
}
