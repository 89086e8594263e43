/* engine/report/tell.c - public functions that return reports, the candidates of a plan,
   and the variants of the library. */
#include "engine/plan/plan.h"
#include "engine/api/struct_size.h"

hybrid_status hybrid_engine_report(const hybrid_engine *engine, hybrid_report *out)
{
    if (!engine || !out || !hy_struct_fits(&hy_report_struct, out->struct_size))
        return HYBRID_BAD_ARGUMENT;
    if (engine->report.struct_size == 0 || hy_engine_barred(engine))
        return HYBRID_BAD_STATE;
    hy_struct_write(&hy_report_struct, &engine->report, out);
    return HYBRID_OK;
}

hybrid_status hybrid_plan_report(const hybrid_plan *plan, hybrid_report *out)
{
    if (!plan || !out || !hy_struct_fits(&hy_report_struct, out->struct_size))
        return HYBRID_BAD_ARGUMENT;
    if (hy_engine_barred(plan->product.engine))
        return HYBRID_BAD_STATE;
    hy_struct_write(&hy_report_struct, &plan->history.report, out);
    return HYBRID_OK;
}

hybrid_status hybrid_plan_candidate(const hybrid_plan *plan, int i, hybrid_candidate *out)
{
    if (!plan || !out || i < 0 || i >= plan->candidates.count)
        return HYBRID_BAD_ARGUMENT;
    if (hy_engine_barred(plan->product.engine))
        return HYBRID_BAD_STATE;
    const hy_candidate *c = &plan->candidates.of[i];
    *out = (hybrid_candidate){c->variant->name, c->refused, c->predicted_s,
                              i == plan->candidates.chosen};
    return HYBRID_OK;
}

hybrid_status hybrid_variant_at(int i, hybrid_variant_info *out)
{
    if (!out || i < 0)
        return HYBRID_BAD_ARGUMENT;
    for (const hy_variant *const *v = hy_variants; *v; v++)
        if (i-- == 0) {
            *out = (hybrid_variant_info){.name    = (*v)->name,
                                         .summary = (*v)->summary,
                                         .source  = (*v)->source,
                                         .parameters =
                                             (*v)->parameters ? (*v)->parameters : "",
                                         .by_name = (*v)->by_name};
            return HYBRID_OK;
        }
    return HYBRID_BAD_ARGUMENT;
}
