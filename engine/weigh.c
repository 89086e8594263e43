/* engine/weigh.c - whether the host computes instead of a device that X does not fit.

   X and Y of an SpMM are in host memory. Where X is on the device, or passes through it
   in a window, workers copy each of both once, and the device gathers: few hosts gather
   as fast as that. Where neither is possible, workers do more for the device:

       panels     parts of rows of Y are stored here and there, parts of rows of X read so
       gathered   a row of X is copied for each chunk that touches it

   All of that is bound by host memory, and so is the host's own product, which reads rows
   of X as its cost model says and writes Y once. So both are weighed by what they ask of
   that memory, the device in shares of its speed that were measured
   (docs/performance.md): on 16 cores whose memory copies 80e9 bytes a second, 128 columns
   of Erdos-Renyi take it 97 ms under 128 MiB, in panels of half lines, and the host 33
   to 49. */
#include "engine/weigh.h"

#include <math.h>

#include "base/csr.h"
#include "engine/panels.h"
#include "engine/plan.h"
#include "engine/rates.h"

/* Bytes a second over those that a copy in memory reads and writes. */
static const double STORED[] = {0.066, 0.12, 0.27}; /* of Y by panels of half a line, of
                                                     one, and of more */
static const double GATHERED = 0.3;                 /* of rows of X with chunks */

static const double WORTH = 0.8; /* of the device's time: less is worth it */

static hy_rates host_rates(const hybrid_plan *plan)
{
    hy_rates rates;

    hy_rates_of(plan->engine->host, &rates);
    return rates;
}

static double dense_bytes(const hybrid_plan *plan, int64_t rows)
{
    return (double)rows * (double)plan->b_cols *
           (double)hy_value_size(plan->profile.type);
}

/* ---- the host -----------------------------------------------------------------------
 */

/* The caller has neither named who computes nor asked for an A that stays. */
static int may_choose(const hybrid_plan *plan, const hybrid_plan_options *o)
{
    return plan->op == HY_SPMM && plan->candidates[0].backend->ops->copy &&
           !(o->flags & HYBRID_RESIDENT) &&
           (o->split == HYBRID_SPLIT_DEFAULT || o->split == HYBRID_SPLIT_AUTO);
}

double hy_weigh_host(const hybrid_plan *plan, const hybrid_plan_options *o)
{
    const int host = hy_plan_first_host(plan);

    if (host == plan->candidate_count || plan->candidates[host].refused ||
        !may_choose(plan, o))
        return INFINITY;
    return plan->candidates[host].predicted_s;
}

/* ---- the device ---------------------------------------------------------------------
 */

static double storing_s(const hybrid_plan *plan, const hy_panels *panels)
{
    const int64_t row  = panels->cols * (int64_t)hy_value_size(plan->profile.type);
    const double share = STORED[(row >= HY_LINE) + (row >= 2 * HY_LINE)];

    return dense_bytes(plan, plan->profile.features.rows) /
           (share * host_rates(plan).mem_Bps);
}

/* In its layout; 0: X fits, or passes through. */
static double device_s(const hybrid_plan *plan)
{
    const hy_layout *layout = &plan->layout;
    const double up         = (double)hy_traffic_dense_up(plan, layout);
    const double bus_s      = up / plan->rates.h2d_Bps;

    if (dense_bytes(plan, plan->b_rows) <= (double)plan->rates.memory / 2)
        return 0;
    if (layout->panels.cols > 0)
        return fmax(bus_s, storing_s(plan, &layout->panels));
    if (layout->gathered)
        return fmax(bus_s, up / (GATHERED * host_rates(plan).mem_Bps));
    return 0;
}

/* ---- whether ------------------------------------------------------------------------
 */

int hy_weigh(hybrid_plan *plan, double host_s)
{
    if (isinf(host_s) || !plan->candidates[plan->chosen].backend->ops->copy)
        return 0;
    const double s = device_s(plan);

    plan->spared_s = host_s <= WORTH * s ? s : 0;
    return plan->spared_s > 0;
}
