/* pipeline/run.h - one product on one or two sites. */
#ifndef HY_RUN_H
#define HY_RUN_H

#include "pipeline/queue.h"
#include "pipeline/site.h"

/* Who takes part. `host` is NULL, and `sharing` with it, where `device` is alone; the host
   alone is the `device` that computes in place. */
typedef struct hy_sites {
    hy_site *device, *host;
    const hy_sharing *sharing;
} hy_sites;

/* Walk all chunks of the list, which are those that the sites were made for, through all
   stages. The result goes to `sink`, which is finished, or aborted after a failure.
   Events go to `trace` (may be NULL); times and bytes are added to
   `report`. */
hybrid_status hy_run_product(const hy_sites *sites, const hy_chunk_list *list,
                             hy_problem *problem, hy_sink *sink, hybrid_trace_fn trace,
                             void *user, hybrid_report *report);

#endif /* HY_RUN_H */
