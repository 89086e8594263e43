/* tests/support/engines/either.h - engines that compute with the same variants on the
   host or on a fake device. */
#ifndef EITHER_H
#define EITHER_H

#include "base/contract/variant.h"

/* The variants: one of each product for either. */
extern const hy_variant *const either_variants[];

/* Two workers and a device whose work takes no time. device_bytes as in
   hybrid_engine_options. Failures abort the test. */
hybrid_engine *either_open(int on_host, size_t device_bytes);

#endif /* EITHER_H */
