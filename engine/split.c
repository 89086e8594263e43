/* engine/split.c - how much of a product the host takes from the device.

   Both are predicted by their cost models: of the device the longest stage of the whole
   product, with the bytes that are expected to be copied; of the host its time on the
   cores that are left. Packing for the device, filling the ring that feeds it and storing
   dense results keep all of them busy for a while. */
#include "engine/split.h"

#include <math.h>

#include "base/csr.h"
#include "engine/plan.h"
#include "engine/rates.h"
#include "partition/chunks.h"
#include "partition/pack.h"

/* What is known to be never slower than the device alone is the default. */
static const hybrid_split DEFAULT = HYBRID_SPLIT_GPU;

enum {
    SLOTS       = 4,         /* pieces in flight */
    PIECE       = 256 << 10, /* products of SpGEMM, a core: some 0.3 ms */
    PIECE_DENSE = 4 << 20,   /* the same of SpMM */
    PIECES      = 64,        /* at least, of a product large enough */
    SPARE_ROWS  = 1024
};

static const double LEAST_GAIN = 0.05; /* of the device's time, */
static const double LEAST_GAIN_S =
    200e-6; /* and in seconds: less is not worth its slots */

hybrid_split hy_split_mode(const hybrid_plan_options *o)
{
    return o->split == HYBRID_SPLIT_DEFAULT ? DEFAULT : o->split;
}

/* ---- prediction ---------------------------------------------------------------------
 */

/* Bytes of the result, as far as is known. */
static double result_bytes(const hybrid_plan *plan)
{
    const hy_features *f = &plan->profile.features;
    const double size    = (double)hy_value_size(f->type);

    if (plan->op == HY_SPMM)
        return (double)f->out_bound * size;
    return (double)f->products / f->out_ratio * (4 + size) + 8 * (double)f->rows;
}

/* The device's stages for all chunks. */
static hy_stage_times device_stages(const hybrid_plan *plan)
{
    hy_stage_times sum = {0, 0, 0, 0};

    for (int64_t i = 0; i < plan->layout.count; i++) {
        const hy_chunk *chunk  = &plan->layout.chunks[i];
        const hy_cost cost     = chunk->variant->cost(&chunk->features, &plan->rates);
        const hy_stage_times t = hy_predict_stages(
            &cost, &plan->rates, hy_pool_threads(plan->engine->ctx.pool));
        sum.prepare += t.prepare;
        sum.h2d += t.h2d;
        sum.run += t.run;
    }
    sum.h2d += (double)plan->layout.shared_bytes / plan->rates.h2d_Bps;
    sum.d2h = result_bytes(plan) / plan->rates.d2h_Bps;
    return sum;
}

/* Seconds for which the device's pipeline keeps all cores busy. */
static double busy_seconds(const hybrid_plan *plan, const hy_stage_times *device)
{
    const double stored = plan->op == HY_SPMM ? result_bytes(plan) : 0;

    return device->prepare + ((double)plan->layout.shared_bytes + stored) /
                                 plan->split.sharing.rates.mem_Bps;
}

static double host_seconds(const hybrid_plan *plan)
{
    const hy_sharing *s = &plan->split.sharing;
    const hy_cost cost  = s->variant->cost(&plan->profile.features, &s->rates);

    return cost.multiply_s + cost.finish_s;
}

/* Rates of both, and the host's share. Returns the seconds it takes off the run. */
static double predict(hybrid_plan *plan)
{
    hy_sharing *s               = &plan->split.sharing;
    const hy_features *f        = &plan->profile.features;
    const double work           = (double)f->products + (double)f->rows;
    const hy_stage_times stages = device_stages(plan);
    const double device_s       = hy_longest_stage(&stages);
    const double left_s         = fmax(device_s - busy_seconds(plan, &stages), 0);

    if (device_s <= 0)
        return 0;
    s->device_rate    = work / device_s;
    s->host_rate      = left_s / device_s * work / host_seconds(plan);
    plan->split.share = s->host_rate / (s->host_rate + s->device_rate);
    return plan->split.share * device_s;
}

/* ---- the crew -----------------------------------------------------------------------
 */

/* Room for a piece, or for the costliest row if that is more, but no more than the host's
   budget gives a slot: rows beyond it are left to the device. */
static void size_slots(hy_split *split, const hy_features *f)
{
    const size_t budget   = split->sharing.rates.memory / SLOTS;
    const int64_t longest = f->products_max < f->out_cols ? f->products_max : f->out_cols;
    hy_features *room     = &split->largest.features;
    hy_cost cost;

    split->largest.variant = split->sharing.variant;
    *room                  = *f;
    room->rows             = f->rows / PIECES + SPARE_ROWS;
    room->products         = split->sharing.products;
    room->out_bound        = room->products > longest ? room->products : longest;
    for (;; room->rows = room->rows / 2 + 1, room->out_bound /= 2) {
        cost = split->sharing.variant->cost(room, &split->sharing.rates);
        if (hy_cost_bytes(&cost) <= budget || room->out_bound == 0)
            break;
    }
    split->sharing.slot_bytes = hy_cost_bytes(&cost);
}

