/* tests/support/products/sharing.h - a fake device and the host, for one product
   together. */
#ifndef SHARING_H
#define SHARING_H

#include "support/engines/places.h"

/* Of the device's variants: B or X stays there; or chunks bring what they need of B, and X
   is in columns. */
typedef enum sharing_how { RESIDENT_B, CARRIED_B } sharing_how;

/* Three workers; 0 is no cap. Failures abort the test. */
hybrid_engine *sharing_open(sharing_how how, size_t device_bytes, size_t host_bytes);

/* The host is to take that share. */
hybrid_plan_options shared_by(double share);

#endif /* SHARING_H */
