/* engine/plan/plan.c - makes plans: inspect, rank, cut, divide, open the sites, let the
   host help. */
#include "engine/plan/plan.h"

#include <math.h>
#include <string.h>

#include "base/memory/results.h"
#include "engine/device/async.h"
#include "engine/plan/cut.h"
#include "engine/plan/divide.h"
#include "engine/run/prefetch.h"
#include "engine/rates/estimate.h"
#include "engine/plan/grain.h"
#include "engine/api/pin.h"
#include "engine/plan/reduce.h"
#include "engine/plan/weigh.h"

/* A call whose predicted time is at least this many times that of looking at the
   positions of entries is worth the look, if only for its estimate. */
static const double LOOKS = 10;

/* ---- the variant and its layout --------------------------------------------------- */

/* Returns the error for a row that fits no slot; the sentence, which exists, names the
   row. Chunks of the host lie in host memory, so the error is NO_MEMORY for the host
   unless the caller limits device memory. */
static hybrid_status no_room(const hy_product *product)
{
    const hy_backend *backend = product->backend;

    if (backend->ops->copy || backend->device.cap > 0)
        return hy_tenants_blame(backend);
    return HYBRID_NO_MEMORY;
}

/* Cuts the product for the cheapest of candidates [begin, end) whose backend has room for
   it. If the host is predicted to be faster than that device, nothing is cut, and
   plan->spared_s is set to the device's seconds. */
static hybrid_status choose_of(hybrid_plan *plan, const hybrid_csr *A,
                               const hybrid_csr *B, int begin, int end)
{
    hy_candidates *candidates = &plan->candidates;
    hybrid_status status      = HYBRID_UNSUPPORTED;

    for (candidates->chosen = begin; candidates->chosen < end; candidates->chosen++) {
        hy_candidate *c = &candidates->of[candidates->chosen];
        if (c->refused)
            continue;
        hy_product_assign(&plan->product, c->variant, c->backend);
        status = hy_cut_layout(&plan->product, A, B, &plan->portions->layout);
        if (status != HYBRID_NO_DEVICE_MEMORY)
            break;
        c->refused = "a row of the product does not fit the device's budget";
    }
    if (status == HYBRID_OK && plan->portions->layout.depth == 0)
        plan->spared_s = plan->portions->layout.seconds;
    return status == HYBRID_NO_DEVICE_MEMORY ? no_room(&plan->product) : status;
}

static hybrid_status choose(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B)
{
    return choose_of(plan, A, B, 0, plan->candidates.count);
}

/* Finds out whether X and Y are pinned; asking the driver takes some microseconds. */
static void ask_pinned(hybrid_plan *plan)
{
    const hy_once *once = plan->unasked;

    if (once)
        plan->product.pinned = hy_pin_both(&plan->product.engine->ctx, once->X, once->Y);
    plan->unasked = NULL;
}

/* Ranks the variants that may compute the product; if a test names a schedule, only those
   that can use it. */
static hybrid_status rank(hybrid_plan *plan)
{
    static const char *const why_not = "only the host computes in place";
    hy_candidates *candidates        = &plan->candidates;
    hybrid_engine *engine            = plan->product.engine;
    const hy_schedule *named         = hy_settings_of(engine)->schedule;
    int left                         = 0;

    ask_pinned(plan);
    HY_TRY(hy_rank(&plan->product, candidates));
    for (int i = 0; i < candidates->count; i++) {
        hy_candidate *c   = &candidates->of[i];
        const int by_host = !c->backend->ops->copy;
        if (named && by_host != (named == &hy_schedule_in_place))
            c->refused = why_not;
        left += !c->refused;
    }
    return left > 0 ? HYBRID_OK
                    : hy_fail(&engine->ctx, HYBRID_UNSUPPORTED, "%s: %s", named->name,
                              why_not);
}

/* Inspects the operands completely, in place of what was found before, and ranks
   again. */
static hybrid_status look(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                          const hy_counter *counter)
{
    HY_TRY(hy_product_inspect(&plan->product, A, B, counter));
    HY_TRY(hy_product_inspect_tiles(&plan->product, A));
    return rank(plan);
}

