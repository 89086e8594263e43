/* engine/report/details.c - describes a plan with all its numbers:
   hybrid_plan_details(). */
#include <math.h>

#include "base/data/value_type.h"
#include "engine/rates/estimate.h"
#include "engine/plan/plan.h"
#include "engine/run/resident.h"
#include "engine/tables/parameters.h"
#include "engine/report/words.h"
#include "engine/schedules/column_blocks.h"
#include "partition/parts/passes.h"
#include "partition/pattern/chunks.h"

static void put_features(hy_words *w, const hybrid_plan *plan)
{
    const hy_product *product = &plan->product;
    const hy_features *f      = &product->profile.features;
    /* features of the first portion; they include the block shape that its variant
       chose */
    const hy_features *chosen = &plan->portions->profile.features;

    hy_words_put(w, "%s  A ", product->op == HY_SPGEMM ? "spgemm" : "spmm");
    hy_words_count(w, product->rows);
    hy_words_put(w, " x ");
    hy_words_count(w, product->cols);
    hy_words_put(w, ", nnz ");
    hy_words_count(w, f->nnz);
    hy_words_put(w, ", %s; result ", hy_value_type_of(f->type)->name);
    hy_words_count(w, product->rows);
    hy_words_put(w, " x ");
    hy_words_count(w, f->out_cols);
    if (hy_is_hypersparse(&product->hypersparse)) {
        hy_words_put(w, "\nempty     left out: ");
        hy_words_count(w, product->rows - f->rows);
        hy_words_put(w, " rows and ");
        hy_words_count(w, product->cols - f->cols);
        hy_words_put(w, " columns of A, and what belongs to them of X and Y");
    }
    hy_words_put(
        w, "\nfeatures  products %.3g   out <= %.3g   row mean %.1f max %lld cv %.2f",
        (double)f->products, (double)f->out_bound, f->row_mean, (long long)f->row_max,
        f->row_cv);
    if (product->op == HY_SPGEMM)
        hy_words_put(w, "   out_ratio %.1f", f->out_ratio);
    else if (f->tile_fill > 0)
        hy_words_put(w, "   tile fill %.1f %% (synergy %s)", 100 * f->tile_fill,
                     hy_synergy_class(f->tile_fill));
    if (chosen->block_fill > 0)
        hy_words_put(w, "   blocks %d x %d fill %.1f %%", chosen->block_rows,
                     chosen->block_cols, 100 * chosen->block_fill);
    hy_words_put(w, "\n");
}

static void put_candidates(hy_words *w, const hybrid_plan *plan)
{
    const hy_portion *first = plan->portions;
    char set[128];

    hy_parameters_text(first->variant, first->profile.features.parameter, set,
                       sizeof set);
    hy_words_put(w, "%-26s %12s   note\n", "candidates", "predicted");
    for (int i = 0; i < plan->candidates.count; i++) {
        const hy_candidate *c = &plan->candidates.of[i];
        hy_words_put(w, "  %-24s ", c->variant->name);
        if (c->refused) {
            hy_words_put(w, "%12s   refused: %s\n", "-", c->refused);
        } else {
            hy_words_time(w, c->predicted_s);
            const int chosen = i == plan->candidates.chosen;
            hy_words_put(w, "   %s%s%s\n", chosen ? "chosen" : "",
                         chosen && set[0] ? ", " : "", chosen ? set : "");
        }
    }
}

/* Writes the estimate of a run of one device's portion, and how long each resource would
   be busy. Writes nothing for the host. */
static void put_estimate(hy_words *w, const hy_portion *portion)
{
    const hy_product *product    = portion->product;
    const hy_circumstances found = hy_circumstances_of(product);
    hy_rates host;

    if (!hy_portion_on_device(portion) || portion->layout.count == 0)
        return;
    hy_rates_of(product->engine->host, &host);
    const hy_rates *r   = &portion->rates;
    const hy_estimate e = hy_portion_estimate(portion, &found);
    hy_words_put(
        w,
        "\nestimate  %.3g ms a run: up %.3g, down %.3g, kernels %.3g, cores %.3g, host "
        "memory "
        "%.3g",
        1e3 * hy_seconds(&e, r, &host), 1e3 * (e.first_bytes + e.up_bytes) / r->h2d_Bps,
        1e3 * e.down_bytes / r->d2h_Bps, 1e3 * e.device_s, 1e3 * e.core_s / host.width,
        1e3 * (e.memory_bytes + e.stored_bytes) / host.mem_Bps);
}

static int64_t col_blocks_of(const hy_portion *portion)
{
    return hy_image_col_blocks(&portion->layout.image);
}

