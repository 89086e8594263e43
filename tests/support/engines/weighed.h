/* tests/support/engines/weighed.h - engines for which a fake device competes with the
   host. */
#ifndef WEIGHED_H
#define WEIGHED_H

#include "engine/api/engine.h"

/* Gives the host fixed caches and rates, so that estimates do not depend on the machine.
   The host is so slow that a device on which X fits is faster. */
void weighed_settle(hy_backend *host);

/* Creates an engine with the host and a fake device of `device_bytes` bytes. Launches on
   the device cost next to nothing. */
hybrid_engine *weighed_open(size_t device_bytes);

#endif /* WEIGHED_H */
