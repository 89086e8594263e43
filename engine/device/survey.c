/* engine/device/survey.c - plans a product from a survey: numbers about the operands that
   the device itself computes (hy_survey). */
#include <math.h>

#include "base/threads/clock.h"
#include "engine/plan/rank.h"
#include "engine/device/single.h"
#include "engine/rates/factors.h"
#include "partition/pattern/chunks.h"
#include "partition/format/pack.h"

static hy_survey *survey_of(const hy_single *s)
{
    return &hy_single_told(s)->survey;
}

/* Enqueues a survey of the operands, with the gate if `expected` is not NULL: the gate
   is closed unless the survey finds these numbers. If memory is short, *end becomes
   HY_DIRECT_LEFT. */
static hybrid_status survey(hy_single *s, const hy_survey *expected, hy_direct_end *end)
{
    const hybrid_status status = hy_lane_set_survey(s->lanes, sizeof(hy_told));

    if (status == HYBRID_NO_DEVICE_MEMORY) {
        hy_message_clear(&s->engine->ctx.message);
        *end = HY_DIRECT_LEFT;
        return HYBRID_OK;
    }
    HY_TRY(status);
    const hy_surveying how = {.A        = s->problem.a_source.on_device.csr,
                              .B        = s->problem.source.on_device.csr,
                              .work     = s->lanes->survey.ptr,
                              .out      = survey_of(s),
                              .expected = expected,
                              .gate     = hy_lane_set_gate(s->lanes)};
    return s->device->ops->survey(s->lane, &how);
}

/* Returns the features that partition/pattern/inspect.c would find, except for tile_fill
   and the blocks, which stay 0 (unknown). */
static hy_features features_of(const hy_single *s, int64_t out_cols)
{
    const hy_survey *found = survey_of(s);
    const double rows      = (double)s->A.rows;
    const double mean      = (double)s->A.nnz / rows;
    const double variance  = found->squares / rows - mean * mean;
    const int dense        = s->problem.op == HY_SPMM;
    const int compresses   = !dense && found->drawn_entries > 0 &&
                           found->drawn_products > found->drawn_entries;

    return (hy_features){
        .rows         = s->A.rows,
        .cols         = s->A.cols,
        .nnz          = s->A.nnz,
        .out_cols     = out_cols,
        .products     = dense ? s->A.nnz * out_cols : found->products,
        .products_max = dense ? found->longest * out_cols : found->products_max,
        .out_bound    = dense ? s->A.rows * out_cols : found->bound,
        .out_ratio    = compresses ? found->drawn_products / found->drawn_entries : 1,
        .row_mean     = mean,
        .row_cv       = variance > 0 ? sqrt(variance) / mean : 0,
        .row_max      = found->longest,
        .type         = s->A.type};
}

static void make_chunk(hy_single *s, const hy_features *f)
{
    const int64_t cols = s->problem.op == HY_SPMM ? f->out_cols : s->problem.B->cols;

    s->chunk =
        (hy_chunk){.row_end = f->rows, .col_end = cols, .x_end = f->cols, .features = *f};
}

enum {
    ARRANGING = 2 /* assumed number of kernels that a variant enqueues to make its pack of
                     A, unless it uses hy_arrange_csr() */
};

/* Returns the predicted seconds of a variant. They include the additional kernels that
   make its pack of A on the device. */
static double seconds_of(const hy_single *s, const hy_variant *variant,
                         const hy_cost *cost)
{
    const int kernels = variant->arrange == hy_arrange_csr ? 0 : ARRANGING;

    return cost->multiply_s + cost->finish_s + kernels * s->rates.launch_s;
}

/* Sets chunk.variant to the variant with the least predicted seconds among those that can
   compute the chunk. It stays NULL if none can. */
static void choose(hy_single *s, unsigned flags)
{
    const hybrid_engine *engine = s->engine;
    const hy_features *f        = &s->chunk.features;
    double least_s              = INFINITY;

    for (const hy_variant *const *v = engine->variants; *v; v++) {
        if ((*v)->op != s->problem.op || !(*v)->arrange || !hy_runs_on(*v, s->device) ||
            ((*v)->unordered && flags & HYBRID_DETERMINISTIC) ||
            (*v)->refuse(f, &s->rates))
            continue;
        const hy_cost cost   = hy_cost_of(*v, f, &s->rates);
        const double seconds = seconds_of(s, *v, &cost);
        if (seconds >= least_s)
            continue;
        least_s          = seconds;
        s->chunk.variant = *v;
        s->cost          = cost;
    }
}

hybrid_status hy_single_plan(hy_single *s, int64_t out_cols, unsigned flags,
                             const hy_beginning *start, hy_direct_end *end)
{
    *end = HY_DIRECT_DONE;
    HY_TRY(survey(s, NULL, end));
    if (*end == HY_DIRECT_LEFT)
        return HYBRID_OK;
    HY_TRY(hy_single_wait(s));
    if (survey_of(s)->wrong || (flags & HYBRID_CHECK && survey_of(s)->falls)) {
        *end = HY_DIRECT_WRONG;
        return HYBRID_OK;
    }
    const hy_features f = features_of(s, out_cols);
    make_chunk(s, &f);
    if (hy_chunk_is_counted(&f))
        choose(s, flags);
    *end      = s->chunk.variant ? HY_DIRECT_DONE : HY_DIRECT_LEFT;
    s->plan_s = (double)(hy_now_ns() - start->ns) * 1e-9;
    return HYBRID_OK;
}

/* ---- plans of recent calls ------------------------------------------------------- */

hybrid_status hy_single_follow(hy_single *s, const hy_recalled *recalled,
                               const hy_beginning *start, hy_direct_end *end)
{
    s->recalled = recalled;
    s->chunk    = recalled->chunk;
    s->cost     = recalled->cost;
    HY_TRY(survey(s, &recalled->survey, end));
    s->plan_s = (double)(hy_now_ns() - start->ns) * 1e-9;
    return HYBRID_OK;
}

int hy_single_is_confirmed(const hy_single *s)
{
    return !s->recalled || hy_survey_same(survey_of(s), &s->recalled->survey);
}

void hy_single_remember(const hy_single *s, const hybrid_csr *A, unsigned flags)
{
    const hy_recalled call = {.device = s->device,
                              .A      = *A,
                              .cols   = s->chunk.col_end,
                              .flags  = flags,
                              .survey = *survey_of(s),
                              .chunk  = s->chunk,
                              .cost   = s->cost};

    hy_recall_add(&s->engine->recall, &call);
}
