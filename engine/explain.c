/* engine/explain.c - a plan in words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "engine/estimate.h"
#include "engine/plan.h"
#include "engine/resident.h"
#include "partition/chunks.h"

typedef struct writer {
    char *text;
    size_t capacity, length;
} writer;

HY_PRINTF(2, 3) static void put(writer *w, const char *format, ...)
{
    const size_t room = w->length < w->capacity ? w->capacity - w->length : 0;
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(room ? w->text + w->length : NULL, room, format, args);
    va_end(args);
    w->length += n > 0 ? (size_t)n : 0;
}

/* 12345678 as "12 345 678". */
static void put_count(writer *w, int64_t n)
{
    char digits[32], out[48];
    int used = 0, length = snprintf(digits, sizeof digits, "%lld", (long long)n);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            out[used++] = ' ';
        out[used++] = digits[i];
    }
    put(w, "%.*s", used, out);
}

static void put_bytes(writer *w, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit                         = 0;

    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    put(w, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

static void put_time(writer *w, double s)
{
    if (s < 1)
        put(w, "%9.3f ms", s * 1e3);
    else
        put(w, "%9.3f s ", s);
}

static void put_features(writer *w, const hy_product *product)
{
    const hy_features *f = &product->profile.features;

    put(w, "%s  A ", product->op == HY_SPGEMM ? "spgemm" : "spmm");
    put_count(w, product->rows);
    put(w, " x ");
    put_count(w, product->cols);
    put(w, ", nnz ");
    put_count(w, f->nnz);
    put(w, ", f%d; result ", f->type == HYBRID_F64 ? 64 : 32);
    put_count(w, product->rows);
    put(w, " x ");
    put_count(w, f->out_cols);
    if (hy_is_hypersparse(&product->hypersparse)) {
        put(w, "\nempty     left out: ");
        put_count(w, product->rows - f->rows);
        put(w, " rows and ");
        put_count(w, product->cols - f->cols);
        put(w, " columns of A, and what belongs to them of X and Y");
    }
    put(w, "\nfeatures  products %.3g   out <= %.3g   row mean %.1f max %lld cv %.2f",
        (double)f->products, (double)f->out_bound, f->row_mean, (long long)f->row_max,
        f->row_cv);
    if (product->op == HY_SPGEMM)
        put(w, "   out_ratio %.1f", f->out_ratio);
    else if (f->tile_fill > 0)
        put(w, "   tile fill %.1f %% (synergy %s)", 100 * f->tile_fill,
            hy_synergy_class(f->tile_fill));
    if (f->block_fill > 0)
        put(w, "   blocks %d x %d fill %.1f %%", f->block_rows, f->block_cols,
            100 * f->block_fill);
    put(w, "\n");
}

static void put_candidates(writer *w, const hybrid_plan *plan)
{
    put(w, "%-26s %12s   note\n", "candidates", "predicted");
    for (int i = 0; i < plan->candidates.count; i++) {
        const hy_candidate *c = &plan->candidates.of[i];
        put(w, "  %-24s ", c->variant->name);
        if (c->refused) {
            put(w, "%12s   refused: %s\n", "-", c->refused);
        } else {
            put_time(w, c->predicted_s);
            put(w, "   %s\n", i == plan->candidates.chosen ? "chosen" : "");
        }
    }
}

/* The estimate of a run, and for how long each resource would be busy by itself. */
static void put_estimate(writer *w, const hy_portion *portion)
{
    const hy_product *product    = &portion->product;
    const hy_circumstances found = hy_circumstances_of(product);
    hy_rates host;

    if (!hy_product_on_device(product) || portion->layout.count == 0)
        return;
    hy_rates_of(product->engine->host, &host);
    const hy_rates *r   = &product->rates;
    const hy_estimate e = hy_portion_estimate(portion, &found);
    put(w,
        "\nestimate  %.3g ms a run: up %.3g, down %.3g, kernels %.3g, cores %.3g, host "
        "memory "
        "%.3g",
        1e3 * hy_seconds(&e, r, &host), 1e3 * (e.first_bytes + e.up_bytes) / r->h2d_Bps,
        1e3 * e.down_bytes / r->d2h_Bps, 1e3 * e.device_s, 1e3 * e.core_s / host.width,
        1e3 * (e.memory_bytes + e.stored_bytes) / host.mem_Bps);
}

static int64_t panels_of(const hy_portion *portion)
{
    return hy_image_col_blocks(&portion->layout.image);
}

static void put_resident(writer *w, const hybrid_plan *plan, const hy_portion *portion)
{
    const hy_pack_cache *cache = &portion->site->cache;
    const int64_t kept         = cache->count * panels_of(portion);

    if (!(plan->product.options.flags & HYBRID_RESIDENT) ||
        !hy_product_on_device(&plan->product))
        return;
    put(w, "resident  A's rows in %lld of %lld chunks, packed once, ", (long long)kept,
        (long long)portion->layout.count);
    put_bytes(w, (double)cache->block.bytes);
    put(w, "%s\n",
        plan->split.host && !hy_resident_all(portion->site)
            ? ", but for chunks that the host computes"
            : "");
}

/* From call to return, and of the last run as measured. */
static void put_total(writer *w, const hybrid_plan *plan)
{
    const hybrid_report *r = &plan->history.report;

    put(w, "time     ");
    put_time(w, r->predicted_s);
    put(w, " predicted");
    if (r->total_s > 0) {
        put(w, "; last run");
        put_time(w, r->total_s);
    }
    put(w, "\n");
}

/* What is predicted of the way taken and of the other, and the last run beside it. */
static void put_transfers(writer *w, const hybrid_plan *plan)
{
    const hybrid_report *r = &plan->history.report;

    put(w, "transfers up ");
    put_bytes(w, (double)r->predicted_h2d_bytes);
    if (r->other_h2d_bytes >= 0) {
        put(w, " (%s: ", r->gathered ? "resident" : "gathered");
        put_bytes(w, (double)r->other_h2d_bytes);
        put(w, ")");
    }
    put(w, ", down ");
    put_bytes(w, (double)r->predicted_d2h_bytes);
    if (r->total_s > 0) {
        put(w, "; last run up ");
        put_bytes(w, (double)r->h2d_bytes);
        put(w, ", down ");
        put_bytes(w, (double)r->d2h_bytes);
    }
    put(w, "\n");
}

static void put_rates(writer *w, const hybrid_engine *engine, const hy_backend *backend)
{
    if (backend->measured.date[0])
        put(w, "rates     measured on %s: %s\n", backend->measured.date,
            engine->rates_path);
    else
        put(w, "rates     built in; see hybrid_spmm calibrate\n");
}

static void put_forecast(writer *w, const hy_forecast *f)
{
    if (f->why_not)
        put(w, "the device alone: %s", f->why_not);
    else
        put(w, "host %.0f %% of the work%s by %s", 100 * f->share,
            f->sharing.share < 0 ? " expected" : "", f->sharing.variant->name);
}

/* Reasons are static strings. */
static int is_same(const hy_forecast *a, const hy_forecast *b)
{
    return a->why_not == b->why_not && fabs(a->share - b->share) == 0;
}

/* What the host is expected to take from the device. */
static void put_split(writer *w, const hybrid_plan *plan)
{
    const hy_split *split     = &plan->split;
    const hy_forecast *all    = &split->of[HY_RUNS_PAGEABLE],
                      *pinned = &split->of[HY_RUNS_PINNED];

    if (plan->spared_s > 0)
        put(w, "split     the host alone: the device is expected to take %.3g ms\n",
            1e3 * plan->spared_s);
    if (!split->host && !pinned->why_not) /* there is no device, or it is spared */
        return;
    put(w, "split     ");
    if (split->host && hy_split_all_stays(plan->portions, plan->count)) {
        put(w, "the device alone, which has all of A, until it is told to refresh it\n");
        return;
    }
    put_forecast(w, pinned);
    if (split->host && !is_same(all, pinned)) {
        put(w, " if X and Y are pinned, else ");
        put_forecast(w, all);
    }
    if (split->host) {
        put(w, "%s; pieces of %.3g products, slots %d x ",
            plan->product.op == HY_SPGEMM ? " in runs after the first" : "",
            (double)pinned->sharing.products, split->host->depth);
        put_bytes(w, (double)pinned->sharing.slot_bytes);
    }
    put(w, "\n");
}

/* What of B or X stays there, passes through, or comes with chunks. */
static void put_layout(writer *w, const hy_portion *portion)
{
    const hy_product *product = &portion->product;
    const hy_layout *layout   = &portion->layout;
    const char *second        = product->op == HY_SPGEMM ? "B" : "X";

    if (!hy_product_on_device(product)) {
        put(w, "; operands are read in place\n");
        return;
    }
    if (product->variant->form == HY_FORM_NONE) {
        put(w, "; each chunk brings a row of B for each entry of A\n");
        return;
    }
    if (layout->gathered) {
        put(w, "; each chunk brings the rows of %s that it touches\n", second);
        return;
    }
    put(w, "; %s %s the device, ", second,
        layout->image.axis == HY_AXIS_ROWS ? "passes through" : "stays on");
    put_bytes(w, (double)layout->shared_bytes);
    if (layout->image.axis == HY_AXIS_COLS)
        put(w, " in %lld panels of %lld columns", (long long)panels_of(portion),
            (long long)layout->image.block);
    if (layout->image.axis == HY_AXIS_ROWS) {
        put(w, ", ");
        put_count(w, layout->image.places);
        put(w, " rows at a time");
    }
    if (layout->if_pinned.axis == HY_AXIS_COLS)
        put(w, "; %lld columns at a time if X and Y are pinned",
            (long long)layout->if_pinned.block);
    put(w, "\n");
}

/* Of several devices each has a paragraph. */
static void put_rows(writer *w, const hybrid_plan *plan, const hy_portion *portion)
{
    if (plan->count == 1)
        return;
    put(w, "site      %d, %s: ", portion->product.backend->index,
        portion->product.variant->name);
    if (portion->product.op == HY_SPGEMM)
        put(w, "the next rows, or where rows of C begin is known ");
    put(w, "rows ");
    put_count(w, portion->begin);
    put(w, " to ");
    put_count(w, portion->end);
    put(w, ", %.0f %% of the work%s\n", 100 * portion->weight,
        portion->taking.variant ? ", and then some of others" : "");
}

static void put_portion(writer *w, const hybrid_plan *plan, const hy_portion *portion)
{
    const hy_product *product = &portion->product;
    const hy_backend *backend = product->backend;
    const int64_t count       = portion->layout.count;
    const int64_t each        = product->profile.features.products / (count ? count : 1);
    size_t device = 0, pinned = 0;

    put_rows(w, plan, portion);
    hy_slot_sizes(backend, &product->rates, portion->layout.chunks, count,
                  product->result_there, &device, &pinned);
    put(w, "chunks    %lld, products %.3g each, slots %d x ", (long long)count,
        (double)each, portion->site->depth);
    put_bytes(w, (double)device);
    put_estimate(w, portion);
    put(w, "\ndevice    %s, budget ", backend->ops->describe(backend));
    put_bytes(w, (double)(product->rates.memory + 2 * product->turned_room +
                          product->narrow_room));
    put_layout(w, portion);
    put_resident(w, plan, portion);
    put_rates(w, product->engine, backend);
}

static void put_chunks(writer *w, const hybrid_plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        put_portion(w, plan, &plan->portions[i]);
    put_transfers(w, plan);
    put_total(w, plan);
    put_split(w, plan);
}

size_t hybrid_plan_explain(const hybrid_plan *plan, char *text, size_t capacity)
{
    writer w = {text, text ? capacity : 0, 0};

    if (!plan)
        return 0;
    if (w.capacity > 0)
        text[0] = '\0';
    put_features(&w, &plan->product);
    put_candidates(&w, plan);
    put_chunks(&w, plan);
    return w.length;
}
