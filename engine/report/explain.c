/* engine/report/explain.c - describes a plan in plain words: hybrid_plan_explain(). */
#include "base/data/value_type.h"
#include "base/memory/results.h"
#include "base/memory/shortage.h"
#include "engine/plan/plan.h"
#include "engine/report/words.h"
#include "partition/parts/passes.h"

/* ---- the product ------------------------------------------------------------------ */

static void put_shape(hy_words *w, int64_t rows, int64_t cols)
{
    hy_words_count(w, rows);
    hy_words_put(w, " x ");
    hy_words_count(w, cols);
}

static void put_entries(hy_words *w, int64_t count)
{
    hy_words_count(w, count);
    hy_words_put(w, count == 1 ? " entry" : " entries");
}

static void put_operands(hy_words *w, const hy_product *product)
{
    const hy_features *f = &product->profile.features;
    const int sparse     = product->op == HY_SPGEMM;

    hy_words_put(w, "product     %s, values of %s\n",
                 sparse ? "C = A B, all sparse" : "Y = A X, A sparse, X and Y dense",
                 hy_value_type_of(f->type)->name);
    hy_words_put(w, "A           ");
    put_shape(w, product->rows, product->cols);
    hy_words_put(w, ", ");
    put_entries(w, f->nnz);
    hy_words_put(w, ", %.1f per row on average", f->row_mean);
    if (f->row_max > 0) {
        hy_words_put(w, ", ");
        hy_words_count(w, f->row_max);
        hy_words_put(w, " in the longest row");
    }
    hy_words_put(w, "\n%s           ", sparse ? "B" : "X");
    put_shape(w, product->b_rows, product->b_cols);
    if (sparse) {
        hy_words_put(w, ", ");
        put_entries(w, product->b_nnz);
    }
    hy_words_put(w, "\n");
}

static void put_result(hy_words *w, const hybrid_plan *plan)
{
    const hybrid_report *r    = &plan->history.report;
    const hy_product *product = &plan->product;

    hy_words_put(w, "%s           ", product->op == HY_SPGEMM ? "C" : "Y");
    put_shape(w, product->rows, product->profile.features.out_cols);
    if (product->op == HY_SPGEMM) {
        hy_words_put(w, ", about ");
        put_entries(w, r->predicted_nnz_out);
    }
    if (product->result_on) {
        hy_words_put(w, ", in the memory of the GPU\n");
    } else {
        hy_words_put(w, ", ");
        hy_words_bytes(w, (double)r->predicted_result_bytes);
        hy_words_put(w, "\n");
    }
    hy_words_put(w, "work        ");
    hy_words_count(w, r->flops / 2);
    hy_words_put(w, " multiplications");
    if (product->op == HY_SPGEMM && r->predicted_nnz_out > 0)
        hy_words_put(w, ", %.1f for each entry of C",
                     (double)r->flops / 2 / (double)r->predicted_nnz_out);
    hy_words_put(w, "\n");
    if (!hy_product_has_views(product))
        hy_words_put(w,
                     "empty rows  rows and columns of A without entries are left out\n");
}

/* ---- memory ----------------------------------------------------------------------- */

/* Writes how much host memory is left for C, and whether the predicted C fits. Writes
   nothing for SpMM, if host memory is not limited, or if C stays on the device. */
static void put_memory(hy_words *w, const hybrid_plan *plan)
{
    const hy_context *ctx = &plan->product.engine->ctx;
    const int64_t cap     = hy_meter_cap(&ctx->memory.meter);
    const int64_t left    = hy_idle_host_left(plan->product.engine);
    const int64_t need    = plan->history.report.predicted_result_bytes;

    if (cap == 0 || plan->product.op != HY_SPGEMM || plan->product.result_on)
        return;
    hy_words_put(w, "memory      ");
    hy_words_bytes(w, (double)left);
    hy_words_put(w, " of the host memory of ");
    hy_words_bytes(w, (double)cap);
    hy_words_put(w, " are free");
    if (need > left)
        hy_words_put(w,
                     ":\n            C DOES NOT FIT; %s, or take its rows one after "
                     "another (hybrid_spgemm_each)",
                     hy_memory_remedy(&ctx->memory));
    hy_words_put(w, "\n");
}

/* ---- backend, variant, copies ---------------------------------------------------- */

static const char *summary_of(const hybrid_plan *plan)
{
    return plan->portions->variant->summary;
}

static void put_seconds(hy_words *w, double s)
{
    hy_words_put(w,
                 s < 1e-3 ? "%.0f us"
                 : s < 1  ? "%.1f ms"
                          : "%.2f s",
                 s < 1e-3 ? s * 1e6
                 : s < 1  ? s * 1e3
                          : s);
}

