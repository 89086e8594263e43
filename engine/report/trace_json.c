/* engine/report/trace_json.c - writes a trace as Chrome Trace Event JSON:
   hybrid_trace_write_json().

   Each lane is a thread of the timeline. Arrows follow a chunk from stage to stage.
   Counters show the memory in use when a chunk is finished. Events of the library never
   overlap within a lane. An event that a caller adds may overlap; it is then drawn in a
   second thread of its lane. */
#include "engine/report/trace_json.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/api/engine.h"
#include "io/text/io.h"

/* A thread of the timeline, drawn as one row of bars. */
typedef struct thread {
    const char *lane;
    int number;     /* index among the threads of the lane, from 0 */
    int64_t end_ns; /* end of the last bar of this thread */
} thread;

/* An event of a chunk, with its index in the trace. Places are sorted by pass and chunk,
   then by time. */
typedef struct place {
    int64_t pass, chunk;
    size_t event;
} place;

typedef struct writer {
    hy_context *ctx;
    hy_output *output;
    hybrid_status status; /* first error of writing */
    const char *comma;
    const hybrid_event *events; /* events of the trace, sorted by begin_ns */
    size_t count;
    int64_t zero_ns; /* begin of the first event, the origin of the time axis */
    thread *threads;
    int thread_count;
    int *tids; /* number of each event's thread, from 1 */
    place *places;
} writer;

/* ---- text ------------------------------------------------------------------------- */

static void put_bytes(writer *w, const char *text, size_t bytes)
{
    if (w->status == HYBRID_OK)
        w->status = hy_output_write(w->ctx, w->output, text, bytes);
}

/* Writes formatted text of fewer than 256 bytes. Longer strings go to put_string(). */
HY_PRINTF(2, 3) static void put(writer *w, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_bytes(w, text, n > 0 ? (size_t)n : 0);
}

/* Writes a JSON string. UTF-8 bytes are copied unchanged. */
static void put_string(writer *w, const char *text)
{
    put(w, "\"");
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f)
            put(w, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            put(w, "\\%c", c);
        else
            put_bytes(w, text, 1);
    }
    put(w, "\"");
}

static void put_real(writer *w, const char *key, double value)
{
    if (isfinite(value))
        put(w, ",\"%s\":%.9g", key, value);
    else
        put(w, ",\"%s\":null", key);
}

/* ---- what the run used ----------------------------------------------------------- */

static void put_use(writer *w, const hybrid_report *r)
{
    const char *comma = "";

    put(w, ",\"use\":{");
    for (int k = 0; k < HYBRID_RESOURCES; k++) {
        const hybrid_use *use = &r->use[k];
        if (use->rate <= 0)
            continue;
        put(w, "%s\"%s\":{\"rate_is\":\"%s\"", comma,
            hybrid_resource_text((hybrid_resource)k),
            k == HYBRID_CORES ? "workers" : hybrid_origin_text(use->origin));
        put_real(w, "utilisation", use->utilisation);
        put_real(w, "rate", use->rate);
        put(w, "}");
        comma = ",";
    }
    put(w, "}");
}

static void put_report(writer *w, const hybrid_report *r)
{
    put(w, "\"bound\":\"%s\",\"rates_measured\":%s", hybrid_resource_text(r->bound),
        r->rates_measured ? "true" : "false");
    put_real(w, "total_s", r->total_s);
    put_real(w, "bus_utilisation", r->bus_utilisation);
    put_use(w, r);
    put_real(w, "reference_s", r->reference_s);
    put_real(w, "speedup_over_reference", r->speedup_over_reference);
}

/* ---- lanes to threads ------------------------------------------------------------ */

static int find_thread(writer *w, const hybrid_event *event)
{
    int number = 0;

    for (int i = 0; i < w->thread_count; i++) {
        thread *t = &w->threads[i];
        if (strcmp(t->lane, event->lane) != 0)
            continue;
        if (t->end_ns <= event->begin_ns) {
            t->end_ns = event->end_ns;
            return i + 1;
        }
        number++;
    }
    w->threads[w->thread_count++] = (thread){event->lane, number, event->end_ns};
    return w->thread_count;
}

