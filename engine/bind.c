/* engine/bind.c - the chunks of a run: X and Y tell where its panels begin, and whether
   those for pinned operands are taken. */
#include "engine/bind.h"

#include "base/csr.h"
#include "engine/panels.h"
#include "engine/pin.h"
#include "partition/shared.h"

/* Rows that begin within lines go down at half of the speed. */
static int in_lines(const hy_product *product, const hybrid_dense *Y)
{
    const int64_t size = (int64_t)hy_value_size(Y->type);

    return product->engine->pinned_panels > 0 ||
           (Y->ld * size % HY_X_LINE == 0 && (uintptr_t)Y->data % HY_X_LINE == 0);
}

/* So that they begin where lines of Y do. */
static hy_panels moved(const hy_product *product, const hy_panels *panels,
                       const hy_problem *problem)
{
    hy_panels p = *panels;

    if (p.cols > 0 && hy_panels_may_move(product))
        p.back = hy_panels_back(&p, problem->Y);
    return p;
}

/* Those of a run whose X and Y are pinned. */
static hy_panels panels_of_pinned(const hy_product *product, const hy_panels *pinned,
                                  const hy_problem *problem)
{
    const hy_panels none    = {.cols = 0};
    const hy_panels wrapped = hy_panels_wrapped(pinned, problem->X, problem->Y);

    if (wrapped.cols > 0)
        return wrapped;
    return in_lines(product, problem->Y) ? moved(product, pinned, problem) : none;
}

/* Those of a run. */
static hy_panels panels_for(const hy_product *product, const hy_layout *layout,
                            const hy_problem *problem)
{
    const hy_panels *pinned = &layout->if_pinned;

    if (pinned->cols == 0)
        return moved(product, &layout->panels, problem);
    if (hy_pin_direct(problem, HYBRID_ROW_MAJOR))
        return panels_of_pinned(product, pinned, problem);
    if (product->turned_room > 0 && hy_pin_direct(problem, HYBRID_COL_MAJOR))
        return *pinned; /* columns begin where they do */
    return (hy_panels){.cols = 0};
}

static int are_planned(const hy_panels *panels, const hy_panels *planned)
{
    return panels->cols == planned->cols && panels->back == planned->back &&
           panels->wraps == planned->wraps;
}

hy_bound hy_bind_planned(const hy_product *product, const hy_layout *layout,
                         const hy_traffic *traffic)
{
    const hy_chunk_list list = hy_chunks_of(layout->chunks, layout->count);

    if (layout->panels.cols == 0)
        return (hy_bound){list, traffic->up};
    return (hy_bound){hy_chunks_in_panels(&list, &layout->panels, product->b_cols),
                      traffic->up};
}

hy_bound hy_bind(const hy_product *product, const hy_layout *layout,
                 const hy_traffic *traffic, hy_problem *problem)
{
    const hy_panels panels = panels_for(product, layout, problem);
    hy_bound bound         = hy_bind_planned(product, layout, traffic);

    problem->panels = panels;
    if (are_planned(&panels, &layout->panels))
        return bound;
    hy_layout moved_to      = *layout;
    moved_to.panels         = panels;
    moved_to.resident_bytes = hy_layout_image(product, &moved_to).bytes;
    bound.list              = hy_chunks_in_panels(&bound.list, &panels, product->b_cols);
    if (bound.up > 0) /* predicted at all */
        bound.up = hy_traffic_dense_up(product, &moved_to);
    return bound;
}