static void put_where(hy_words *w, const hybrid_plan *plan)
{
    const hy_portion *first = plan->portions;
    const int on_device     = hy_portion_on_device(first);

    hy_words_put(w, "computed    by the %s, %s", on_device ? "GPU" : "CPU",
                 first->backend->ops->describe(first->backend));
    if (plan->count > 1)
        hy_words_put(w, ", and %d other GPUs", plan->count - 1);
    if (hy_plan_has_helper(plan))
        hy_words_put(w, "; the CPU may take a part");
    if (hy_plan_device_s(plan) > 0) {
        hy_words_put(w, "; the GPU would take ");
        put_seconds(w, hy_plan_device_s(plan));
    }
    if (plan->product.engine->left_out[0])
        hy_words_put(w, "\nleft out    %s", plan->product.engine->left_out);
    hy_words_put(w, "\nalgorithm   %s: %s\n", first->variant->name, summary_of(plan));
}

static void put_parts(hy_words *w, const hybrid_plan *plan)
{
    const hy_portion *first = &plan->portions[0];
    const int64_t chunks    = plan->history.report.chunks;

    hy_words_put(w, "parts       %lld", (long long)chunks);
    if (chunks > 1)
        hy_words_put(w, " ranges of rows, %d of them at a time", first->site->depth);
    hy_words_put(w, "\n");
}

static void put_second(hy_words *w, const hy_portion *portion)
{
    const hy_layout *layout = &portion->layout;
    const char *second      = portion->product->op == HY_SPGEMM ? "B" : "X";

    if (hy_image_in_passes(&layout->image))
        hy_words_put(w, "each part multiplies all of %s, in %lld passes", second,
                     (long long)hy_passes(&layout->image));
    else if (portion->variant->form == HY_FORM_NONE ||
             hy_image_is_gathered(&layout->image))
        hy_words_put(w, "each part brings the rows of %s that it needs", second);
    else if (hy_image_is_ring(&layout->image))
        hy_words_put(w, "%s passes through the memory of the GPU", second);
    else
        hy_words_put(w, "%s stays in the memory of the GPU", second);
}

static void put_transfers(hy_words *w, const hybrid_plan *plan)
{
    const hybrid_report *r = &plan->history.report;

    if (!hy_portion_on_device(plan->portions))
        return;
    hy_words_put(w, "copies      ");
    hy_words_bytes(w, (double)r->predicted_h2d_bytes);
    hy_words_put(w, " to the GPU and ");
    hy_words_bytes(w, (double)r->predicted_d2h_bytes);
    hy_words_put(w, " back; ");
    put_second(w, &plan->portions[0]);
    hy_words_put(w, "\n");
}

static void put_time(hy_words *w, const hybrid_plan *plan)
{
    const hybrid_engine *engine = plan->product.engine;
    const hybrid_report *r      = &plan->history.report;
    const hy_backend *backend   = plan->portions->backend;

    hy_words_put(w, "time        ");
    put_seconds(w, r->predicted_s);
    hy_words_put(w, " predicted");
    if (r->total_s > 0) {
        hy_words_put(w, "; the last run took ");
        put_seconds(w, r->total_s);
    }
    if (backend->measured.date[0])
        hy_words_put(w, "\nspeeds      measured on %s: %s\n", backend->measured.date,
                     engine->rates.path);
    else
        hy_words_put(
            w, "\nspeeds      built in, of another machine; 'hybrid_spmm calibrate' "
               "measures those of this one\n");
}

/* ---- the alternatives ------------------------------------------------------------ */

static void put_others(hy_words *w, const hybrid_plan *plan)
{
    const char *title = "instead";

    for (int i = 0; i < plan->candidates.count; i++) {
        const hy_candidate *c = &plan->candidates.of[i];
        if (i == plan->candidates.chosen)
            continue;
        hy_words_put(w, "%-11s %-20s ", title, c->variant->name);
        if (c->refused)
            hy_words_put(w, "not used: %s", c->refused);
        else
            put_seconds(w, c->predicted_s);
        hy_words_put(w, "\n");
        title = "";
    }
}

size_t hybrid_plan_explain(const hybrid_plan *plan, char *text, size_t capacity)
{
    hy_words w = hy_words_begin(text, capacity);

    if (!plan)
        return 0;
    put_operands(&w, &plan->product);
    put_result(&w, plan);
    put_memory(&w, plan);
    put_where(&w, plan);
    hy_words_lines(&w, "model", 12, plan->model);
    put_parts(&w, plan);
    put_transfers(&w, plan);
    put_time(&w, plan);
    put_others(&w, plan);
    return w.length;
}
