/* engine/schedules/schedule_gather.c - chunks bring the rows of B or X that they touch.

   How many these are nobody knows before A was looked at: some ranges of its rows, as
   long as a chunk may be, tell, and are scaled by entries of A. */
#include "engine/schedules/schedule.h"
#include "engine/rates/traffic.h"

static hy_layout asked_for(const hy_product *product, int slots)
{
    return (hy_layout){
        .image = hy_product_image(product), .gathered = 1, .depth = slots, .share = 1};
}

/* If chunks bring so many rows, with so many entries of B. */
static hy_estimate bring(const hy_planning *p, hy_touch touch)
{
    const hy_layout asked = asked_for(p->product, hy_slots_fewer(p->product));
    hy_product product    = *p->product;
    hy_planning with      = *p;

    with.product                         = &product;
    product.profile.features.gather_rows = touch.rows;
    product.profile.features.gather_nnz  = touch.nnz;
    return hy_schedule_even(&with, &asked);
}

/* Of a B or X that fits chunks together bring all: what nobody touches the reduced A
   leaves out (reduce.h). Of another they bring what a look at A will tell. */
static hy_estimate promise(const hy_planning *p)
{
    const hy_product *product = p->product;

    return bring(p, hy_product_fits(product)
                        ? (hy_touch){.rows = product->b_rows, .nnz = product->b_nnz}
                        : (hy_touch){.rows = 0});
}

static hybrid_status cost(const hy_planning *p, hy_estimate *out)
{
    const hy_layout asked = asked_for(p->product, hy_slots_fewer(p->product));
    hy_touch touch;

    HY_TRY(hy_traffic_sample(p, &asked, &touch));
    *out = bring(p, touch);
    return HYBRID_OK;
}

/* Fewer slots where the longest row needs room: with one nothing overlaps. */
static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    const int slots         = hy_slots_fewer(p->product);
    const hy_layout asked[] = {asked_for(p->product, slots),
                               asked_for(p->product, (slots + 1) / 2),
                               asked_for(p->product, 1)};

    return hy_schedule_first(p, asked, sizeof asked / sizeof *asked, out);
}

static const char *refuse(const hy_product *product)
{
    return product->a_there || product->second_there ? "workers cannot read device memory"
                                                     : NULL;
}

const hy_schedule hy_schedule_gather = {
    .name = "gather", .refuse = refuse, .promise = promise, .cost = cost, .cut = cut};
