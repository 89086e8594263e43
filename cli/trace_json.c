/* cli/trace_json.c - events to Chrome Trace Event JSON.

   Each lane is a thread of the timeline. Slices of one thread must nest: when two events
   of a lane only overlap, the later one goes to a second thread of that lane. Arrows
   follow a chunk from stage to stage, and counters show memory when a chunk is over. */
#include "cli/trace_json.h"

#include <stdlib.h>
#include <string.h>

#include "cli/report_json.h"
#include "cli/say.h"

/* ---- collecting ---------------------------------------------------------------------
 */

void cli_trace_add(cli_trace *trace, const hybrid_event *event)
{
    if (trace->count == trace->capacity) {
        const size_t capacity = trace->capacity ? 2 * trace->capacity : 256;
        void *grown           = realloc(trace->events, capacity * sizeof *trace->events);
        if (!grown) {
            trace->lost = 1;
            return;
        }
        trace->events   = grown;
        trace->capacity = capacity;
    }
    trace->events[trace->count++] = *event;
}

void cli_trace_free(cli_trace *trace)
{
    free(trace->events);
    *trace = (cli_trace){0};
}

/* ---- lanes to threads -----------------------------------------------------------------
 */

enum { DEPTH = 8 };

typedef struct thread {
    const char *lane;
    int number;          /* of the lane's threads: 0, 1, ... */
    int64_t ends[DEPTH]; /* of the slices that are open, outermost first */
    int open;
} thread;

typedef struct writer {
    FILE *file;
    const char *comma;
    const cli_trace *trace;
    const hybrid_report *report;
    int64_t zero_ns; /* the first event begins */
    thread *threads;
    int thread_count;
    int *tids; /* of event i */
} writer;

/* 1 if the event lies beside, or inside, what is open on the thread. */
static int push_slice(thread *t, const hybrid_event *event)
{
    while (t->open > 0 && t->ends[t->open - 1] <= event->begin_ns)
        t->open--;
    if (t->open == DEPTH || (t->open > 0 && t->ends[t->open - 1] < event->end_ns))
        return 0;
    t->ends[t->open++] = event->end_ns;
    return 1;
}

static int find_thread(writer *w, const hybrid_event *event)
{
    int number = 0;

    for (int i = 0; i < w->thread_count; i++) {
        if (strcmp(w->threads[i].lane, event->lane) != 0)
            continue;
        if (push_slice(&w->threads[i], event))
            return i + 1;
        number++;
    }
    thread *t = &w->threads[w->thread_count++];
    *t        = (thread){.lane = event->lane, .number = number};
    push_slice(t, event);
    return w->thread_count;
}

/* ---- events
 * ------------------------------------------------------------------------------ */

/* Microseconds since the first event: exact to the nanosecond. */
static void put_time(const writer *w, const char *key, int64_t ns)
{
    fprintf(w->file, ",\"%s\":%lld.%03d", key, (long long)(ns / 1000), (int)(ns % 1000));
}

static void put_head(writer *w, const char *name, char phase, int tid)
{
    fprintf(w->file, "%s\n{\"name\":", w->comma);
    cli_json_string(w->file, name);
    fprintf(w->file, ",\"ph\":\"%c\",\"pid\":1,\"tid\":%d", phase, tid);
    w->comma = ",";
}

static void put_slice(writer *w, const hybrid_event *e, int tid)
{
    put_head(w, e->stage, 'X', tid);
    put_time(w, "ts", e->begin_ns - w->zero_ns);
    put_time(w, "dur", e->end_ns - e->begin_ns);
    fputs(",\"args\":{", w->file);
    if (e->chunk >= 0)
        fprintf(w->file, "\"chunk\":%lld,\"first_row\":%lld,\"rows\":%lld,",
                (long long)e->chunk, (long long)e->row_begin,
                (long long)(e->row_end - e->row_begin));
    fputs("\"variant\":", w->file);
    cli_json_string(w->file, e->variant);
    fprintf(w->file, ",\"bytes\":%lld,\"flops\":%lld}}", (long long)e->bytes,
            (long long)e->flops);
}

/* Step i of n of the arrow that follows a chunk; it is tied to the slice around it. */
static void put_arrow(writer *w, const hybrid_event *e, int tid, size_t i, size_t n)
{
    put_head(w, "chunk", i == 0 ? 's' : i + 1 < n ? 't' : 'f', tid);
    put_time(w, "ts", e->begin_ns - w->zero_ns);
    fprintf(w->file, ",\"cat\":\"chunk\",\"bp\":\"e\",\"id\":%lld}", (long long)e->chunk);
}

