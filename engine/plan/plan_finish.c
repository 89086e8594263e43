/* engine/plan/plan_finish.c - completes a plan that the caller of the library receives.
 */
#include "engine/plan/plan.h"
#include "engine/rates/estimate.h"
#include "engine/rates/traffic.h"

/* Predicts bytes and seconds of the first run, as if X and Y were not pinned. */
static hybrid_status predict(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B)
{
    hy_history *history = &plan->history;
    hy_circumstances first[HY_MAX_DEVICES];

    for (int i = 0; i < plan->count; i++) {
        hy_portion *p = &plan->portions[i];
        HY_TRY(hy_traffic_find(p, hy_product_a(p->product, A), B, &p->traffic));
        hy_bind_planned(p);
        first[i] = (hy_circumstances){.rows_of_b = hy_traffic_same(p, A, B)};
    }
    history->report             = hy_plan_report(plan);
    history->report.predicted_s = hy_portions_s(plan->portions, plan->count, first);
    return HYBRID_OK;
}

/* With HYBRID_EXPLAIN, lets the model of the chosen variant write its numbers as text to
   plan->model, for the reports on the plan. */
static hybrid_status ask_model(hybrid_plan *plan, const hybrid_csr *A)
{
    const hy_product *product = &plan->product;
    const hy_portion *first   = plan->portions;

    if (!(product->options.flags & HYBRID_EXPLAIN) || !first->variant->model)
        return HYBRID_OK;
    return first->variant->model(&product->engine->ctx, hy_product_a(product, A),
                                 &first->profile.features, &first->rates, plan->model,
                                 sizeof plan->model);
}

hybrid_status hy_plan_finish(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B)
{
    const hy_product *product = &plan->product;

    if (B && product->options.flags & HYBRID_REUSE)
        HY_TRY(hy_pattern_note(&product->engine->ctx, A, B, &plan->history.pattern));
    HY_TRY(predict(plan, A, B));
    HY_TRY(ask_model(plan, A));
    for (int i = 0; i < plan->count + hy_plan_has_helper(plan); i++)
        hy_site_rest(plan->portions[i].site, HYBRID_OK);
    return HYBRID_OK;
}
