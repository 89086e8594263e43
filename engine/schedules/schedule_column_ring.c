/* engine/schedules/schedule_column_ring.c - X is on the device in panels of columns.

   Of an X that does not fit two panels are there at once. What fits of A stays, the rest
   is sent with each panel, and X once: instead of each row of X with each chunk that
   touches it.

   Of an X that fits all panels find a place. Chunks whose rows of A name rows of X far
   and wide wait for all of X, and nothing goes down while X goes up. In panels Y of one
   goes down while the next panel of X goes up. All of A must stay for that. */
#include <math.h>

#include "engine/plan/grain.h"
#include "engine/plan/column_blocks.h"
#include "engine/schedules/schedule.h"

static hy_layout asked_for(const hy_planning *p, hy_image panels)
{
    return (hy_layout){
        .image = panels, .depth = hy_slots(p->product), .share = HY_RESIDENT_SHARE};
}

/* Where X fits: the panels with which a run is shortest. */
static hy_image shortest(const hy_planning *p)
{
    hy_image best  = {.axis = HY_AXIS_NONE};
    double least_s = INFINITY;

    for (int n = 2; n <= HY_COLUMN_BLOCKS; n++) {
        const hy_image panels = hy_column_blocks_side_by_side(p->product, n);
        if (panels.axis == HY_AXIS_NONE)
            continue;
        const hy_layout asked = asked_for(p, panels);
        const hy_estimate e   = hy_schedule_even(p, &asked);
        const double s        = hy_estimate_seconds(p->product, &e);
        best                  = s < least_s ? panels : best;
        least_s               = fmin(s, least_s);
    }
    return best;
}

/* Tests name it, and how many panels. */
static int is_named(const hybrid_engine *engine)
{
    return engine->schedule == &hy_schedule_column_ring && engine->panels > 0;
}

static hy_image best(const hy_planning *p)
{
    const size_t part = hy_allowed(p->product->rates.memory, HY_ALLOW);

    if (!hy_product_fits(p->product))
        return hy_column_blocks_within(p->product, part);
    return is_named(p->product->engine) ? hy_column_blocks_forced(p->product)
                                        : shortest(p);
}

static hy_estimate promise(const hy_planning *p)
{
    const hy_layout asked = asked_for(p, best(p));

    if (asked.image.axis == HY_AXIS_NONE)
        return (hy_estimate){.chunks = 0};
    return hy_schedule_even(p, &asked);
}

/* With as much of A as fits beside them. 0 slots: there are none, they do not fit, or
   some row does not. */
static hybrid_status try(const hy_planning *p, hy_image panels, hy_layout *out)
{
    *out = asked_for(p, panels);
    if (panels.axis == HY_AXIS_NONE ||
        hy_align(hy_image_room(&panels)) >= p->product->rates.memory) {
        out->depth = 0;
        return HYBRID_OK;
    }
    out->products = hy_grain_products(p, out);
    HY_TRY(hy_layout_try(p, out));
    if (out->depth > 0)
        hy_layout_keep(p->product, out);
    return HYBRID_OK;
}

/* Of panels that leave more and more to A, until all of it stays, the best. */
static hybrid_status cut_ring(const hy_planning *p, hy_layout *out)
{
    int all        = 0;
    double least_s = INFINITY;

    for (size_t part = hy_allowed(p->product->rates.memory, HY_ALLOW); !all; part /= 2) {
        const hy_image panels = hy_column_blocks_within(p->product, part);
        hy_layout other;
        if (panels.axis == HY_AXIS_NONE)
            break;
        HY_TRY(try(p, panels, &other));
        if (other.depth == 0)
            continue;
        const double s = hy_schedule_layout_s(p, &other);
        all            = hy_layout_keeps_all(&other);
        if (s >= least_s) {
            hy_layout_free(p->product, &other);
            continue;
        }
        hy_layout_free(p->product, out);
        *out    = other;
        least_s = s;
    }
    return HYBRID_OK;
}

static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    *out = (hy_layout){.depth = 0};
    if (hy_product_fits(p->product)) {
        HY_TRY(try(p, best(p), out));
        if (hy_layout_keeps_all(out))
            return HYBRID_OK;
        hy_layout_free(p->product, out);
    }
    return cut_ring(p, out);
}

const hy_schedule hy_schedule_column_ring = {
    .name = "ring of columns", .refuse = hy_refuse_ring, .promise = promise, .cut = cut};
