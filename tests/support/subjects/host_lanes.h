/* tests/support/subjects/host_lanes.h - lanes of the host. Failures abort the test. */
#ifndef HOST_LANES_H
#define HOST_LANES_H

#include "host/backend/host_lane.h"

extern hy_backend *host;

/* Makes the context `ctx` (group.h) with this many workers, and the backend `host`.
   close_host_lanes() frees both. */
void open_host_lanes(int threads);
void close_host_lanes(void);

hy_lane *new_lane(void);
hy_mark *new_mark(void);

/* Waits until the lane has done its work, and checks its status. */
void finish_lane(hy_lane *lane, hybrid_status expected);

/* Queues fn(number) behind all earlier work of the lane. */
void give_work(hy_lane *lane, hy_host_fn fn, int number);

#endif /* HOST_LANES_H */