/* Returns the sort key of a lane's thread. From top to bottom: reading, the calling
   thread, workers, lanes of the device, writing. */
static int lane_order(const char *lane)
{
    static const char *const order[] = {"main", "reader", "caller", "cpu",   "load",
                                        "h2d",  "run",    "d2h",    "writer"};
    enum { ORDERS = (int)(sizeof order / sizeof *order), WORKERS = 3 };

    for (int i = 0; i < ORDERS; i++)
        if (strncmp(lane, order[i], strlen(order[i])) == 0)
            return 1000 * i + (i == WORKERS ? atoi(lane + 3) % 1000 : 0);
    return 1000 * ORDERS;
}

/* ---- events ---------------------------------------------------------------------- */

/* Writes a time in microseconds, exact to the nanosecond. */
static void put_time(writer *w, const char *key, int64_t ns)
{
    put(w, ",\"%s\":%lld.%03d", key, (long long)(ns / 1000), (int)(ns % 1000));
}

static void put_head(writer *w, const char *name, char phase, int tid)
{
    put(w, "%s\n{\"name\":", w->comma);
    put_string(w, name);
    put(w, ",\"ph\":\"%c\",\"pid\":1,\"tid\":%d", phase, tid);
    w->comma = ",";
}

static void put_bar(writer *w, const hybrid_event *e, int tid)
{
    const int known = e->bound >= 0 && e->bound < HYBRID_RESOURCES;

    put_head(w, e->stage, 'X', tid);
    put_time(w, "ts", e->begin_ns - w->zero_ns);
    put_time(w, "dur", e->end_ns - e->begin_ns);
    put(w, ",\"args\":{\"bound\":\"%s\"",
        known ? hybrid_resource_text(e->bound) : "other");
    if (e->chunk >= 0)
        put(w, ",\"pass\":%lld,\"chunk\":%lld,\"first_row\":%lld,\"rows\":%lld",
            (long long)e->pass, (long long)e->chunk, (long long)e->row_begin,
            (long long)(e->row_end - e->row_begin));
    put(w, ",\"variant\":");
    put_string(w, e->variant);
    put(w, ",\"bytes\":%lld,\"flops\":%lld}}", (long long)e->bytes, (long long)e->flops);
}

/* Writes step i of the n steps of a chunk's arrow, tied to the bar of event p->event. */
static void put_arrow(writer *w, const place *p, size_t i, size_t n)
{
    const hybrid_event *e = &w->events[p->event];

    put_head(w, "chunk", i == 0 ? 's' : i + 1 < n ? 't' : 'f', w->tids[p->event]);
    put_time(w, "ts", e->begin_ns - w->zero_ns);
    put(w, ",\"cat\":\"chunk\",\"bp\":\"e\",\"id\":\"%lld.%lld\"}", (long long)e->pass,
        (long long)e->chunk);
}

static void put_counter(writer *w, const hybrid_event *e)
{
    put_head(w, "memory in use", 'C', 0);
    put_time(w, "ts", e->end_ns - w->zero_ns);
    put(w, ",\"args\":{\"device bytes\":%lld,\"host bytes\":%lld}}",
        (long long)e->device_bytes, (long long)e->host_bytes);
}