static void size_pieces(hybrid_plan *plan, const hybrid_plan_options *o)
{
    hy_sharing *s         = &plan->split.sharing;
    const hy_features *f  = &plan->profile.features;
    const int64_t threads = hy_pool_threads(plan->engine->ctx.pool);
    const int64_t most    = threads * (plan->op == HY_SPMM ? PIECE_DENSE : PIECE);
    const int64_t part    = f->products / PIECES + 1;

    s->products = part < most ? part : most;
    s->rows     = o->chunk_rows > 0 ? o->chunk_rows : INT64_MAX;
    size_slots(&plan->split, f);
}

static hybrid_status open_crew(hybrid_plan *plan)
{
    hy_split *split = &plan->split;
    hy_pipeline *crew;

    HY_TRY(hy_pipeline_open(plan->engine->host, &split->sharing.rates, plan->op,
                            &split->largest, 1, SLOTS, 0, NULL, &crew));
    hy_pipeline_share(plan->pipeline, crew, &split->sharing);
    split->slots = SLOTS;
    return HYBRID_OK;
}

/* NULL, or why the host shall not take part. */
static const char *find_reason(hybrid_plan *plan, const hybrid_plan_options *o,
                               const hy_candidate *host)
{
    if (plan->split.mode == HYBRID_SPLIT_GPU)
        return "as asked for";
    if (!host->variant)
        return "no variant of the host can compute it";
    if (plan->layout.panels.cols > 0)
        return "X comes in panels, for which A stays on the device";
    if (plan->layout.window > 0)
        return "X passes through the device in the order in which its chunks need it";
    if (o->flags & HYBRID_RESIDENT)
        return "A stays on the device in chunks as they were planned";
    if (plan->op == HY_SPMM && o->flags & HYBRID_DETERMINISTIC)
        return "bits of a dense result depend on who computes a row";
    return NULL;
}

/* For HYBRID_SPLIT_AUTO. Where places in C follow from the rows before, a device's chunk
   waits for the host's pieces in front of it: measured, that costs up to a third of the
   run and gains 3 % at best (docs/performance.md). */
static const char *find_loss(const hybrid_plan *plan, double gain_s)
{
    if (plan->op == HY_SPGEMM && !(plan->flags & HYBRID_REUSE))
        return "its chunks would wait for the host's to know their place";
    if (plan->engine->ctx.memory.meter.cap > 0)
        return "host memory is capped";
    if (plan->split.share < LEAST_GAIN || gain_s < LEAST_GAIN_S)
        return "the host would gain too little";
    return NULL;
}

static hybrid_status refuse(hybrid_plan *plan, const char *why)
{
    return hy_fail(&plan->engine->ctx, HYBRID_UNSUPPORTED,
                   "the product cannot be shared with the host: %s", why);
}

hybrid_status hy_split_open(hybrid_plan *plan, const hybrid_plan_options *o)
{
    hy_split *split = &plan->split;
    hy_candidate host;

    split->mode = hy_split_mode(o);
    if (!plan->candidates[plan->chosen].backend->ops->copy || plan->layout.count == 0)
        return HYBRID_OK; /* the host computes all of it, or nobody anything */
    hy_rank_host(plan->engine, &plan->profile, o, &host);
    split->why_not = find_reason(plan, o, &host);
    if (split->why_not)
        return split->mode == HYBRID_SPLIT_SHARE ? refuse(plan, split->why_not)
                                                 : HYBRID_OK;
    split->sharing.variant = host.variant;
    hy_rates_of(plan->engine->host, &split->sharing.rates);
    size_pieces(plan, o);
    const double gain_s  = predict(plan);
    split->sharing.share = split->mode == HYBRID_SPLIT_SHARE ? o->host_share : -1;
    if (split->mode == HYBRID_SPLIT_SHARE)
        split->share = o->host_share;
    else
        split->why_not = find_loss(plan, gain_s);
    if (split->why_not)
        return HYBRID_OK;
    const hybrid_status status = open_crew(plan);
    if (split->mode == HYBRID_SPLIT_SHARE || status != HYBRID_NO_DEVICE_MEMORY)
        return status;
    split->why_not = "other plans hold the host's budget for chunks";
    hy_message_clear(&plan->engine->ctx.message);
    return HYBRID_OK;
}