static void put_counter(writer *w, const hybrid_event *e, int64_t at_ns)
{
    put_head(w, "memory in use", 'C', 0);
    put_time(w, "ts", at_ns - w->zero_ns);
    fprintf(w->file, ",\"args\":{\"device bytes\":%lld,\"host bytes\":%lld}}",
            (long long)e->device_bytes, (long long)e->host_bytes);
}

static void put_name(writer *w, const char *what, int tid, const char *name, int number)
{
    put_head(w, what, 'M', tid);
    fputs(",\"args\":{\"name\":", w->file);
    if (number > 0) {
        char numbered[64];
        snprintf(numbered, sizeof numbered, "%.40s (%d)", name, number + 1);
        cli_json_string(w->file, numbered);
    } else {
        cli_json_string(w->file, name);
    }
    fputs("}}", w->file);
}

/* Reading above, then the workers and who called them, the device's lanes, writing below.
 */
static int lane_order(const char *lane)
{
    static const char *const order[] = {"main", "reader", "cpu", "caller", "host",
                                        "h2d",  "run",    "d2h", "writer"};

    for (int i = 0; i < 9; i++)
        if (strncmp(lane, order[i], strlen(order[i])) == 0)
            return 1000 * i + (i == 2 ? atoi(lane + 3) % 1000 : 0);
    return 9000;
}

static void put_threads(writer *w)
{
    put_name(w, "process_name", 0, "hybrid_spmm", 0);
    for (int i = 0; i < w->thread_count; i++) {
        const thread *t = &w->threads[i];
        put_name(w, "thread_name", i + 1, t->lane, t->number);
        put_head(w, "thread_sort_index", 'M', i + 1);
        fprintf(w->file, ",\"args\":{\"sort_index\":%d}}", lane_order(t->lane));
    }
}

/* ---- all of it
 * ------------------------------------------------------------------------- */

/* By begin, and the longer first: what nests comes after what it is in. */
static int by_time(const void *a, const void *b)
{
    const hybrid_event *x = a, *y = b;

    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

/* An event's place in the sorted trace, kept while places are sorted by chunk. */
typedef struct place {
    int64_t chunk;
    size_t event;
} place;

static int by_chunk(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* The n places of one chunk. */
static void put_chunk(writer *w, const place *places, size_t n)
{
    const hybrid_event *events = w->trace->events, *last = &events[places[0].event];

    for (size_t i = 0; i < n; i++) {
        const hybrid_event *e = &events[places[i].event];
        if (n > 1)
            put_arrow(w, e, w->tids[places[i].event], i, n);
        if (e->end_ns > last->end_ns)
            last = e;
    }
    put_counter(w, last, last->end_ns);
}

static void put_chunks(writer *w, place *places)
{
    const size_t count = w->trace->count;
    size_t end;

    for (size_t i = 0; i < count; i++)
        places[i] = (place){w->trace->events[i].chunk, i};
    qsort(places, count, sizeof *places, by_chunk);
    for (size_t begin = 0; begin < count; begin = end) {
        for (end = begin; end < count && places[end].chunk == places[begin].chunk; end++)
            ;
        if (places[begin].chunk >= 0)
            put_chunk(w, places + begin, end - begin);
    }
}

static void put_all(writer *w, place *places)
{
    cli_json usage;

    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":", w->file);
    cli_json_begin(&usage, w->file, "");
    cli_report_usage(&usage, w->report);
    cli_json_end(&usage);
    fputs(",\"traceEvents\":[", w->file);
    for (size_t i = 0; i < w->trace->count; i++) {
        w->tids[i] = find_thread(w, &w->trace->events[i]);
        put_slice(w, &w->trace->events[i], w->tids[i]);
    }
    put_threads(w);
    put_chunks(w, places);
    fputs("\n]}\n", w->file);
}

int cli_trace_write(cli_trace *trace, const hybrid_report *report, FILE *file)
{
    const size_t n = trace->count + 1;
    writer w       = {.file    = file,
                      .comma   = "",
                      .trace   = trace,
                      .report  = report,
                      .threads = malloc(n * sizeof *w.threads),
                      .tids    = malloc(n * sizeof *w.tids)};
    place *places  = malloc(n * sizeof *places);
    int code       = CLI_DONE;

    if (trace->lost || !w.threads || !w.tids || !places) {
        code = cli_fail(CLI_MEMORY, "no memory for a trace of %zu events", trace->count);
    } else if (trace->count > 0) {
        qsort(trace->events, trace->count, sizeof *trace->events, by_time);
        w.zero_ns = trace->events[0].begin_ns;
        put_all(&w, places);
    } else {
        fputs("{\"traceEvents\":[]}\n", file);
    }
    free(places);
    free(w.tids);
    free(w.threads);
    return code;
}
