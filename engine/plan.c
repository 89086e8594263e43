/* engine/plan.c - inspect, rank, cut, open the site, let the host take part. */
#include "engine/plan.h"

#include <string.h>

#include "base/csr.h"
#include "engine/early.h"
#include "engine/panels.h"
#include "engine/weigh.h"

int hy_plan_first_host(const hybrid_plan *plan)
{
    int i = 0;

    while (i < plan->candidate_count && plan->candidates[i].backend->ops->copy)
        i++;
    return i;
}

/* Of these candidates the cheapest whose backend can hold the work. */
static hybrid_status choose_of(hybrid_plan *plan, const hybrid_csr *A,
                               const hybrid_csr *B, const hybrid_plan_options *o,
                               int begin, int end)
{
    hybrid_status status = HYBRID_UNSUPPORTED;

    for (plan->chosen = begin; plan->chosen < end; plan->chosen++) {
        hy_candidate *c = &plan->candidates[plan->chosen];
        if (c->refused)
            continue;
        status = hy_plan_cut(plan, A, B, o);
        if (status != HYBRID_NO_DEVICE_MEMORY)
            break;
        c->refused = "a row of the product does not fit the device's budget";
    }
    return status;
}

static hybrid_status choose(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                            const hybrid_plan_options *o)
{
    return choose_of(plan, A, B, o, 0, plan->candidate_count);
}

static hybrid_status open_once(hybrid_plan *plan, hy_loader **early)
{
    const hy_layout *l  = &plan->layout;
    const int slots     = l->count < l->depth ? (int)l->count : l->depth;
    hy_backend *backend = plan->candidates[plan->chosen].backend;
    const size_t shared = l->count > 0 ? l->shared_bytes : 0;

    if (*early && ((*early)->backend != backend || (*early)->shared.bytes != shared))
        HY_TRY(hy_early_end(early)); /* its place is others' now */
    HY_TRY(hy_site_open(backend, &plan->rates, plan->op, l->chunks, l->count, slots,
                        shared, *early, &plan->site));
    plan->site->turned.room = plan->turned_room;
    *early                  = NULL;
    return HYBRID_OK;
}

/* Whether a run may have the rooms for X and Y in columns: what is in use counts blocks
   that could be theirs, so where it seems too much they are asked for. */
static int leaves_rooms(const hybrid_plan *plan, hy_backend *backend)
{
    const hy_backend_ops *ops = backend->ops;
    const size_t cap = (size_t)backend->device.cap, bytes = plan->turned_room;
    hy_buffer x = {0}, y = {0};

    if (cap == 0 || (size_t)hy_meter_used(&backend->device) + 2 * bytes <= cap)
        return 1;
    const int can = ops->alloc(backend, HY_DEVICE, bytes, &x) == HYBRID_OK &&
                    ops->alloc(backend, HY_DEVICE, bytes, &y) == HYBRID_OK;
    ops->free(backend, &x);
    ops->free(backend, &y);
    return can;
}

static hybrid_status open_with_room(hybrid_plan *plan, hy_loader **early)
{
    hy_backend *backend        = plan->candidates[plan->chosen].backend;
    const hybrid_status status = open_once(plan, early);

    if (status == HYBRID_OK && leaves_rooms(plan, backend))
        return HYBRID_OK;
    if (status != HYBRID_OK && status != HYBRID_NO_DEVICE_MEMORY)
        return status;
    /* blocks kept from earlier plans may be larger than what was asked for */
    hy_message_clear(&plan->engine->ctx.message);
    hy_site_close(plan->site);
    plan->site = NULL;
    HY_TRY(hy_early_end(early));
    backend->ops->trim(backend);
    return open_once(plan, early);
}

static hybrid_status open_site(hybrid_plan *plan, hy_loader **early)
{
    HY_TRY(open_with_room(plan, early));
    plan->site->cache.lasts = (plan->flags & HYBRID_RESIDENT) != 0;
    return HYBRID_OK;
}

