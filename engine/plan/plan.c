/* engine/plan/plan.c - makes plans: inspect, estimate, choose, cut, divide, open. */
#include "engine/plan/plan.h"

#include <math.h>
#include <string.h>

#include "base/memory/results.h"
#include "engine/device/async.h"
#include "engine/plan/choose.h"
#include "engine/plan/open.h"
#include "engine/sites/divide.h"
#include "engine/run/prefetch.h"
#include "engine/api/pin.h"
#include "engine/plan/reduce.h"
#include "engine/plan/stream.h"
#include "engine/tables/parameters.h"

/* Inspection that only makes the estimate more accurate may take this part of the
   predicted seconds of a run. */
static const double BUDGET = 0.1;

/* The operands that a plan is made for. */
typedef struct given {
    const hybrid_csr *A, *B;
    const hy_counter *counter;   /* lets a device count scalar products, or NULL */
    const hy_one_shot *one_shot; /* one-shot call whose X and Y may be pinned, until
                                    product.pinned is set; else NULL */
} given;

/* ---- inspect ---------------------------------------------------------------------- */

/* Returns the part of the predicted seconds that inspection may take: BUDGET, or INFINITY
   if everything is inspected. This is so for SpGEMM, and if options name a variant, ask
   for details (HYBRID_EXPLAIN) or a resident A, or say that a device takes part. */
static double budget_of(const hy_product *product)
{
    const hybrid_plan_options *o = &product->options;
    const int is_open            = product->op == HY_SPMM && !o->variant &&
                        o->split != HYBRID_SPLIT_GPU && o->split != HYBRID_SPLIT_SHARE &&
                        product->engine->wanted != HYBRID_CUDA &&
                        !(o->flags & (HYBRID_RESIDENT | HYBRID_EXPLAIN));

    return is_open ? BUDGET : INFINITY;
}

/* Returns what is inspected before the first estimate. Plans for several runs inspect the
   lengths of rows in any case. */
static unsigned first_step(const hy_product *product, double budget)
{
    if (isinf(budget))
        return HY_KNOW_ALL;
    if (!product->one_shot)
        return HY_KNOW_SIZES | HY_KNOW_DEVICES | HY_KNOW_ROWS;
    return !product->engine->device || hy_settings_of(product->engine)->schedule
               ? HY_KNOW_SIZES | HY_KNOW_DEVICES
               : HY_KNOW_SIZES;
}

/* Finds out about the patterns what `step` names (HY_KNOW values). */
static hybrid_status inspect(hy_product *product, const given *from, unsigned step)
{
    double *const fill = &product->profile.features.tile_fill;
    const double seen  = *fill;

    if (step & HY_KNOW_ROWS)
        HY_TRY(hy_product_inspect(product, from->A, from->B, from->counter));
    else if (step & HY_KNOW_SIZES)
        HY_TRY(hy_product_size_up(product, from->A));
    *fill = seen;
    return step & HY_KNOW_FILL ? hy_product_inspect_tiles(product, from->A) : HYBRID_OK;
}

/* ---- estimate --------------------------------------------------------------------- */

/* Refuses candidates that cannot use the schedule that a test names. */
static hybrid_status rank_named(hy_product *product, hy_candidates *candidates,
                                const hy_schedule *named)
{
    const char *why_not = NULL;

    for (int i = 0; i < candidates->count; i++) {
        hy_candidate *c = &candidates->of[i];
        const char *why = hy_refused(named->values, c->backend->ops->copy ? HY_WITH_DEVICE
                                                                          : HY_WITH_HOST);
        if (why)
            c->refused = why_not = why;
    }
    return hy_rank_first(candidates) ? HYBRID_OK
                                     : hy_fail(&product->engine->ctx, HYBRID_UNSUPPORTED,
                                               "%s: %s", named->name, why_not);
}

/* Ranks the variants that may compute the product. Before `known` has HY_KNOW_DEVICES,
   ranks only those of the host, if it has any. Asks whether X and Y are pinned only if
   devices are ranked, because asking the driver takes some microseconds. */
