/* cli/trace/trace_file.c - reads a trace that `multiply --trace` wrote. */
#include "cli/trace/trace_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/operands/operand.h"
#include "cli/output/say.h"
#include "cli/trace/whole_file.h"

/* the value of otherData.timeline.format in a trace that this program can read */
enum { FORMAT = 1 };

/* ---- arrays ---------------------------------------------------------------------- */

/* Provides room for one more element of `size` bytes: doubles the array if `count` is a
   power of two. Returns the array, or NULL, with trace->no_memory set, if there is no
   memory. */
static void *grow(cli_trace *trace, cli_reader *r, void *array, int64_t count,
                  size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return array;
    void *more = realloc(array, (size_t)(count > 0 ? 2 * count : 1) * size);
    if (!more) {
        trace->no_memory = 1;
        cli_reader_fail(r, "memory");
    }
    return more;
}

/* Appends `value` to trace->array, which has trace->count elements; drops it if there is
   no memory. */
#define APPEND(trace, r, array, count, value)                                            \
    do {                                                                                 \
        void *grown_ =                                                                   \
            grow(trace, r, (trace)->array, (trace)->count, sizeof *(trace)->array);      \
        if (grown_) {                                                                    \
            (trace)->array                   = grown_;                                   \
            (trace)->array[(trace)->count++] = value;                                    \
        }                                                                                \
    } while (0)

/* ---- objects of figures and texts ------------------------------------------------ */

/* A member that a JSON object may have. Its value is stored in *number or in *text,
   whichever is not NULL. */
typedef struct field {
    const char *name;
    double *number;
    cli_slice *text;
} field;

/* Reads the value of the member `name` of an object to where `fields` says, or drops it
   if `fields` does not list the name. */
static void read_field(cli_reader *r, cli_slice name, const field *fields)
{
    const field *f = fields;

    while (f->name && !cli_slice_is(name, f->name))
        f++;
    if (f->number)
        cli_read_number(r, f->number);
    else if (f->text)
        cli_read_string(r, f->text);
    else
        cli_read_any(r);
}

static void read_fields(cli_reader *r, const field *fields)
{
    cli_slice name;

    cli_read_object(r);
    while (cli_read_member(r, &name))
        read_field(r, name, fields);
}

/* ---- the facts ------------------------------------------------------------------- */

static void read_lane(cli_trace *trace, cli_reader *r)
{
    cli_lane lane        = {.tid = NAN, .busy_us = NAN};
    const field fields[] = {{"tid", &lane.tid, NULL},
                            {"name", NULL, &lane.name},
                            {"busy_us", &lane.busy_us, NULL},
                            {0}};

    read_fields(r, fields);
    if (isnan(lane.tid) || isnan(lane.busy_us) || !lane.name.text)
        cli_reader_fail(r, "a lane with tid, name and busy_us is expected");
    APPEND(trace, r, lanes, lane_count, lane);
}

static void read_memory(cli_trace *trace, cli_reader *r)
{
    cli_memory memory    = {.limit_bytes = NAN, .peak_bytes = NAN};
    const field fields[] = {{"name", NULL, &memory.name},
                            {"limit_bytes", &memory.limit_bytes, NULL},
                            {"peak_bytes", &memory.peak_bytes, NULL},
                            {0}};

    read_fields(r, fields);
    if (isnan(memory.limit_bytes) || isnan(memory.peak_bytes) || !memory.name.text)
        cli_reader_fail(r, "a memory with name, limit_bytes and peak_bytes is expected");
    APPEND(trace, r, memories, memory_count, memory);
}

static void read_stall(cli_trace *trace, cli_reader *r)
{
    cli_slice text       = {0};
    const field fields[] = {{"text", NULL, &text}, {0}};

    read_fields(r, fields);
    if (!text.text)
        cli_reader_fail(r, "a stall with a text is expected");
    APPEND(trace, r, stalls, stall_count, text);
}

static void read_list(cli_trace *trace, cli_reader *r,
                      void (*read_one)(cli_trace *, cli_reader *))
{
    cli_read_array(r);
    while (cli_read_element(r))
        read_one(trace, r);
}

static void read_timeline(cli_trace *trace, cli_reader *r)
{
    const field fields[] = {
        {"format", &trace->format, NULL}, {"workers", &trace->workers, NULL},
        {"device", NULL, &trace->device}, {"begin_us", &trace->begin_us, NULL},
        {"end_us", &trace->end_us, NULL}, {0}};
    cli_slice name;

    cli_read_object(r);
    while (cli_read_member(r, &name))
        if (cli_slice_is(name, "lanes"))
            read_list(trace, r, read_lane);
        else if (cli_slice_is(name, "memory"))
            read_list(trace, r, read_memory);
        else if (cli_slice_is(name, "stalls"))
            read_list(trace, r, read_stall);
        else
            read_field(r, name, fields);
}