int64_t hy_plan_there_bytes(const hybrid_plan *plan)
{
    const hy_pack_cache *cache = &plan->site->cache;
    int64_t sum                = 0;

    if (hy_pack_cache_there(cache) == 0)
        return 0;
    for (int64_t i = 0; i < cache->count; i++) {
        const hy_features *f = &plan->layout.chunks[i].features;
        sum += hy_csr_bytes(f->rows, f->nnz, f->type) - 8;
    }
    if (cache->count == cache->ranges) /* and what is left out of A */
        sum += 8 * (plan->rows - plan->profile.rows);
    return sum;
}

/* Chunks that the host may take are there once the device has had them. In panels it
   takes what is there, and may again: not all are told of until a run was the device's
   alone. */
int64_t hy_plan_resident_chunks(const hybrid_plan *plan)
{
    const hy_pack_cache *cache = &plan->site->cache;

    if (!cache->lasts)
        return 0;
    if (!plan->split.host || cache->there)
        return cache->count * hy_panels_number(&plan->bound.list.panels, plan->b_cols);
    const int64_t there = hy_pack_cache_there(cache);
    return there < cache->ranges ? there : there - 1;
}

int hy_plan_has_a(const hybrid_plan *plan)
{
    const hy_pack_cache *cache = &plan->site->cache;

    return cache->there && cache->count == cache->ranges;
}

hy_bound hy_plan_bound(const hybrid_plan *plan)
{
    const hy_layout *l       = &plan->layout;
    const hy_chunk_list list = hy_chunks_of(l->chunks, l->count);

    if (l->panels.cols == 0)
        return (hy_bound){list, plan->traffic.up};
    return (hy_bound){hy_chunks_in_panels(&list, &l->panels, plan->b_cols),
                      plan->traffic.up};
}

void hy_plan_start_report(hybrid_plan *plan)
{
    const hy_pack_cache *cache = &plan->site->cache;

    plan->report                     = (hybrid_report)HYBRID_REPORT_INIT;
    plan->report.chunks              = plan->bound.list.count;
    plan->report.rows                = plan->rows;
    plan->report.flops               = 2 * plan->profile.features.products;
    plan->report.predicted_h2d_bytes = plan->bound.up;
    plan->report.predicted_d2h_bytes = plan->traffic.down;
    plan->report.other_h2d_bytes     = plan->traffic.other_up;
    plan->report.gathered            = plan->layout.gathered;
    plan->report.resident_chunks     = hy_plan_resident_chunks(plan);
    if (cache->lasts) {
        plan->report.resident_bytes = (int64_t)cache->block.bytes;
        plan->report.predicted_h2d_bytes += hy_traffic_first(plan);
    }
}

hybrid_status hy_plan_finish(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B)
{
    if (B && plan->flags & HYBRID_REUSE)
        HY_TRY(hy_pattern_note(&plan->engine->ctx, A, B, &plan->pattern));
    HY_TRY(hy_plan_traffic(plan, hy_empty_a(plan, A), B, &plan->traffic));
    plan->bound = hy_plan_bound(plan);
    hy_plan_start_report(plan);
    return HYBRID_OK;
}

/* Profile and candidates, in place of those that the plan has. */
static hybrid_status look(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                          const hybrid_plan_options *o, const hy_counter *counter)
{
    hybrid_engine *engine = plan->engine;
    hy_context *ctx       = &engine->ctx;
    hy_profile *profile   = &plan->profile;
    /* blocks pay in many runs; who names a variant or asks why has them looked for */
    const int blocks = o->flags & (HYBRID_RESIDENT | HYBRID_EXPLAIN) || o->variant;

    hy_profile_free(ctx, profile);
    HY_TRY(hy_inspect(ctx, A, B, plan->b_cols, counter, profile));
    profile->features.allow_tf32 = (o->flags & HYBRID_ALLOW_TF32) != 0;
    /* the host has no use for it, who asks for an explanation has */
    if (!B && (engine->device || o->flags & HYBRID_EXPLAIN))
        HY_TRY(hy_inspect_fill(ctx, A, blocks, profile));
    return hy_rank(engine, profile, o, plan->candidates, &plan->candidate_count);
}

/* By a device: the host reads operands in place. */
static hybrid_status choose_for_rest(hybrid_plan *plan, const hybrid_plan_options *o)
{
    const hybrid_csr *A = &plan->compact.A;

    plan->b_rows = A->cols;
    HY_TRY(look(plan, A, NULL, o, NULL));
    return choose_of(plan, A, NULL, o, 0, hy_plan_first_host(plan));
}