/* Returns 1 if the options leave it open whether host or device computes this SpMM, so
   that the host may be chosen before A is inspected completely. */
static int may_be_settled(const hy_product *product)
{
    const hybrid_plan_options *o = &product->options;

    return product->op == HY_SPMM && !o->variant && o->split != HYBRID_SPLIT_GPU &&
           o->split != HYBRID_SPLIT_SHARE && product->engine->wanted != HYBRID_CUDA &&
           !(o->flags & (HYBRID_RESIDENT | HYBRID_EXPLAIN));
}

/* Returns 1 if the host computes, whatever the rows of A look like, because a device
   would gain less than the `look_s` seconds that finding out takes. */
static int is_settled(hybrid_plan *plan, const hybrid_csr *A, double look_s)
{
    const int host = hy_rank_first_host(&plan->candidates);

    if (host > 0)
        plan->spared_s =
            hy_weigh_fitting(&plan->product, &plan->candidates, A, NULL, look_s);
    return host == 0 || plan->spared_s > 0;
}

/* Assigns the host's best variant to the product. Returns 1 if it then has a single
   chunk, which needs no prefix sums over rows. Returns 0 if the host is refused. */
static int is_one_chunk(hy_product *product, const hy_candidates *candidates,
                        const hybrid_csr *A)
{
    const hy_planning planning = {.product = product, .A = A};
    const hy_layout layout     = {.share = 1};
    const hy_candidate *c      = &candidates->of[hy_rank_first_host(candidates)];

    if (c->refused)
        return 0;
    hy_product_assign(product, c->variant, c->backend);
    return hy_grain_chunks(&planning, &layout) == 1;
}

/* Returns 1 if the host finishes so soon that a look at the positions of entries is not
   worth it. */
static int is_short(const hybrid_plan *plan, double look_s)
{
    return hy_weigh_worst(&plan->product, &plan->candidates) < LOOKS * look_s;
}

/* Ranks only the host's variants, and returns 1 if the host finishes before a device
   could, whatever the device's variant. The candidates stay those of the host then. */
static int is_tiny(hybrid_plan *plan)
{
    const hy_product *product   = &plan->product;
    const hybrid_engine *engine = product->engine;
    const hy_settings *settings = hy_settings_of(engine);
    hy_rates rates;

    if (!engine->device || settings->schedule || settings->device_first ||
        hy_product_in_columns(product))
        return 0;
    hy_rates_of(engine->device, &rates);
    hy_rank_device(product, engine->host, &plan->candidates);
    return hy_is_sooner(hy_weigh_worst(product, &plan->candidates),
                        hy_estimate_least_s(&rates));
}

/* Plans by sizes alone, or by sizes and positions of entries. *enough is set to 1 if the
   host computes the product, in a single chunk, so that no more is needed. */
static hybrid_status look_at_sizes(hybrid_plan *plan, const hybrid_csr *A, int *enough)
{
    hy_product *product = &plan->product;
    const double look_s = hy_tile_fill_s(A);

    HY_TRY(hy_product_size_up(product, A));
    if (!is_tiny(plan))
        HY_TRY(rank(plan));
    int settled = is_settled(plan, A, look_s);
    if (!settled || !is_short(plan, look_s)) {
        HY_TRY(hy_product_inspect_tiles(product, A));
        HY_TRY(rank(plan));
        settled = is_settled(plan, A, 0);
    }
    *enough = settled && is_one_chunk(product, &plan->candidates, A);
    return HYBRID_OK;
}

/* Inspects no more than is needed to know who computes and how long that takes. */
static hybrid_status look_as_needed(hybrid_plan *plan, const hybrid_csr *A,
                                    const hybrid_csr *B, const hy_counter *counter)
{
    hy_product *product = &plan->product;
    hy_features *f      = &product->profile.features;
    int enough          = 0;

    if (!may_be_settled(product))
        return look(plan, A, B, counter);
    if (product->once)
        HY_TRY(look_at_sizes(plan, A, &enough));
    if (enough)
        return HYBRID_OK;
    const double seen = f->tile_fill;
    HY_TRY(hy_product_inspect(product, A, B, counter));
    f->tile_fill = seen;
    HY_TRY(rank(plan));
    const int settled = is_settled(plan, A, 0);
    if (seen > 0 || (settled && is_short(plan, hy_tile_fill_s(A))))
        return HYBRID_OK;
    HY_TRY(hy_product_inspect_tiles(product, A));
    return rank(plan);
}

