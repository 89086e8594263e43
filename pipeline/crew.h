/* pipeline/crew.h - the host helps a device with one product.

   Its slots and lanes are a pipeline of its own, the crew; the deck is the device's, and
   so is the driver, which takes chunks through their stages whosever they are. */
#ifndef HY_CREW_H
#define HY_CREW_H

#include "pipeline/run.h"

/* Let `crew`, which computes in place, take part in runs from now on; NULL: nobody. Crew
   and `sharing` are borrowed: a crew is closed by who opened it, before the pipeline. */
void hy_pipeline_share(hy_pipeline *pipeline, hy_pipeline *crew,
                       const hy_sharing *sharing);

/* Whether the pipeline or its crew is at work on a chunk. */
int hy_crew_in_flight(const hy_pipeline *pipeline);

/* The chunk that the pipeline, or the crew if it is one, computes next: to slot->chunk.
   0: none, or not now. Called by the driver whenever something has ended. */
int hy_crew_take(hy_pipeline *pipeline, hy_slot *slot);

#endif /* HY_CREW_H */
