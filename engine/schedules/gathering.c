/* engine/schedules/gathering.c - functions of the schedules whose chunks bring the rows
   of B or X that they touch.

   cost() estimates how many rows all chunks bring: it inspects some ranges of rows of A,
   as long as a chunk may be, and scales the result up in proportion to the entries of A.
   hy_planning.touch keeps the result for other schedules. */
#include "engine/schedules/gathering.h"

#include "engine/schedules/touch_samples.h"

static hy_layout asked_for(const hy_portion *portion, hy_axis axis, int slots)
{
    hy_layout asked = {.image = hy_portion_image(portion), .depth = slots, .share = 1};

    asked.image.axis = axis;
    return asked;
}

/* Returns the estimate of a run in which all chunks together bring touch.rows rows of B
   or X with touch.nnz entries. */
static hy_estimate bring(const hy_planning *p, hy_axis axis, hy_touch touch)
{
    const hy_layout asked = asked_for(p->portion, axis, hy_slots_fewer(p));
    hy_planning with      = *p;

    with.features.gather_rows = touch.rows;
    with.features.gather_nnz  = touch.nnz;
    return hy_schedule_even(&with, &asked);
}

/* If B or X fits the device, the chunks together are assumed to bring all of it, since
   the reduced A leaves out rows of B or X that no entry touches (reduce.h). Otherwise
   promise() assumes that they bring no row, and cost() finds out. */
hy_estimate hy_gathering_promise(const hy_planning *p, hy_axis axis)
{
    const hy_portion *portion = p->portion;
    const hy_product *product = portion->product;

    return bring(p, axis,
                 hy_portion_fits(portion)
                     ? (hy_touch){.rows = product->b_rows, .nnz = product->b_nnz}
                     : (hy_touch){.rows = 0});
}

hybrid_status hy_gathering_cost(const hy_planning *p, hy_axis axis, hy_estimate *out)
{
    const hy_layout asked = asked_for(p->portion, axis, hy_slots_fewer(p));

    if (p->touch->rows < 0)
        HY_TRY(hy_touch_estimate(p, &asked, p->touch));
    *out = bring(p, axis, *p->touch);
    return HYBRID_OK;
}

/* Tries fewer slots if the longest row of A does not fit a slot. With one slot, copies
   and kernels do not overlap. */
hybrid_status hy_gathering_cut(const hy_planning *p, hy_axis axis, hy_layout *out)
{
    const int slots         = hy_slots_fewer(p);
    const hy_layout asked[] = {asked_for(p->portion, axis, slots),
                               asked_for(p->portion, axis, (slots + 1) / 2),
                               asked_for(p->portion, axis, 1)};

    return hy_schedule_first(p, asked, sizeof asked / sizeof *asked, out);
}
