/* engine/report/trace_facts.c - the facts of a trace beside its events: the report of the
   run, and what viewers show beside the bars. */
#include "engine/report/trace_facts.h"

#include "engine/report/stalls.h"
#include "engine/report/words.h"

/* ---- the report -------------------------------------------------------------------- */

static void put_use(hy_json *json, const hybrid_report *r)
{
    const char *comma = "";

    hy_json_put(json, ",\"use\":{");
    for (int k = 0; k < HYBRID_RESOURCES; k++) {
        const hybrid_use *use = &r->use[k];
        if (use->rate <= 0)
            continue;
        hy_json_put(json, "%s\"%s\":{\"rate_is\":\"%s\"", comma,
                    hybrid_resource_text((hybrid_resource)k),
                    k == HYBRID_CORES ? "workers" : hybrid_origin_text(use->origin));
        hy_json_real(json, "utilisation", use->utilisation);
        hy_json_real(json, "rate", use->rate);
        hy_json_put(json, "}");
        comma = ",";
    }
    hy_json_put(json, "}");
}

static void put_report(hy_json *json, const hybrid_report *r)
{
    hy_json_put(json, "\"bound\":\"%s\",\"rates_measured\":%s",
                hybrid_resource_text(r->bound), r->rates_measured ? "true" : "false");
    hy_json_real(json, "total_s", r->total_s);
    hy_json_real(json, "predicted_s", r->predicted_s);
    hy_json_real(json, "bus_utilisation", r->bus_utilisation);
    put_use(json, r);
    hy_json_real(json, "reference_s", r->reference_s);
    hy_json_real(json, "speedup_over_reference", r->speedup_over_reference);
    hy_json_int(json, "chunks", r->chunks);
    hy_json_int(json, "rows", r->rows);
    hy_json_int(json, "flops", r->flops);
    hy_json_int(json, "nnz_out", r->nnz_out);
    hy_json_int(json, "h2d_bytes", r->h2d_bytes);
    hy_json_int(json, "d2h_bytes", r->d2h_bytes);
    hy_json_int(json, "predicted_h2d_bytes", r->predicted_h2d_bytes);
    hy_json_int(json, "predicted_d2h_bytes", r->predicted_d2h_bytes);
    hy_json_int(json, "peak_device_bytes", r->peak_device_bytes);
    hy_json_int(json, "peak_pinned_bytes", r->peak_pinned_bytes);
    hy_json_int(json, "peak_host_bytes", r->peak_host_bytes);
}

/* ---- the timeline ------------------------------------------------------------------ */

/* Returns the row below `row` in the order of hy_timeline_compare(), or NULL if it is
   the last. If `row` is NULL, returns the top row. */
static const hy_timeline_row *next_row(const hy_timeline *t, const hy_timeline_row *row)
{
    const hy_timeline_row *next = NULL;

    for (int i = 0; i < t->row_count; i++) {
        const hy_timeline_row *r = &t->rows[i];
        if (row && hy_timeline_compare(row, r) >= 0)
            continue;
        if (!next || hy_timeline_compare(r, next) < 0)
            next = r;
    }
    return next;
}

static void put_lanes(hy_json *json, const hy_timeline *t)
{
    const char *comma = "";
    char name[HY_TIMELINE_NAME];

    for (const hy_timeline_row *r = next_row(t, NULL); r; r = next_row(t, r)) {
        hy_timeline_name(r, name);
        hy_json_put(json, "%s\n{\"tid\":%d,\"name\":", comma, (int)(r - t->rows) + 1);
        hy_json_string(json, name);
        hy_json_time(json, "busy_us", r->busy_ns);
        hy_json_put(json, "}");
        comma = ",";
    }
}

static void put_memory(hy_json *json, const char *name, const hy_meter *meter,
                       int64_t peak)
{
    hy_json_put(json, "\n{\"name\":\"%s\"", name);
    hy_json_int(json, "limit_bytes", hy_meter_cap(meter));
    hy_json_int(json, "peak_bytes", peak);
    hy_json_put(json, "}");
}

void hy_trace_memory_name(const hybrid_engine *engine, int device, char *name,
                          size_t room)
{
    hy_words w = hy_words_begin(name, room);

    if (!engine->device)
        hy_words_put(&w, "chunk buffers");
    else if (device > 0)
        hy_words_put(&w, "GPU %d memory", device);
    else
        hy_words_put(&w, "GPU memory");
}

static void put_memories(hy_json *json, const hybrid_engine *engine)
{
    const int devices = engine->device ? engine->device_count : 1;
    char name[32];

    for (int i = 0; i < devices; i++) {
        const hy_backend *backend = engine->device ? engine->devices[i] : engine->host;
        hy_trace_memory_name(engine, i, name, sizeof name);
        put_memory(json, name, &backend->device, hy_meter_peak(&backend->device));
        hy_json_put(json, ",");
    }
    put_memory(json, HY_TRACE_HOST_MEMORY, &engine->ctx.memory.meter,
               hy_meter_peak(&engine->ctx.memory.meter));
}

static void put_stalls(hy_json *json, hy_timeline *t, hybrid_resource bound)
{
    hy_stall stalls[HY_STALLS];
    const int count = hy_stalls_find(t, bound, stalls);
    char text[HY_STALL_BYTES];

    for (int i = 0; i < count; i++) {
        hy_stall_tell(t, &stalls[i], text);
        hy_json_put(json, "%s\n{\"tid\":%d", i > 0 ? "," : "", stalls[i].row + 1);
        hy_json_time(json, "begin_us", stalls[i].begin_ns - t->zero_ns);
        hy_json_time(json, "end_us", stalls[i].end_ns - t->zero_ns);
        hy_json_put(json, ",\"text\":");
        hy_json_string(json, text);
        hy_json_put(json, "}");
    }
}

static void put_timeline(hy_json *json, const hybrid_engine *engine, hy_timeline *t)
{
    const int version = hybrid_version();

    hy_json_put(json, "\"timeline\":{\"format\":1,\"version\":\"%d.%d.%d\"",
                version / 10000, version / 100 % 100, version % 100);
    hy_json_put(json, ",\"workers\":%d,\"device\":", hybrid_engine_threads(engine));
    hy_json_string(json, engine->device ? engine->device_text : "CPU");
    hy_json_time(json, "begin_us", t->begin_ns - t->zero_ns);
    hy_json_time(json, "end_us", t->end_ns - t->zero_ns);
    hy_json_put(json, ",\"lanes\":[");
    put_lanes(json, t);
    hy_json_put(json, "],\"memory\":[");
    put_memories(json, engine);
    hy_json_put(json, "],\"stalls\":[");
    if (engine->report.struct_size > 0)
        put_stalls(json, t, engine->report.bound);
    hy_json_put(json, "]}");
}

void hy_trace_facts(const hybrid_engine *engine, hy_timeline *t, hy_json *json)
{
    hy_json_put(json, "\"otherData\":{");
    put_timeline(json, engine, t);
    if (engine->report.struct_size > 0) { /* the size is 0 until the first run has
                                             finished */
        hy_json_put(json, ",");
        put_report(json, &engine->report);
    }
    hy_json_put(json, "}");
}
