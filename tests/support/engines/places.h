/* tests/support/engines/places.h - engines on the host or on a fake device. */
#ifndef PLACES_H
#define PLACES_H

#include "hybrid_spmm.h"

/* Who computes, and where B is. ON_HOST: the host. ON_DEVICE: a fake device, on which B
   lies. CARRIED: a fake device with variants whose packs contain all rows of B that a
   chunk needs. */
typedef enum place { ON_HOST, ON_DEVICE, CARRIED, PLACES } place;

/* Creates an engine with two workers. Work of the fake device takes random time.
   `device_bytes` caps device memory; 0: no cap. A failure aborts the test. */
hybrid_engine *place_open(place where, size_t device_bytes);

/* Returns the report of a plan. After a run, usage_check() (usage.h) must find it
   consistent. */
hybrid_report report_of(const hybrid_plan *plan);

#endif /* PLACES_H */
