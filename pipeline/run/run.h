/* pipeline/run/run.h - one product on one or more sites.

   hy_run_product() takes these steps on the calling thread:

     wake    sites allocate the device memory again that they gave back while idle
     begin   the queue gets the sites, and loaders begin to send B or X
     drive   sites claim chunks, which pass through their stages (driver.h)
     end     loaders finish; after a failure the lanes of all sites are drained
     rest    sites are idle again: plans that need device memory may take theirs
     close   the sink is finished, or aborted after a failure

   The first error stops the run: no further chunk begins, and the error is returned after
   all steps that follow. A call can be cancelled until the sink is finished, because only
   then the result is handed out. */
#ifndef HY_RUN_H
#define HY_RUN_H

#include "pipeline/run/queue.h"
#include "pipeline/site/site.h"
#include "pipeline/run/trace.h"

/* The sites of a run. The caller sets each site's part in the run (site.h). If the host
   helps devices, it is the last site. */
typedef struct hy_sites {
    hy_site *of[HY_MAX_SITES];
    int count;
} hy_sites;

/* Takes all chunks through all stages. The result goes to `sink`, which is finished, or
   aborted after a failure. Events go to `listener`; times and bytes are added to
   `report`.

   If the sink takes parts in order of rows, as for a C whose offsets are unknown, sites
   claim the next rows in turn, and each chunk ends at a boundary of the cut of the site
   that claims it. Otherwise each site computes the chunks of its own rows, except for
   rows that other sites take. */
hybrid_status hy_run_product(const hy_sites *sites, const hy_problem *problem,
                             hy_sink *sink, const hy_listener *listener,
                             hybrid_report *report);

#endif /* HY_RUN_H */
