/* engine/panels_run.c - the panels of a run: X and Y tell where they begin, and whether
   those for pinned operands are taken. */
#include "engine/panels.h"

#include "base/csr.h"
#include "partition/chunks.h"
#include "partition/shared.h"

/* Rows that begin within lines go down at half of the speed. */
static int in_lines(const hybrid_plan *plan, const hybrid_dense *Y)
{
    const int64_t size = (int64_t)hy_value_size(plan->profile.type);

    return plan->engine->pinned_panels > 0 ||
           (Y->ld * size % HY_X_LINE == 0 && (uintptr_t)Y->data % HY_X_LINE == 0);
}

/* So that they begin where lines of Y do. */
static hy_panels moved(const hybrid_plan *plan, const hy_panels *panels,
                       const hy_problem *problem)
{
    hy_panels p = *panels;

    if (p.cols > 0 && hy_panels_may_move(plan))
        p.back = hy_panels_back(&p, problem->Y);
    return p;
}

/* Those of a run whose X and Y are pinned. */
static hy_panels panels_of_pinned(const hybrid_plan *plan, const hy_problem *problem)
{
    const hy_panels *pinned = &plan->layout.if_pinned;
    const hy_panels none    = {.cols = 0};
    const hy_panels wrapped = hy_panels_wrapped(pinned, problem->X, problem->Y);

    if (wrapped.cols > 0)
        return wrapped;
    return in_lines(plan, problem->Y) ? moved(plan, pinned, problem) : none;
}

/* Those of a run. */
static hy_panels panels_for(const hybrid_plan *plan, const hy_problem *problem)
{
    if (plan->layout.if_pinned.cols == 0)
        return moved(plan, &plan->layout.panels, problem);
    if (hy_plan_direct(plan, problem, HYBRID_ROW_MAJOR))
        return panels_of_pinned(plan, problem);
    if (plan->turned_room > 0 && hy_plan_direct(plan, problem, HYBRID_COL_MAJOR))
        return plan->layout.if_pinned; /* columns begin where they do */
    return (hy_panels){.cols = 0};
}

static int are_planned(const hy_panels *panels, const hy_panels *planned)
{
    return panels->cols == planned->cols && panels->back == planned->back &&
           panels->wraps == planned->wraps;
}

hy_bound hy_panels_bind(const hybrid_plan *plan, hy_problem *problem)
{
    const hy_panels panels = panels_for(plan, problem);
    hy_bound bound         = hy_plan_bound(plan);

    problem->panels = panels;
    if (are_planned(&panels, &plan->layout.panels))
        return bound;
    hy_layout layout      = plan->layout;
    layout.panels         = panels;
    layout.resident_bytes = hy_layout_image(plan, &layout).bytes;
    bound.list            = hy_chunks_in_panels(&bound.list, &panels, plan->b_cols);
    if (bound.up > 0) /* predicted at all */
        bound.up = hy_traffic_dense_up(plan, &layout);
    return bound;
}
