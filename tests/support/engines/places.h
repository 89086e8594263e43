/* tests/support/engines/places.h - engines on the host and on a fake device. */
#ifndef PLACES_H
#define PLACES_H

#include "hybrid_spmm.h"

/* CARRIED: on the device, by a variant that brings all it needs of B. */
typedef enum place { ON_HOST, ON_DEVICE, CARRIED, PLACES } place;

/* Two workers; the device's work takes random time. Failures abort the test. */
hybrid_engine *place_open(place where, size_t device_bytes);

/* Of a run, if there was one, it is to agree with itself (usage.h). */
hybrid_report report_of(const hybrid_plan *plan);

#endif /* PLACES_H */
