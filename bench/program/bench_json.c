/* bench/program/bench_json.c - writes one line of JSON per measurement. */
#include "bench/program/bench.h"

#include <math.h>
#include <string.h>

static void put_name(FILE *f, const char *name)
{
    fprintf(f, ", \"%s\": ", name);
}

/* Writes a string; NULL becomes null. Bytes above 0x7f are copied. */
static void put_text(FILE *f, const char *name, const char *text)
{
    if (name)
        put_name(f, name);
    if (!text) {
        fputs("null", f);
        return;
    }
    putc('"', f);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20)
            fprintf(f, "\\u%04x", c);
        else
            putc(c, f);
    }
    putc('"', f);
}

static void put_real(FILE *f, const char *name, double value)
{
    put_name(f, name);
    if (isfinite(value))
        fprintf(f, "%.9g", value);
    else
        fputs("null", f);
}

static void put_whole(FILE *f, const char *name, int64_t value)
{
    put_name(f, name);
    fprintf(f, "%lld", (long long)value);
}

static void put_truth(FILE *f, const char *name, int value)
{
    put_name(f, name);
    fputs(value < 0 ? "null" : value ? "true" : "false", f);
}

static void put_report(FILE *f, const hybrid_report *r)
{
    put_real(f, "total_s", r->total_s > 0 ? r->total_s : NAN);
    put_real(f, "predicted_s", r->predicted_s > 0 ? r->predicted_s : NAN);
    put_real(f, "load_s", r->load_s);
    put_real(f, "prepare_s", r->prepare_s);
    put_real(f, "h2d_s", r->h2d_s);
    put_real(f, "multiply_s", r->multiply_s);
    put_real(f, "finish_s", r->finish_s);
    put_real(f, "d2h_s", r->d2h_s);
    put_real(f, "place_s", r->place_s);
    put_real(f, "overlap", r->overlap);
    put_whole(f, "chunks", r->chunks);
    put_whole(f, "products", r->flops / 2);
    put_whole(f, "nnz_out", r->nnz_out);
    put_whole(f, "bytes_up", r->h2d_bytes);
    put_whole(f, "bytes_down", r->d2h_bytes);
    put_whole(f, "predicted_up", r->predicted_h2d_bytes);
    put_whole(f, "predicted_down", r->predicted_d2h_bytes);
    put_whole(f, "b_up", r->b_h2d_bytes);
    put_whole(f, "least_b_up", r->least_b_h2d_bytes);
    put_whole(f, "host_chunks", r->host_chunks);
    put_whole(f, "host_products", r->host_products);
    put_real(f, "host_s", r->host_s);
    put_whole(f, "peak_device_bytes", r->peak_device_bytes);
    put_whole(f, "peak_pinned_bytes", r->peak_pinned_bytes);
    put_whole(f, "peak_host_bytes", r->peak_host_bytes);
}

/* Writes the time of packing A once: in seconds, per entry of A, and as a multiple of the
   median time of a call. */
static void put_packing(FILE *f, const bench *b, const bench_line *line)
{
    const double entries = (double)b->problem.A.nnz;

    put_truth(f, "resident", line->resident);
    put_real(f, "pack_s", line->pack_s);
    put_real(f, "pack_per_nnz_ns", entries > 0 ? 1e9 * line->pack_s / entries : NAN);
    put_real(f, "pack_runs",
             line->times.calls.median > 0 ? line->pack_s / line->times.calls.median
                                          : NAN);
}

/* Writes median, minimum and maximum as the fields NAME_s, NAME_min_s and NAME_max_s. */
static void put_span(FILE *f, const char *name, bench_span span)
{
    char field[64];

    snprintf(field, sizeof field, "%s_s", name);
    put_real(f, field, span.median);
    snprintf(field, sizeof field, "%s_min_s", name);
    put_real(f, field, span.min);
    snprintf(field, sizeof field, "%s_max_s", name);
    put_real(f, field, span.max);
}

static void put_times(FILE *f, const bench_line *line)
{
    const bench_times *t  = &line->times;
    const bench_span none = {NAN, NAN, NAN};
    const int core        = strcmp(line->mode, "core") == 0;

    put_real(f, "seconds", t->calls.median);
    put_real(f, "min_s", t->calls.min);
    put_real(f, "max_s", t->calls.max);
    put_real(f, "cold_s", t->first);
    put_truth(f, "first_in_process", line->first);
    put_span(f, "freed", core ? none : t->calls);
    put_span(f, "kept", t->kept);
    put_span(f, "kernels", core ? t->calls : none);
    put_span(f, "new_matrix", t->new_matrix);
    put_text(f, "new_matrix_variant",
             *line->new_matrix_variant ? line->new_matrix_variant : NULL);
    put_real(f, "plan_s", line->plan_s);
    put_truth(f, "reuse", line->reuse);
    put_real(f, "gflops", bench_gflops(line));
    put_real(f, "reference_s", line->report.reference_s);
    put_real(f, "speedup_over_reference", bench_speedup(line));
    put_real(f, "ratio", line->ratio);
    put_real(f, "new_matrix_ratio", line->new_matrix_ratio);
}

