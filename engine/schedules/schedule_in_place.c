/* engine/schedules/schedule_in_place.c - the host computes, and reads operands in place.

   An engine with a device uses this schedule if the caller leaves the choice open and the
   host is predicted to be faster than the device. If X fits the device, workers copy X
   and Y once each, and the device reads rows of X from its own memory. Few hosts read
   rows of X as fast. But the device also needs A, and with few columns of X, A is most of
   the bytes sent. If X does not fit, workers do more for the device, or in smaller
   pieces; if A is banded, the host finds rows of X in its caches.

   Times in ms on 16 cores and an H200, with operands in host memory. 128 MiB is a limit
   on device memory:

        product                                       device      host
        stencil27:80, 16 columns                         3.9       1.6
        stencil27:80, 128 columns                        9.4   8 to 11
        Erdos-Renyi, 128 columns, 128 MiB, blocks   85 to 97  33 to 49
        fem3:36, 128 columns, 128 MiB, row ring   4.1 to 4.5  2.8 to 3

   With column-major X and Y the host takes twice as long. Such a product runs on a device
   if X fits the device or can pass through it in a ring of rows. */
#include <math.h>

#include "base/data/csr.h"
#include "base/threads/topology.h"
#include "engine/schedules/schedule.h"

enum {
    NEAR = 4 /* A counts as banded if the rows of X that a block of its rows spans take at
                most 1 / NEAR of the last-level cache */
};

/* Returns an estimate with the time of the host's variant, or twice that time if X and Y
   are column-major. */
static hy_estimate far(const hy_planning *p)
{
    const double times = hy_product_in_columns(p->product) ? 2 : 1;

    return (hy_estimate){.call_s = times * p->host_s, .chunks = 1};
}

static hy_estimate near(const hy_product *product)
{
    hy_rates host;

    hy_rates_of(product->engine->host, &host);
    return hy_estimate_near(product, &host);
}

static hy_estimate promise(const hy_planning *p)
{
    const hy_portion *portion = p->portion;
    const hy_product *product = portion->product;
    const int in_columns      = hy_product_in_columns(product);
    const int fits            = hy_portion_fits(portion);
    const int sparse          = product->op == HY_SPGEMM;

    if (isinf(p->host_s) || (fits && in_columns) ||
        ((fits || sparse) && hy_settings_of(product->engine)->device_first))
        return (hy_estimate){.chunks = 0};
    if (sparse)
        return far(p);
    const hy_estimate one = near(product), other = far(p);
    return !fits && !in_columns && hy_product_has_views(product) &&
                   hy_estimate_seconds(portion, &one) < p->host_s
               ? one
               : other;
}

/* Returns the mean number of columns from the first to the last column of a block of rows
   of A. */
static double mean_span(const hy_extents *extents)
{
    double sum = 0;

    for (int64_t i = 0; i < extents->count; i++)
        sum += fmax(0, (double)extents->blocks[i].end - (double)extents->blocks[i].first);
    return sum / (double)extents->count;
}

static int is_near(const hy_planning *p)
{
    const hy_portion *portion = p->portion;
    const hy_product *product = portion->product;
    const hy_topology *cpu    = hy_pool_topology(product->engine->ctx.pool);
    const double row =
        (double)product->b_cols * (double)hy_value_size(portion->profile.type);

    return p->extents->blocks && hy_product_has_views(product) &&
           NEAR * mean_span(p->extents) * row <= (double)hy_topology_llc_bytes(cpu);
}

static hybrid_status cost(const hy_planning *p, hy_estimate *out)
{
    if (hy_portion_fits(p->portion) || p->product->op == HY_SPGEMM) {
        *out = promise(p);
        return HYBRID_OK;
    }
    HY_TRY(hy_schedule_scan(p));
    if (hy_product_in_columns(p->product) && hy_product_has_views(p->product) &&
        p->extents->blocks)
        *out = (hy_estimate){.chunks = 0};
    else
        *out = is_near(p) ? near(p->product) : far(p);
    return HYBRID_OK;
}

static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    const int slots         = hy_slots_fewer(p);
    const hy_layout asked[] = {{.depth = slots, .share = 1}, {.depth = 1, .share = 1}};

    return hy_schedule_first(p, asked, sizeof asked / sizeof *asked, out);
}

const hy_schedule hy_schedule_in_place = {.name    = "in place",
                                          .values  = HY_WITH_IN_PLACE,
                                          .promise = promise,
                                          .cost    = cost,
                                          .cut     = cut};
