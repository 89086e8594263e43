/* engine/schedules/schedule_in_place.c - the host computes, and reads operands where they
   are.

   In place of a device it is had if nobody said who computes (product->host_s is finite),
   and if B or X does not fit there: one that fits was weighed before (weigh.h). Where A
   is banded the host finds rows of X in its caches; with X and Y in columns it takes
   twice as long, and an X that passes through a device in a ring of rows is left to that.
 */
#include <math.h>

#include "base/data/csr.h"
#include "base/threads/topology.h"
#include "engine/schedules/schedule.h"

enum { NEAR = 4 /* of the last-level cache: rows near each other may take one part */ };

/* The estimate by which the host's variant was ranked is a time. */
static hy_estimate far(const hy_product *product)
{
    const double times = hy_product_in_columns(product) ? 2 : 1;

    return (hy_estimate){.call_s = times * product->host_s, .chunks = 1};
}

static hy_estimate near(const hy_product *product)
{
    hy_rates host;

    hy_rates_of(product->engine->host, &host);
    return hy_estimate_near(product, &host);
}

static hy_estimate promise(const hy_planning *p)
{
    const hy_product *product = p->product;

    if (isinf(product->host_s) || hy_product_fits(product) ||
        !hy_product_has_views(product))
        return (hy_estimate){.chunks = 0};
    const hy_estimate one = near(product), other = far(product);
    return !hy_product_in_columns(product) &&
                   hy_estimate_seconds(p->product, &one) < product->host_s
               ? one
               : other;
}

/* Columns between the first and the last of a block of rows of A, on average. */
static double mean_span(const hy_extents *extents)
{
    double sum = 0;

    for (int64_t i = 0; i < extents->count; i++)
        sum += fmax(0, (double)extents->blocks[i].end - (double)extents->blocks[i].first);
    return sum / (double)extents->count;
}

static int is_near(const hy_planning *p)
{
    const hy_product *product = p->product;
    const hy_topology *cpu    = hy_pool_topology(product->engine->ctx.pool);
    const double row =
        (double)product->b_cols * (double)hy_value_size(product->profile.type);

    return p->extents->blocks &&
           NEAR * mean_span(p->extents) * row <= (double)hy_topology_llc_bytes(cpu);
}

static hybrid_status cost(const hy_planning *p, hy_estimate *out)
{
    HY_TRY(hy_schedule_look(p));
    if (hy_product_in_columns(p->product) && p->extents->blocks)
        *out = (hy_estimate){.chunks = 0};
    else
        *out = is_near(p) ? near(p->product) : far(p->product);
    return HYBRID_OK;
}

static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    const int slots         = hy_slots_fewer(p->product);
    const hy_layout asked[] = {{.depth = slots, .share = 1}, {.depth = 1, .share = 1}};

    return hy_schedule_first(p, asked, sizeof asked / sizeof *asked, out);
}

const hy_schedule hy_schedule_in_place = {
    .name = "in place", .promise = promise, .cost = cost, .cut = cut};