static void read_uses(cli_trace *trace, cli_reader *r)
{
    cli_use use          = {0};
    const field fields[] = {{"utilisation", &use.utilisation, NULL}, {0}};

    cli_read_object(r);
    while (cli_read_member(r, &use.resource)) {
        use.utilisation = NAN;
        read_fields(r, fields);
        APPEND(trace, r, uses, use_count, use);
    }
}

static void read_facts(cli_trace *trace, cli_reader *r)
{
    const field fields[] = {{"bound", NULL, &trace->bound},
                            {"total_s", &trace->total_s, NULL},
                            {"predicted_s", &trace->predicted_s, NULL},
                            {"chunks", &trace->chunks, NULL},
                            {"rows", &trace->rows, NULL},
                            {0}};
    cli_slice name;

    cli_read_object(r);
    while (cli_read_member(r, &name))
        if (cli_slice_is(name, "timeline"))
            read_timeline(trace, r);
        else if (cli_slice_is(name, "use"))
            read_uses(trace, r);
        else
            read_field(r, name, fields);
}

/* ---- events ---------------------------------------------------------------------- */

/* An event as the file has it; numbers that it lacks are NAN. */
typedef struct event {
    cli_slice name, phase;
    double tid, ts, dur, bytes;
} event;

static void read_event(cli_trace *trace, cli_reader *r)
{
    event e              = {.tid = NAN, .ts = NAN, .dur = NAN, .bytes = NAN};
    const field args[]   = {{"bytes", &e.bytes, NULL}, {0}};
    const field fields[] = {{"name", NULL, &e.name}, {"ph", NULL, &e.phase},
                            {"tid", &e.tid, NULL},   {"ts", &e.ts, NULL},
                            {"dur", &e.dur, NULL},   {0}};
    cli_slice name;

    cli_read_object(r);
    while (cli_read_member(r, &name))
        if (cli_slice_is(name, "args"))
            read_fields(r, args);
        else
            read_field(r, name, fields);
    if (!e.name.text || !e.phase.text)
        cli_reader_fail(r, "an event with name and ph is expected");
    else if (cli_slice_is(e.phase, "X")) {
        const cli_bar bar = {e.name, e.tid, e.ts, e.ts + e.dur};
        if (!(e.tid >= 0 && e.dur >= 0 && isfinite(bar.end_us)))
            cli_reader_fail(r, "a bar with tid, ts and dur is expected");
        APPEND(trace, r, bars, bar_count, bar);
    } else if (cli_slice_is(e.phase, "C")) {
        const cli_sample sample = {e.name, e.ts, e.bytes};
        if (!isfinite(e.ts) || !(e.bytes >= 0))
            cli_reader_fail(r, "a counter with ts and bytes is expected");
        APPEND(trace, r, samples, sample_count, sample);
    }
}

int cli_trace_parse(cli_trace *trace, cli_reader *r)
{
    cli_slice name;

    *r             = cli_reader_open(trace->text, trace->bytes);
    trace->workers = trace->total_s = trace->predicted_s = NAN;
    trace->chunks = trace->rows = trace->format = NAN;
    trace->begin_us = trace->end_us = NAN;
    cli_read_object(r);
    while (cli_read_member(r, &name))
        if (cli_slice_is(name, "otherData"))
            read_facts(trace, r);
        else if (cli_slice_is(name, "traceEvents"))
            read_list(trace, r, read_event);
        else
            cli_read_any(r);
    cli_read_end(r);
    if (trace->format != FORMAT)
        cli_reader_fail(r,
                        "otherData.timeline with format 1 is expected, which 'multiply "
                        "--trace' of this version writes");
    if (!(trace->begin_us <= trace->end_us && isfinite(trace->end_us)))
        cli_reader_fail(r, "otherData.timeline with begin_us and end_us is expected");
    return !r->fault;
}

/* ---- the file -------------------------------------------------------------------- */

int cli_trace_open(const char *name, cli_trace *trace)
{
    const cli_title title = cli_operand_title(name);
    int64_t line, column;
    cli_reader r;

    const int code = cli_whole_file(name, &trace->text, &trace->bytes);
    if (code != CLI_DONE || cli_trace_parse(trace, &r))
        return code;
    if (trace->no_memory)
        return cli_fail(CLI_MEMORY,
                        "there is no memory for the events of '%s'; free memory of the "
                        "machine",
                        title.s);
    cli_reader_place(&r, &line, &column);
    return cli_fail(CLI_INPUT, "%s:%lld:%lld: %s", title.s, (long long)line,
                    (long long)column, r.fault);
}

void cli_trace_close(cli_trace *trace)
{
    free(trace->lanes);
    free(trace->bars);
    free(trace->memories);
    free(trace->samples);
    free(trace->stalls);
    free(trace->uses);
    free(trace->text);
    *trace = (cli_trace){0};
}
