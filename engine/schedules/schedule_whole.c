/* engine/schedules/schedule_whole.c - all of B or X is on the device as an image.

   With HYBRID_RESIDENT, B or X may take more of the budget. The slots then take a fourth
   of the rest, and cached packs of A take what remains. */
#include "engine/plan/column_blocks.h"
#include "engine/schedules/schedule.h"

static hy_estimate promise(const hy_planning *p)
{
    const hy_layout asked = {
        .image = hy_portion_image(p->portion), .depth = hy_slots(p->portion), .share = 1};

    return hy_portion_fits(p->portion) ? hy_schedule_even(p, &asked)
                                       : (hy_estimate){.chunks = 0};
}

/* Completes a layout in which all of B or X is on the device: adds column blocks for runs
   with pinned X and Y if such runs would be faster. Without column blocks, chooses which
   packs of a resident A are cached. */
static void complete(const hy_portion *portion, hy_layout *layout)
{
    const hy_product *product = portion->product;

    if (product->options.split != HYBRID_SPLIT_AUTO &&
        product->options.split != HYBRID_SPLIT_SHARE && hy_product_has_views(product) &&
        !hy_product_device(product))
        hy_column_blocks_offer(portion, layout);
    if (product->options.flags & HYBRID_RESIDENT &&
        layout->if_pinned.axis == HY_AXIS_NONE)
        hy_layout_cache(portion, layout);
}

static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    const hy_portion *portion = p->portion;
    const hy_image image      = hy_portion_image(portion);
    const int resident        = (portion->product->options.flags & HYBRID_RESIDENT) != 0;
    const int slots = hy_slots(portion), fewer = hy_slots_fewer(portion);
    const hy_layout asked[] = {
        {.image = image, .depth = resident ? slots : 0, .share = HY_RESIDENT_SHARE},
        {.image = image, .depth = slots, .share = 1},
        {.image = image, .depth = fewer, .share = 1}};

    HY_TRY(hy_schedule_first(p, asked, sizeof asked / sizeof *asked, out));
    complete(portion, out);
    return HYBRID_OK;
}

const hy_schedule hy_schedule_whole = {
    .name = "whole", .values = HY_WITH_COPIES, .promise = promise, .cut = cut};
