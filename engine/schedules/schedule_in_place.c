/* engine/schedules/schedule_in_place.c - the host computes, and reads operands in place.

   An engine with a device uses this schedule if the caller leaves the choice open
   (product->host_s is finite) and B or X does not fit the device; where it fits, weigh.h
   has decided before. If A is banded, the host finds rows of X in its caches. With X and
   Y in columns the host takes twice as long, and an X that can pass through the device in
   a ring of rows is left to the device. */
#include <math.h>

#include "base/data/csr.h"
#include "base/threads/topology.h"
#include "engine/schedules/schedule.h"

enum {
    NEAR = 4 /* rows of X that neighbouring rows of A share may take 1 / NEAR of the
                last-level cache */
};

/* Returns an estimate whose time is that by which the host's variant was ranked (host_s),
   or twice that if X and Y are column-major. */
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

/* Returns the mean number of columns between the first and the last of a block of rows of
   A. */
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