static hybrid_status rank(hy_product *product, hy_candidates *candidates, given *from,
                          unsigned *known)
{
    const hy_schedule *named = hy_settings_of(product->engine)->schedule;

    if (!(*known & HY_KNOW_DEVICES)) {
        hy_rank_device(product, product->engine->host, candidates);
        if (hy_rank_first(candidates))
            return HYBRID_OK;
        *known |= HY_KNOW_DEVICES;
    }
    if (from->one_shot)
        product->pinned =
            hy_pin_both(&product->engine->ctx, from->one_shot->X, from->one_shot->Y);
    from->one_shot = NULL;
    HY_TRY(hy_rank(product, candidates));
    return named ? rank_named(product, candidates, named) : HYBRID_OK;
}

/* Estimates the variant that ranks first with all schedules. */
static hybrid_status estimate(hybrid_plan *plan, given *from, unsigned *known,
                              hy_choice *choice)
{
    hy_candidates *candidates = &plan->candidates;

    HY_TRY(rank(&plan->product, candidates, from, known));
    const hy_candidate *best = hy_rank_first(candidates);
    hy_portion_assign(plan->portions, &plan->product, best->variant, best->backend);
    hy_choice_open(plan->portions, candidates, from->A, from->B, *known, choice);
    return HYBRID_OK;
}

/* ---- choose ----------------------------------------------------------------------- */

/* Inspects and estimates until enough is known to cut the product. */
static hybrid_status choose(hybrid_plan *plan, given *from, double budget,
                            hy_choice *choice)
{
    unsigned step = first_step(&plan->product, budget), known = 0;

    for (; step; step = hy_choose(choice, known, budget)) {
        known |= step;
        HY_TRY(inspect(&plan->product, from, step));
        HY_TRY(estimate(plan, from, &known, choice));
    }
    return HYBRID_OK;
}

/* ---- cut -------------------------------------------------------------------------- */

/* Returns the error for a row that fits no slot. Its sentence, which names the row, has
   been written before. The host's chunks lie in host memory, so the host's error is
   NO_MEMORY, unless the caller has limited device memory. */
static hybrid_status no_room(const hy_backend *backend)
{
    if (backend->ops->copy || backend->device.cap > 0)
        return hy_tenants_blame(backend);
    return HYBRID_NO_MEMORY;
}

/* Cuts the product for the first of candidates [0, end) whose backend has room for it. If
   the host is predicted to be sooner than a device, continues with the host's candidates;
   the layout has 0 slots if they are not in [0, end). */
static hybrid_status cut(hybrid_plan *plan, const given *from, int end, hy_choice *choice)
{
    hy_candidates *candidates = &plan->candidates;
    hy_portion *portion       = plan->portions;
    hy_layout *layout         = &portion->layout;
    const int host            = hy_rank_first_host(candidates);
    hybrid_status status      = HYBRID_NO_DEVICE_MEMORY;
    double device_s           = 0;

    for (int i = 0; i < end; i++) {
        hy_candidate *c = &candidates->of[i];
        if (c->refused)
            continue;
        candidates->chosen = i;
        if (portion->variant != c->variant) {
            hy_choice_close(choice);
            hy_portion_assign(portion, &plan->product, c->variant, c->backend);
            hy_choice_open(portion, candidates, from->A, from->B, HY_KNOW_ALL, choice);
        }
        status = hy_choice_cut(choice, layout);
        if (status == HYBRID_NO_DEVICE_MEMORY) {
            c->refused = "a row of the product does not fit the device's budget";
            continue;
        }
        if (status != HYBRID_OK || layout->depth > 0)
            break;
        device_s = layout->seconds;
        i        = host - 1;
    }
    if (!hy_portion_on_device(portion))
        layout->seconds = device_s;
    return status == HYBRID_NO_DEVICE_MEMORY ? no_room(portion->backend) : status;
}

