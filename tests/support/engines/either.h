/* tests/support/engines/either.h - engines that compute with the same variants on the
   host or on a fake device. */
#ifndef EITHER_H
#define EITHER_H

#include "base/contract/variant.h"

/* The variants of engines of either_open(): one SpGEMM and one SpMM variant for the host,
   and one of each for the fake device. NULL ends the list. */
extern const hy_variant *const either_variants[];

/* Creates an engine with two workers and, if on_host is 0, a fake device without delays.
   `device_bytes` caps the device's memory; 0: the device's default. A failure aborts the
   test. */
hybrid_engine *either_open(int on_host, size_t device_bytes);

#endif /* EITHER_H */
