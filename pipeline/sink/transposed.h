/* pipeline/sink/transposed.h - stores a column-major Y that the device transposes.

   Kernels write rows. The device transposes some rows of a chunk's result at a time into
   the room of the site (pipeline/load/room.h). It copies the columns from there to pinned
   memory, or directly to Y if that is pinned and nothing is added or scaled. Without a
   room, workers transpose (partition/move/dense_rows.c). */
#ifndef HY_TRANSPOSED_H
#define HY_TRANSPOSED_H

#include "pipeline/site/site.h"

/* Called before a run on the site. Decides whether the device transposes the results for
   the sink. If so, allocates the device memory for it, which later runs use again. */
hybrid_status hy_transposed_begin(hy_site *site, const hy_problem *problem,
                                  const hy_sink *sink);

/* hy_transposed_is() returns 1 if the device transposes the chunk's result.
   hy_transposed_back() enqueues the transposition and the copies to host memory. */
int hy_transposed_is(const hy_slot *slot);
hybrid_status hy_transposed_back(hy_slot *slot, hy_lane *lane);

#endif /* HY_TRANSPOSED_H */
