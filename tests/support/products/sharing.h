/* tests/support/products/sharing.h - a fake device and the host that share a product. */
#ifndef SHARING_H
#define SHARING_H

#include "support/engines/places.h"

/* How the fake device gets B or X. RESIDENT_B: all of B or X is on the device.
   CARRIED_B: packs contain the rows of B that they need (for SpMM: variants that store X
   by columns). */
typedef enum sharing_how { RESIDENT_B, CARRIED_B } sharing_how;

/* Creates an engine with a fake device and the host, and three workers. `device_bytes`
   and `host_bytes` cap device and host memory; 0: no cap. A failure aborts the test. */
hybrid_engine *sharing_open(sharing_how how, size_t device_bytes, size_t host_bytes);

/* Returns options of a plan that gives the host `share`, 0 to 1, of the work. */
hybrid_plan_options shared_by(double share);

#endif /* SHARING_H */