static void put_thread(writer *w, const thread *t, int tid)
{
    char name[64];

    snprintf(name, sizeof name, t->number > 0 ? "%.40s (%d)" : "%.40s", t->lane,
             t->number + 1);
    put_head(w, "thread_name", 'M', tid);
    put(w, ",\"args\":{\"name\":");
    put_string(w, name);
    put(w, "}}");
    put_head(w, "thread_sort_index", 'M', tid);
    put(w, ",\"args\":{\"sort_index\":%d}}", lane_order(t->lane));
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

/* Writes an arrow through the first event of each stage of a chunk with n events. */
static void put_chunk(writer *w, const place *places, size_t n)
{
    const hybrid_event *last = &w->events[places[0].event];
    size_t steps = 0, step = 0;

    for (size_t i = 0; i < n; i++)
        steps += w->events[places[i].event].part == 0;
    for (size_t i = 0; i < n; i++) {
        const hybrid_event *e = &w->events[places[i].event];
        if (e->part == 0 && steps > 1)
            put_arrow(w, &places[i], step++, steps);
        if (e->end_ns > last->end_ns)
            last = e;
    }
    put_counter(w, last);
}

static void put_chunks(writer *w)
{
    place *places = w->places;
    size_t end;

    for (size_t i = 0; i < w->count; i++)
        places[i] = (place){w->events[i].pass, w->events[i].chunk, i};
    qsort(places, w->count, sizeof *places, by_chunk);
    for (size_t begin = 0; begin < w->count; begin = end) {
        for (end = begin; end < w->count && places[end].pass == places[begin].pass &&
                          places[end].chunk == places[begin].chunk;
             end++)
            ;
        if (places[begin].chunk >= 0)
            put_chunk(w, places + begin, end - begin);
    }
}

/* ---- file ------------------------------------------------------------------------ */

/* Sorts by begin; of two events with the same begin the longer comes first. */
static int by_time(const void *a, const void *b)
{
    const hybrid_event *x = a, *y = b;

    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static void put_trace(writer *w, const hybrid_report *report)
{
    put(w, "{\"displayTimeUnit\":\"ms\",\"otherData\":{");
    if (report->struct_size > 0) /* 0 while no run has finished */
        put_report(w, report);
    put(w, "},\"traceEvents\":[");
    for (size_t i = 0; i < w->count; i++) {
        w->tids[i] = find_thread(w, &w->events[i]);
        put_bar(w, &w->events[i], w->tids[i]);
    }
    put_head(w, "process_name", 'M', 0);
    put(w, ",\"args\":{\"name\":\"hybrid_spmm\"}}");
    for (int i = 0; i < w->thread_count; i++)
        put_thread(w, &w->threads[i], i + 1);
    put_chunks(w);
    put(w, "\n]}\n");
}

static hybrid_status write_file(writer *w, const hybrid_report *report, const char *path)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    hy_output output;

    if (!c)
        return hy_fail(
            w->ctx, HYBRID_NO_MEMORY,
            "cannot allocate memory for the C locale; free some memory on this machine");
    hybrid_status status = hy_output_open(w->ctx, path, &output);
    if (status == HYBRID_OK) {
        const locale_t previous = uselocale(c); /* the decimal point must not become a
                                                   comma */
        w->output = &output;
        put_trace(w, report);
        uselocale(previous);
        status = hy_output_finish(w->ctx, &output, w->status);
    }
    freelocale(c);
    return status;
}

hybrid_status hy_trace_json(hybrid_engine *engine, hybrid_event *events, size_t count,
                            const char *path)
{
    hy_context *ctx = &engine->ctx;
    const int64_t n = (int64_t)count + 1;
    writer w        = {.ctx = ctx, .comma = "", .events = events, .count = count};
    void *threads = NULL, *tids = NULL, *places = NULL;
    hybrid_status status;

    HY_TRY_ELSE_DONE(hy_array(ctx, n, sizeof *w.threads, "lanes of a trace", &threads));
    HY_TRY_ELSE_DONE(hy_array(ctx, n, sizeof *w.tids, "bars of a trace", &tids));
    HY_TRY_ELSE_DONE(hy_array(ctx, n, sizeof *w.places, "chunks of a trace", &places));
    w.threads = threads;
    w.tids    = tids;
    w.places  = places;
    if (count > 0)
        qsort(events, count, sizeof *events, by_time);
    w.zero_ns = count > 0 ? events[0].begin_ns : 0;
    status    = write_file(&w, &engine->report, path);
done:
    hy_array_free(ctx, places);
    hy_array_free(ctx, tids);
    hy_array_free(ctx, threads);
    return status;
}