/* Plans with the reduced A, on a device only: the host reads operands in place and needs
   no reduced A. */
static hybrid_status choose_reduced(hybrid_plan *plan)
{
    const hybrid_csr *A = &plan->product.hypersparse.A;

    HY_TRY(look(plan, A, NULL, NULL));
    return choose_of(plan, A, NULL, 0, hy_rank_first_host(&plan->candidates));
}

/* Returns 1 if planning with all of A may succeed where the reduced A failed. */
static int gives_way(hybrid_status status)
{
    return status == HYBRID_NO_MEMORY || status == HYBRID_NO_DEVICE_MEMORY ||
           status == HYBRID_UNSUPPORTED;
}

/* Plans with the reduced A if there is one, there is memory for it, and a variant
   computes it; otherwise with all of A. */
static hybrid_status choose_reduced_or_all(hybrid_plan *plan, const hybrid_csr *A,
                                           const hybrid_csr *B, const hy_counter *counter)
{
    hy_product *product = &plan->product;
    hy_context *ctx     = &product->engine->ctx;

    if (!hy_is_hypersparse(&product->hypersparse))
        return choose(plan, A, B);
    const hybrid_status status = choose_reduced(plan);
    if (!gives_way(status))
        return status;
    hy_message_clear(&ctx->message);
    hy_hypersparse_free(ctx, &product->hypersparse);
    HY_TRY(look(plan, A, B, counter));
    return choose(plan, A, B);
}

static hybrid_status look_and_choose(hybrid_plan *plan, const hybrid_csr *A,
                                     const hybrid_csr *B, const hy_counter *counter)
{
    const hy_candidates *candidates = &plan->candidates;
    hy_product *product             = &plan->product;

    HY_TRY(look_as_needed(plan, A, B, counter));
    product->host_s = hy_weigh_host(product, candidates);
    if (plan->spared_s <= 0)
        plan->spared_s = hy_weigh_fitting(product, candidates, A, B, 0);
    if (plan->spared_s <= 0)
        HY_TRY(hy_reduce_find(product, candidates, A, &product->hypersparse,
                              &plan->spared_s));
    if (plan->spared_s <= 0)
        HY_TRY(choose_reduced_or_all(plan, A, B, counter));
    if (plan->spared_s <= 0)
        return HYBRID_OK;
    return choose_of(plan, A, B, hy_rank_first_host(candidates), candidates->count);
}

/* ---- the sites -------------------------------------------------------------------- */

/* Opens the site of each portion. The loader *early, which prefetches B to the first
   device, goes to the portion on that device, or ends if there is none. */
static hybrid_status open_sites(hybrid_plan *plan, hy_loader **early)
{
    hy_loader *none = NULL;

    for (int i = 0; i < plan->count; i++) {
        hy_portion *p = &plan->portions[i];
        const int his = *early && (*early)->backend == p->product.backend;
        HY_TRY(hy_portion_open(p, his ? early : &none));
        if (plan->count > 1)
            hy_divide_takes(p);
    }
    return hy_prefetch_end(early);
}

/* Divides the product among the engine's devices, if a device computes it. */
static hybrid_status divide(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B)
{
    hy_product *product = &plan->product;
    hy_portion *first   = plan->portions;

    hy_portion_of(product, first);
    if (!hy_product_on_device(product) || product->engine->device_count == 1 ||
        hy_product_device(product) || first->layout.count == 0)
        return HYBRID_OK;
    HY_TRY(hy_divide(hy_product_a(product, A), B, first, &plan->count));
    if (first->product.backend == product->backend)
        return HYBRID_OK;
    hy_product_assign(product, first->product.variant, first->product.backend);
    hy_rank_device(product, product->backend, &plan->candidates);
    while (plan->candidates.of[plan->candidates.chosen].variant != product->variant)
        plan->candidates.chosen++;
    return HYBRID_OK;
}