static void put_resident(hy_words *w, const hybrid_plan *plan, const hy_portion *portion)
{
    const hy_pack_cache *cache = &portion->site->cache;
    const int64_t cached       = cache->count * col_blocks_of(portion);

    if (!(plan->product.options.flags & HYBRID_RESIDENT) ||
        !hy_portion_on_device(portion))
        return;
    hy_words_put(w, "resident  A's rows in %lld of %lld chunks, packed once, ",
                 (long long)cached, (long long)portion->layout.count);
    hy_words_bytes(w, (double)cache->block.bytes);
    hy_words_put(w, "%s\n",
                 hy_plan_has_helper(plan) && !hy_resident_all(portion->site)
                     ? ", but for chunks that the host computes"
                     : "");
}

static void put_total(hy_words *w, const hybrid_plan *plan)
{
    const hybrid_report *r = &plan->history.report;

    hy_words_put(w, "time     ");
    hy_words_time(w, r->predicted_s);
    hy_words_put(w, " predicted");
    if (r->total_s > 0) {
        hy_words_put(w, "; last run");
        hy_words_time(w, r->total_s);
    }
    hy_words_put(w, "\n");
}

/* Writes the bytes that a run is predicted to copy; in parentheses those with B or X
   gathered instead of on the device, or the other way round; and the bytes of the last
   run. */
static void put_transfers(hy_words *w, const hybrid_plan *plan)
{
    const hybrid_report *r = &plan->history.report;

    hy_words_put(w, "transfers up ");
    hy_words_bytes(w, (double)r->predicted_h2d_bytes);
    if (r->other_h2d_bytes >= 0) {
        hy_words_put(w, " (%s: ", r->gathered ? "resident" : "gathered");
        hy_words_bytes(w, (double)r->other_h2d_bytes);
        hy_words_put(w, ")");
    }
    hy_words_put(w, ", down ");
    hy_words_bytes(w, (double)r->predicted_d2h_bytes);
    if (r->total_s > 0) {
        hy_words_put(w, "; last run up ");
        hy_words_bytes(w, (double)r->h2d_bytes);
        hy_words_put(w, ", down ");
        hy_words_bytes(w, (double)r->d2h_bytes);
    }
    hy_words_put(w, "\n");
}

static void put_rates(hy_words *w, const hybrid_engine *engine, const hy_backend *backend)
{
    if (backend->measured.date[0])
        hy_words_put(w, "rates     measured on %s: %s\n", backend->measured.date,
                     engine->rates.path);
    else if (engine->rates.ignored)
        hy_words_put(w, "rates     built in; %s has the format of another version\n",
                     engine->rates.path);
    else
        hy_words_put(w, "rates     built in; see hybrid_spmm calibrate\n");
}

static void put_forecast(hy_words *w, const hy_forecast *f, const hy_portion *host)
{
    if (f->why_not)
        hy_words_put(w, "the GPU alone: %s", f->why_not);
    else
        hy_words_put(w, "host %.0f %% of the work%s by %s", 100 * f->share,
                     host->taking.share < 0 ? " expected" : "", host->variant->name);
}

/* Returns 1 if two forecasts have the same share of the host and the same reason against
   its help. Reasons are static strings, so comparing addresses suffices. */
static int is_same(const hy_forecast *a, const hy_forecast *b)
{
    return a->why_not == b->why_not && fabs(a->share - b->share) == 0;
}

/* Writes which share of the work the host is expected to take from the devices, or why it
   takes none; or that the host computes alone. */
static void put_split(hy_words *w, const hybrid_plan *plan)
{
    const hy_portion *host    = &plan->portions[plan->count];
    const hy_forecast *all    = &plan->forecasts[HY_RUNS_PAGEABLE],
                      *pinned = &plan->forecasts[HY_RUNS_PINNED];
    const double device_s     = hy_plan_device_s(plan);

    if (device_s > 0)
        hy_words_put(w,
                     "split     the host alone: the device is expected to take %.3g ms\n",
                     1e3 * device_s);
    if (!host->site && !pinned->why_not) /* the host computes all rows of every run */
        return;
    hy_words_put(w, "split     ");
    if (host->site && hy_resident_everywhere(plan->portions, plan->count)) {
        hy_words_put(
            w, "the GPU alone, which has all of A, until it is told to refresh it\n");
        return;
    }
    put_forecast(w, pinned, host);
    if (host->site && !is_same(all, pinned)) {
        hy_words_put(w, " if X and Y are pinned, else ");
        put_forecast(w, all, host);
    }
    if (host->site) {
        hy_words_put(w, "; pieces of %.3g products, slots %d x ",
                     (double)host->taking.products, host->site->depth);
        hy_words_bytes(w, (double)host->site->slot_device);
    }
    hy_words_put(w, "\n");
}