/* ---- cut all of A, or the reduced A ----------------------------------------------- */

/* Returns 1 if planning with all of A may succeed where the reduced A failed. */
static int gives_way(hybrid_status status)
{
    return status == HYBRID_NO_MEMORY || status == HYBRID_NO_DEVICE_MEMORY ||
           status == HYBRID_UNSUPPORTED;
}

/* Plans with the reduced A for a device. The layout has 0 slots if the host is sooner,
   which reads operands in place and needs no reduced A. */
static hybrid_status cut_reduced(hybrid_plan *plan)
{
    given from       = {.A = &plan->product.hypersparse.A};
    hy_choice choice = {.count = 0};

    hybrid_status status = choose(plan, &from, INFINITY, &choice);
    if (status == HYBRID_OK)
        status = cut(plan, &from, hy_rank_first_host(&plan->candidates), &choice);
    if (choice.count > 0)
        hy_choice_close(&choice);
    return status;
}

/* Plans with the reduced A if a device gains by it, memory for it suffices, and a variant
   computes with it; otherwise with all of A. */
static hybrid_status cut_all_or_reduced(hybrid_plan *plan, given *from, hy_choice *choice)
{
    hy_product *product = &plan->product;
    hy_context *ctx     = &product->engine->ctx;
    hy_profile all      = product->profile;
    unsigned known      = HY_KNOW_ALL;

    if (!hy_choice_is_host(choice) && hy_portion_on_device(plan->portions))
        HY_TRY(hy_reduce_find(product, from->A, &product->hypersparse));
    if (!hy_is_hypersparse(&product->hypersparse))
        return cut(plan, from, plan->candidates.count, choice);
    product->profile           = (hy_profile){.nnz = NULL};
    const hybrid_status status = cut_reduced(plan);
    const int done =
        status == HYBRID_OK ? plan->portions->layout.depth > 0 : !gives_way(status);
    hy_profile_free(ctx, done ? &all : &product->profile);
    if (done)
        return status;
    hy_message_clear(&ctx->message);
    hy_hypersparse_free(ctx, &product->hypersparse);
    product->profile = all;
    product->b_rows  = from->A->cols;
    HY_TRY(estimate(plan, from, &known, choice));
    return cut(plan, from, plan->candidates.count, choice);
}

/* ---- divide ----------------------------------------------------------------------- */

/* Divides the product among the engine's devices, if a device computes it. */
static hybrid_status divide(hybrid_plan *plan, const given *from)
{
    const hy_product *product = &plan->product;
    hy_portion *first         = plan->portions;
    const hy_backend *planned = first->backend;

    if (!hy_portion_on_device(first) || product->engine->device_count == 1 ||
        hy_product_device(product) || first->layout.count == 0)
        return HYBRID_OK;
    HY_TRY(hy_divide(hy_product_a(product, from->A), from->B, first, &plan->count));
    if (first->backend == planned)
        return HYBRID_OK;
    hy_rank_device(product, first->backend, &plan->candidates);
    while (plan->candidates.of[plan->candidates.chosen].variant != first->variant)
        plan->candidates.chosen++;
    return HYBRID_OK;
}

/* ---- the plan --------------------------------------------------------------------- */

/* Inspects A and B, and cuts the product. */
static hybrid_status make_chunks(hybrid_plan *plan, given *from)
{
    hy_choice choice = {.count = 0};

    hybrid_status status = choose(plan, from, budget_of(&plan->product), &choice);
    if (status == HYBRID_OK)
        status = cut_all_or_reduced(plan, from, &choice);
    if (choice.count > 0)
        hy_choice_close(&choice);
    return status;
}

/* Returns 0 if the product must be planned again with a complete inspection: it was
   planned with a sample, and either the run cannot keep to the plan, or planning failed
   for lack of device memory or as unsupported. */