/* ---- the plan --------------------------------------------------------------------- */

static hybrid_status make(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                          hy_loader **early)
{
    const hy_counter counter = hy_prefetch_counter(plan->product.engine, *early, A, B);

    HY_TRY(look_and_choose(plan, A, B, counter.count ? &counter : NULL));
    HY_TRY(divide(plan, A, B));
    HY_TRY(open_sites(plan, early));
    HY_TRY(hy_split_open(&plan->product, plan->portions, plan->count, &plan->split));
    plan->product.options.variant = NULL; /* the name belongs to the caller, who may free
                                             it */
    for (int i = 0; i < plan->count; i++)
        plan->portions[i].product.options.variant = NULL;
    return hy_progress_check(&plan->product.engine->ctx.progress);
}

hybrid_status hy_plan_make(hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, int64_t dense_cols,
                           const hybrid_plan_options *options, const hy_once *once,
                           hybrid_plan **out)
{
    hy_loader *early  = once ? once->early : NULL;
    hybrid_plan *plan = NULL;
    hybrid_status status;
    void *memory;

    const int devices = engine->device_count > 0 ? engine->device_count : 1;
    const size_t bytes =
        sizeof(hybrid_plan) + (size_t)devices * (sizeof(hy_portion) + sizeof(hy_bound));
    HY_TRY_ELSE_DONE(hy_array(&engine->ctx, 1, bytes, "plan", &memory));
    plan = memory;
    memset(plan, 0, bytes);
    plan->product       = hy_product_of(engine, A, B, dense_cols, options);
    plan->product.once  = once != NULL;
    plan->pattern_bytes = engine->spaces.fetched;
    plan->unasked       = once && once->X ? once : NULL;
    plan->count         = 1;
    plan->history.bound = (hy_bound *)(void *)(plan->portions + devices);
    hy_portion_of(&plan->product, plan->portions);
    plan->portions->traffic.other_up = -1; /* other_up is unknown until it is asked for */
    HY_TRY_ELSE_DONE(make(plan, A, B, &early));
done:
    if (status == HYBRID_OK) {
        plan->unasked = NULL; /* it belongs to the caller, who may free it */
        *out          = plan;
        return HYBRID_OK;
    }
    (void)hy_prefetch_end(&early); /* the first error is the one that is reported */
    hybrid_plan_destroy(plan);
    return status;
}

/* Predicts bytes and time of the first run, with X and Y that are not pinned. */
static hybrid_status predict(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B)
{
    hy_history *history = &plan->history;
    hy_circumstances first[HY_MOST_DEVICES];

    for (int i = 0; i < plan->count; i++) {
        hy_portion *p = &plan->portions[i];
        HY_TRY(hy_traffic_find(&p->product, &p->layout, hy_product_a(&p->product, A), B,
                               &p->traffic));
        history->bound[i] = hy_bind_planned(&p->layout, &p->traffic);
        first[i] = (hy_circumstances){.rows_of_b = hy_traffic_same(&p->product, A, B)};
    }
    history->report             = hy_plan_report(plan, history->bound);
    history->report.predicted_s = hy_portions_s(plan->portions, plan->count, first);
    return HYBRID_OK;
}

hybrid_status hy_plan_finish(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B)
{
    const hy_product *product = &plan->product;

    if (B && product->options.flags & HYBRID_REUSE)
        HY_TRY(hy_pattern_note(&product->engine->ctx, A, B, &plan->history.pattern));
    HY_TRY(predict(plan, A, B));
    for (int i = 0; i < plan->count; i++)
        hy_site_rest(plan->portions[i].site, HYBRID_OK);
    if (plan->split.host)
        hy_site_rest(plan->split.host, HYBRID_OK);
    return HYBRID_OK;
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
    hy_split_close(&plan->split);
    for (int i = 0; i < plan->count; i++)
        hy_portion_close(&plan->portions[i]);
    hy_pattern_free(ctx, &plan->history.pattern);
    hy_results_release(ctx, plan->a_offsets);
    hy_product_free(&plan->product);
    hy_array_free(ctx, plan);
}