/* Whether all of A is to be tried where its rest failed. */
static int gives_way(hybrid_status status)
{
    return status == HYBRID_NO_MEMORY || status == HYBRID_NO_DEVICE_MEMORY ||
           status == HYBRID_UNSUPPORTED;
}

/* For A without its empty rows and columns, if that pays, there is memory for it, and a
   variant that computes it. */
static hybrid_status choose_rest_or_all(hybrid_plan *plan, const hybrid_csr *A,
                                        const hybrid_csr *B, const hybrid_plan_options *o,
                                        const hy_counter *counter)
{
    hy_context *ctx = &plan->engine->ctx;

    if (!hy_is_compact(&plan->compact))
        return choose(plan, A, B, o);
    const hybrid_status status = choose_for_rest(plan, o);
    if (!gives_way(status))
        return status;
    hy_message_clear(&ctx->message);
    hy_compact_free(ctx, &plan->compact);
    plan->b_rows = A->cols;
    HY_TRY(look(plan, A, B, o, counter));
    return choose(plan, A, B, o);
}

static hybrid_status look_and_choose(hybrid_plan *plan, const hybrid_csr *A,
                                     const hybrid_csr *B, const hybrid_plan_options *o,
                                     const hy_counter *counter)
{
    HY_TRY(look(plan, A, B, o, counter));
    plan->host_s = hy_weigh_host(plan, o);
    if (o->order != HYBRID_COL_MAJOR || plan->b_cols == 1)
        plan->spared_s = hy_weigh_fitting(plan);
    if (plan->spared_s <= 0)
        HY_TRY(hy_empty_find(plan, A, o));
    if (plan->spared_s <= 0)
        HY_TRY(choose_rest_or_all(plan, A, B, o, counter));
    if (plan->spared_s <= 0)
        return HYBRID_OK;
    return choose_of(plan, A, B, o, hy_plan_first_host(plan), plan->candidate_count);
}

static hybrid_status make(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                          const hybrid_plan_options *options, hy_loader **early)
{
    const hy_counter counter = hy_early_counter(*early, A, B);

    HY_TRY(look_and_choose(plan, A, B, options, counter.count ? &counter : NULL));
    plan->candidates[plan->chosen].chosen = 1;
    HY_TRY(open_site(plan, early));
    return hy_split_open(plan, options);
}

hybrid_status hy_plan_make(hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, int64_t dense_cols,
                           const hybrid_plan_options *options, hy_loader *early,
                           hybrid_plan **out)
{
    hybrid_plan *plan = NULL;
    hybrid_status status;
    void *memory;

    HY_TRY_ELSE_DONE(hy_array(&engine->ctx, 1, sizeof(hybrid_plan), "plan", &memory));
    plan = memory;
    memset(plan, 0, sizeof *plan);
    plan->engine           = engine;
    plan->op               = B ? HY_SPGEMM : HY_SPMM;
    plan->flags            = options->flags;
    plan->rows             = A->rows;
    plan->cols             = A->cols;
    plan->b_rows           = A->cols;
    plan->b_cols           = B ? B->cols : dense_cols;
    plan->b_nnz            = B ? B->nnz : 0;
    plan->traffic.other_up = -1; /* until somebody asks */
    HY_TRY_ELSE_DONE(make(plan, A, B, options, &early));
done:
    if (status == HYBRID_OK) {
        *out = plan;
        return HYBRID_OK;
    }
    (void)hy_early_end(&early); /* the first error is the one that counts */
    hybrid_plan_destroy(plan);
    return status;
}

void hybrid_plan_destroy(hybrid_plan *plan)
{
    if (!plan || hy_engine_inherited(plan->engine))
        return;
    hy_context *ctx = &plan->engine->ctx;
    hy_split_close(&plan->split);
    hy_site_close(plan->site);
    hy_layout_free(plan, &plan->layout);
    hy_pattern_free(ctx, &plan->pattern);
    hy_profile_free(ctx, &plan->profile);
    hy_compact_free(ctx, &plan->compact);
    hy_array_free(ctx, plan);
}
