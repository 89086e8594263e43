/* tests/support/products/sharing.h - a fake device and the host that share a product. */
#ifndef SHARING_H
#define SHARING_H

#include "support/engines/places.h"

/* How the device's variants get B or X. RESIDENT_B: B or X is on the device. CARRIED_B:
   chunks contain the rows of B that they need, and X is stored by columns. */
typedef enum sharing_how { RESIDENT_B, CARRIED_B } sharing_how;

/* Creates an engine with three workers and caps on memory; 0: no cap. A failure aborts
   the test. */
hybrid_engine *sharing_open(sharing_how how, size_t device_bytes, size_t host_bytes);

/* Returns options of a plan that gives the host `share` of the work. */
hybrid_plan_options shared_by(double share);

#endif /* SHARING_H */
