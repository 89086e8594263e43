/* pipeline/run/run.h - one product on one or more sites. */
#ifndef HY_RUN_H
#define HY_RUN_H

#include "pipeline/run/queue.h"
#include "pipeline/site/site.h"
#include "pipeline/run/trace.h"

/* Who takes part. The host, if it does beside devices, is the last. */
typedef struct hy_sites {
    hy_side of[HY_MOST_SITES]; /* each as it is given to hy_queue_add(), without depth */
    int count;
} hy_sites;

/* Walk all chunks through all stages: if the sink is in order, those of all rows, each up
   to a boundary of the site that claims it; else each site's own, as far as others do not
   take them. The result goes to `sink`, which is finished, or aborted after a failure.
   Events go to `listener`; times and bytes are added to `report`. */
hybrid_status hy_run_product(const hy_sites *sites, const hy_problem *problem,
                             hy_sink *sink, const hy_listener *listener,
                             hybrid_report *report);

#endif /* HY_RUN_H */
