/* tests/support/engines/weighed.h - engines that weigh a fake device against the host. */
#ifndef WEIGHED_H
#define WEIGHED_H

#include "engine/api/engine.h"

/* Estimates of the host are those of one, whatever caches and speed the machine has: slow
   enough for a device that X fits. */
void weighed_settle(hy_backend *host);

/* A fake device of so many bytes, whose launches cost next to nothing, and the host. */
hybrid_engine *weighed_open(size_t device_bytes);

#endif /* WEIGHED_H */