/* Writes whether B or X lies on the device whole, passes through it in a ring, or is
   gathered with each chunk. */
static void put_layout(hy_words *w, const hy_portion *portion)
{
    const hy_layout *layout = &portion->layout;
    const char *second      = portion->product->op == HY_SPGEMM ? "B" : "X";

    if (!hy_portion_on_device(portion)) {
        hy_words_put(w, "; operands are read in place\n");
        return;
    }
    if (portion->variant->form == HY_FORM_NONE) {
        hy_words_put(w, "; each chunk brings a row of B for each entry of A\n");
        return;
    }
    if (hy_image_in_passes(&layout->image)) {
        hy_words_put(w, "; each chunk multiplies all of %s in %lld passes\n", second,
                     (long long)hy_passes(&layout->image));
        return;
    }
    if (hy_image_is_gathered(&layout->image)) {
        hy_words_put(w, "; each chunk brings the rows of %s that it touches\n", second);
        return;
    }
    hy_words_put(w, "; %s %s the device, ", second,
                 hy_image_is_ring(&layout->image) ? "passes through" : "stays on");
    hy_words_bytes(w, (double)layout->image_room);
    if (layout->image.axis == HY_AXIS_COLS)
        hy_words_put(w, " in %lld column blocks of %lld columns",
                     (long long)col_blocks_of(portion), (long long)layout->image.block);
    if (layout->image.axis == HY_AXIS_ROWS) {
        hy_words_put(w, ", ");
        hy_words_count(w, layout->image.held);
        hy_words_put(w, " rows at a time");
    }
    if (layout->image.axis == HY_AXIS_ENTRIES) {
        hy_words_put(w, ", ");
        hy_words_count(w, layout->image.held);
        hy_words_put(w, " entries at a time");
    }
    if (layout->pinned_blocks > 0)
        hy_words_put(w, "; %lld columns at a time if X and Y are pinned",
                     (long long)hy_column_blocks_pinned(portion, layout).block);
    hy_words_put(w, "\n");
}

/* Writes which rows one of several devices computes. Writes nothing if the plan has a
   single device. */
static void put_rows(hy_words *w, const hybrid_plan *plan, const hy_portion *portion)
{
    if (plan->count == 1)
        return;
    hy_words_put(w, "site      %d, %s: ", portion->backend->index,
                 portion->variant->name);
    if (portion->product->op == HY_SPGEMM)
        hy_words_put(w, "the next rows, or where rows of C begin is known ");
    hy_words_put(w, "rows ");
    hy_words_count(w, portion->begin);
    hy_words_put(w, " to ");
    hy_words_count(w, portion->end);
    hy_words_put(w, ", %.0f %% of the work%s\n", 100 * portion->weight,
                 portion->taking.variant ? ", and then some of others" : "");
}

static void put_portion(hy_words *w, const hybrid_plan *plan, const hy_portion *portion)
{
    const hy_product *product = portion->product;
    const hy_backend *backend = portion->backend;
    const int64_t count       = portion->layout.count;
    const int64_t each        = portion->profile.features.products / (count ? count : 1);

    put_rows(w, plan, portion);
    hy_words_put(w, "chunks    %lld, products %.3g each, slots %d x ", (long long)count,
                 (double)each, portion->site->depth);
    hy_words_bytes(w, (double)portion->site->slot_device);
    put_estimate(w, portion);
    hy_words_put(w, "\ndevice    %s, budget ", backend->ops->describe(backend));
    hy_words_bytes(w, (double)(portion->rates.memory + 2 * portion->transposed_room +
                               product->narrow_room));
    put_layout(w, portion);
    put_resident(w, plan, portion);
    put_rates(w, product->engine, backend);
}

static void put_chunks(hy_words *w, const hybrid_plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        put_portion(w, plan, &plan->portions[i]);
    put_transfers(w, plan);
    put_total(w, plan);
    put_split(w, plan);
}

size_t hybrid_plan_details(const hybrid_plan *plan, char *text, size_t capacity)
{
    hy_words w = hy_words_begin(text, capacity);

    if (!plan)
        return 0;
    put_features(&w, plan);
    put_candidates(&w, plan);
    hy_words_lines(&w, "model", 10, plan->model);
    put_chunks(&w, plan);
    return w.length;
}
