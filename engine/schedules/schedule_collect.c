/* engine/schedules/schedule_collect.c - chunks need rows of B that the device reads
   itself.

   Workers only list the rows that a chunk touches. A kernel reads their entries from
   pinned host memory, through the bus. Short rows use the bus less well than copies of
   packs do, but copying them would cost workers several cache misses for each row
   (docs/lab/planning-spgemm.md). The same access to host memory serves graph algorithms
   in Min et al., "EMOGI: Efficient Memory-access for Out-of-memory Graph-traversal in
   GPUs", VLDB 2021. */
#include "engine/schedules/gathering.h"

static int is_possible(const hy_planning *p)
{
    const hy_backend *backend = p->portion->backend;

    return backend->ops->collect && backend->reads_host;
}

/* Returns the axis of the estimates. A B that fits the device is not worth pinning: it is
   estimated as if workers gathered it, so that simpler schedules are preferred. */
static hy_axis axis_of(const hy_planning *p)
{
    return hy_portion_fits(p->portion) ? HY_AXIS_GATHERED : HY_AXIS_COLLECTED;
}

static hy_estimate promise(const hy_planning *p)
{
    return is_possible(p) ? hy_gathering_promise(p, axis_of(p))
                          : (hy_estimate){.chunks = 0};
}

static hybrid_status cost(const hy_planning *p, hy_estimate *out)
{
    return hy_gathering_cost(p, axis_of(p), out);
}

static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    *out = (hy_layout){.depth = 0};
    return is_possible(p) ? hy_gathering_cut(p, HY_AXIS_COLLECTED, out) : HYBRID_OK;
}

const hy_schedule hy_schedule_collect = {.name   = "collect",
                                         .values = HY_WITH_COPIES | HY_WITH_GATHER |
                                                   HY_WITH_COLLECT,
                                         .promise = promise,
                                         .cost    = cost,
                                         .cut     = cut};