/* Writes the utilisation of each resource in whole calls of the library; null in other
   lines. */
static void put_use(FILE *f, const bench_line *line)
{
    const int known = bench_use(line, HYBRID_CORES) >= 0;

    put_text(f, "bound", known ? hybrid_resource_text(line->report.bound) : NULL);
    put_truth(f, "rates_measured", known ? line->report.rates_measured : -1);
    put_real(f, "use_bus_up", bench_use(line, HYBRID_BUS_UP));
    put_real(f, "use_bus_down", bench_use(line, HYBRID_BUS_DOWN));
    put_real(f, "use_host_memory", bench_use(line, HYBRID_HOST_MEMORY));
    put_real(f, "use_device", bench_use(line, HYBRID_DEVICE));
    put_real(f, "use_cores", bench_use(line, HYBRID_CORES));
}

/* Returns the split that is written with a line: that of --split for whole calls, the
   default for others. */
static hybrid_split split_of(const bench_options *o, const bench_line *line)
{
    return strcmp(line->mode, "end") == 0 ? o->split : HYBRID_SPLIT_DEFAULT;
}

static void put_setting(FILE *f, const bench *b, const bench_line *line)
{
    static const char *const splits[] = {"default", "auto", "gpu", "host", "share"};
    static const char *const orders[] = {"natural", "degree", "locality"};
    const bench_options *o            = &b->options;
    const hybrid_split split          = split_of(o, line);

    put_text(f, "device", *line->device ? line->device : NULL);
    put_text(f, "type", o->type == HYBRID_F64 ? "f64" : "f32");
    put_name(f, "cols");
    if (line->cols)
        fprintf(f, "%lld", (long long)line->cols);
    else
        fputs("null", f);
    put_text(f, "order", line->order);
    put_truth(f, "tf32", o->tf32 && !line->peer);
    put_text(f, "mode", line->mode);
    put_text(f, "split", splits[split]);
    put_real(f, "host_share", split == HYBRID_SPLIT_SHARE ? o->host_share : NAN);
    put_whole(f, "kept_reps", strcmp(line->mode, "end") == 0 ? o->keep : 0);
    put_truth(f, "pinned", line->pinned);
    put_whole(f, "neighbour_ns", b->options.neighbour_ns);
    put_whole(f, "reps", line->reps);
    put_whole(f, "threads", b->threads);
    put_whole(f, "device_memory", (int64_t)o->device_memory);
    put_whole(f, "host_memory", (int64_t)o->host_memory);
    put_truth(f, "each", o->each);
    put_text(f, "row_order", line->order ? NULL : orders[o->rows]);
    put_whole(f, "devices", o->device_count > 0 ? o->device_count : 1);
    put_whole(f, "rows", b->problem.A.rows);
    put_whole(f, "columns_of_a", b->problem.A.cols);
    put_whole(f, "nnz", b->problem.A.nnz);
    put_real(f, "alpha", b->problem.alpha);
    put_text(f, "versions", b->versions);
    put_text(f, "date", b->date);
    put_text(f, "commit", o->commit);
}

void bench_json(const bench *b, const bench_line *line)
{
    FILE *f = b->json;

    if (!f)
        return;
    fputs("{\"problem\": ", f);
    put_text(f, NULL, b->problem.name);
    put_text(f, "op", line->op);
    put_text(f, "variant", *line->variant ? line->variant : NULL);
    put_text(f, "backend", *line->backend ? line->backend : NULL);
    put_text(f, "engine", line->engine);
    put_text(f, "peer", line->peer);
    put_text(f, "asked", line->peer ? NULL : b->options.variant);
    put_setting(f, b, line);
    put_times(f, line);
    put_use(f, line);
    put_report(f, &line->report);
    put_packing(f, b, line);
    put_truth(f, "verified", line->verified);
    put_text(f, "error", *line->error ? line->error : NULL);
    put_text(f, "details", line->details);
    fputs("}\n", f);
    fflush(f);
}
