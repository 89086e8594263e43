/* tests/support/engines/either.h - engines that compute with the same variants on the
   host or on a fake device. */
#ifndef EITHER_H
#define EITHER_H

#include "base/contract/variant.h"

/* The variants of these engines: for each backend one for SpGEMM and one for SpMM. NULL
   ends the list. */
extern const hy_variant *const either_variants[];

/* Creates an engine with two workers. Without on_host it has a fake device without
   delays. `device_bytes` is as in hybrid_engine_options. A failure aborts the test. */
hybrid_engine *either_open(int on_host, size_t device_bytes);

#endif /* EITHER_H */
