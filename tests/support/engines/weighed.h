/* tests/support/engines/weighed.h - engines that choose the host or a fake device for each
   product, by estimates. */
#ifndef WEIGHED_H
#define WEIGHED_H

#include "engine/api/engine.h"

/* Gives the host fixed cache sizes and rates, so that estimates do not depend on the
   machine. The rate of its flops is low enough that a device is faster if all of X fits
   into its memory. */
void weighed_settle(hy_backend *host);

/* Creates an engine with the host and a fake device with `device_bytes` bytes of memory.
   Estimates decide between them; a kernel launch on the device costs next to nothing. */
hybrid_engine *weighed_open(size_t device_bytes);

#endif /* WEIGHED_H */