static int is_final(const hybrid_plan *plan, hy_portion *portion, hybrid_status status)
{
    if (!plan->product.streams)
        return 1;
    if (status == HYBRID_OK)
        return hy_stream_adopt(portion);
    return status != HYBRID_NO_DEVICE_MEMORY && status != HYBRID_UNSUPPORTED;
}

/* Cuts the product with a sampled profile if the run can keep to such a cut, else with a
   complete one. */
static hybrid_status make_all_chunks(hybrid_plan *plan, given *from)
{
    hy_product *product        = &plan->product;
    const hybrid_status status = make_chunks(plan, from);

    if (is_final(plan, plan->portions, status))
        return status;
    product->streams = 0;
    hy_message_clear(&product->engine->ctx.message);
    hy_layout_free(product, &plan->portions->layout);
    return make_chunks(plan, from);
}

static hybrid_status make(hybrid_plan *plan, given *from, hy_loader **prefetcher)
{
    hy_product *product = &plan->product;

    product->streams = hy_stream_may(product, from->A);
    HY_TRY(make_all_chunks(plan, from));
    HY_TRY(divide(plan, from));
    HY_TRY(hy_portions_open(plan->portions, plan->count, prefetcher));
    HY_TRY(hy_split_open(plan->portions, plan->count, plan->forecasts));
    product->options.variant = NULL; /* the name belongs to the caller, who may free it */
    return hy_progress_check(&product->engine->ctx.progress);
}

hybrid_status hy_plan_make(hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, int64_t dense_cols,
                           const hybrid_plan_options *options,
                           const hy_one_shot *one_shot, hybrid_plan **out)
{
    hy_loader *prefetcher = one_shot ? one_shot->prefetcher : NULL;
    hybrid_plan *plan     = NULL;
    hybrid_status status;
    void *memory;

    const int sites    = (engine->device_count > 0 ? engine->device_count : 1) + 1;
    const size_t bytes = sizeof(hybrid_plan) + (size_t)sites * sizeof(hy_portion);
    HY_TRY_ELSE_DONE(hy_array(&engine->ctx, 1, bytes, "plan", &memory));
    plan = memory;
    memset(plan, 0, bytes);
    plan->product           = hy_product_of(engine, A, B, dense_cols, options);
    plan->product.one_shot  = one_shot != NULL;
    plan->product.first_row = one_shot ? one_shot->first_row : 0;
    plan->pattern_bytes     = engine->spaces.fetched;
    plan->count             = 1;
    plan->portions->product = &plan->product;
    plan->portions->traffic = (hy_traffic){.other_up = -1, .b_up = -1, .b_least = -1};
    HY_TRY_ELSE_DONE(hy_parameters_read(&engine->ctx, engine->variants, options->variant,
                                        plan->product.parameter));
    const hy_counter counter = hy_prefetch_counter(engine, prefetcher, A, B);
    given from               = {A, B, counter.count ? &counter : NULL,
                  one_shot && one_shot->X ? one_shot : NULL};
    HY_TRY_ELSE_DONE(make(plan, &from, &prefetcher));
done:
    if (status == HYBRID_OK)
        *out = plan;
    else {
        (void)hy_prefetch_end(&prefetcher); /* drops an error of the loader, because the
                                               first error is reported */
        hybrid_plan_destroy(plan);
    }
    return status;
}

void hybrid_plan_destroy(hybrid_plan *plan)
{
    if (!plan || hy_engine_barred(plan->product.engine))
        return;
    hy_context *ctx = &plan->product.engine->ctx;
    hy_async_end(plan->async);
    hy_backend *device = hy_product_device(&plan->product);
    if (plan->arranged.in.ptr)
        device->ops->free(device, &plan->arranged.in);
    for (int i = 0; i < plan->count + hy_plan_has_helper(plan); i++)
        hy_portion_close(&plan->portions[i]);
    hy_pattern_free(ctx, &plan->history.pattern);
    hy_results_release(ctx, plan->a_offsets);
    hy_product_free(&plan->product);
    hy_array_free(ctx, plan);
}
