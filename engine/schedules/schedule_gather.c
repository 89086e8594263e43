/* engine/schedules/schedule_gather.c - chunks bring the rows of B or X that they touch.

   cost() estimates how many rows all chunks bring: it inspects some ranges of rows of A,
   as long as a chunk may be, and scales the result up in proportion to the entries of
   A. */
#include "engine/schedules/schedule.h"
#include "engine/rates/traffic.h"

static hy_layout asked_for(const hy_portion *portion, int slots)
{
    hy_layout asked = {.image = hy_portion_image(portion), .depth = slots, .share = 1};

    asked.image.axis = HY_AXIS_GATHERED;
    return asked;
}

/* Returns the estimate of a run in which all chunks together bring touch.rows rows of B
   or X with touch.nnz entries. */
static hy_estimate bring(const hy_planning *p, hy_touch touch)
{
    const hy_layout asked = asked_for(p->portion, hy_slots_fewer(p->portion));
    hy_planning with      = *p;

    with.features.gather_rows = touch.rows;
    with.features.gather_nnz  = touch.nnz;
    return hy_schedule_even(&with, &asked);
}

/* If B or X fits the device, the chunks together are assumed to bring all of it, since
   the reduced A leaves out rows of B or X that no entry touches (reduce.h). Otherwise
   promise() assumes that they bring no row, and cost() finds out. */
static hy_estimate promise(const hy_planning *p)
{
    const hy_portion *portion = p->portion;
    const hy_product *product = portion->product;

    return bring(p, hy_portion_fits(portion)
                        ? (hy_touch){.rows = product->b_rows, .nnz = product->b_nnz}
                        : (hy_touch){.rows = 0});
}

static hybrid_status cost(const hy_planning *p, hy_estimate *out)
{
    const hy_layout asked = asked_for(p->portion, hy_slots_fewer(p->portion));
    hy_touch touch;

    HY_TRY(hy_traffic_sample(p, &asked, &touch));
    *out = bring(p, touch);
    return HYBRID_OK;
}

/* Tries fewer slots if the longest row of A does not fit a slot. With one slot, copies
   and kernels do not overlap. */
static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    const int slots         = hy_slots_fewer(p->portion);
    const hy_layout asked[] = {asked_for(p->portion, slots),
                               asked_for(p->portion, (slots + 1) / 2),
                               asked_for(p->portion, 1)};

    return hy_schedule_first(p, asked, sizeof asked / sizeof *asked, out);
}

/* The rows that a chunk gathers may fit although all of B or X does not, so cut() serves
   as cut_least(), too. */
const hy_schedule hy_schedule_gather = {.name        = "gather",
                                        .values      = HY_WITH_COPIES | HY_WITH_GATHER,
                                        .promise     = promise,
                                        .cost        = cost,
                                        .cost_counts = 1,
                                        .cut         = cut,
                                        .cut_least   = cut};
