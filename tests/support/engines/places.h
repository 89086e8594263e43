/* tests/support/engines/places.h - engines on the host or on a fake device. */
#ifndef PLACES_H
#define PLACES_H

#include "hybrid_spmm.h"

/* Backend of an engine, and how it gets B. ON_HOST: the host computes. ON_DEVICE: a fake
   device computes, with B on the device. CARRIED: a fake device computes, and each
   chunk's pack contains all rows of B that the chunk needs. */
typedef enum place { ON_HOST, ON_DEVICE, CARRIED, PLACES } place;

/* Creates an engine with two workers. Work of the fake device takes random time.
   `device_bytes` caps device memory; 0: no cap. A failure aborts the test. */
hybrid_engine *place_open(place where, size_t device_bytes);

/* Returns the report of a plan. Fails the test if the plan has run and usage_check()
   (usage.h) finds the report inconsistent. */
hybrid_report report_of(const hybrid_plan *plan);

#endif /* PLACES_H */
