/* engine/schedules/schedule_gather.c - chunks bring the rows of B or X that they touch.
   Workers copy these rows to the pack of the chunk. */
#include "engine/schedules/gathering.h"

static hy_estimate promise(const hy_planning *p)
{
    return hy_gathering_promise(p, HY_AXIS_GATHERED);
}

static hybrid_status cost(const hy_planning *p, hy_estimate *out)
{
    return hy_gathering_cost(p, HY_AXIS_GATHERED, out);
}

static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    return hy_gathering_cut(p, HY_AXIS_GATHERED, out);
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
