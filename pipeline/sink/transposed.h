/* pipeline/sink/transposed.h - Y in columns, which the device turns.

   Kernels write rows. The device turns n rows of a chunk's result at a time into the room
   of the site (room.h), and copies them from there to pinned memory, where the chunk lies
   in columns in the end, or to Y if it is pinned and takes them as they are. Without a
   room workers turn (partition/move/dense_rows.c). */
#ifndef HY_TRANSPOSED_H
#define HY_TRANSPOSED_H

#include "pipeline/site/site.h"

/* Before a run on the site: whether what goes to the sink is turned by the device, and the
   room for that, which stays. */
hybrid_status hy_transposed_begin(hy_site *site, const hy_problem *problem,
                              const hy_sink *sink);

/* Whether the chunk's result goes to Y so, and its way. */
int hy_transposed_is(const hy_slot *slot);
hybrid_status hy_transposed_back(hy_slot *slot, hy_lane *lane);

#endif /* HY_TRANSPOSED_H */
