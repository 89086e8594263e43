/* tests/support/engines/either.h - engines that compute on the host or on a fake device,
   as the test chooses. */
#ifndef EITHER_H
#define EITHER_H

#include "base/contract/variant.h"

/* The variants of fake-device engines of either_open(): one SpGEMM and one SpMM variant
   for the device, and one of each for the host, which may take rows. NULL ends the list.
   Engines on the host have all variants of the library. */
extern const hy_variant *const either_variants[];

/* Creates an engine with two workers and, if on_host is 0, a fake device without delays.
   `device_bytes` caps the device's memory; 0: the device's default. A failure aborts the
   test. */
hybrid_engine *either_open(int on_host, size_t device_bytes);

#endif /* EITHER_H */
