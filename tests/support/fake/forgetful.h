/* tests/support/fake/forgetful.h - memory that another thread seems to unpin during a
   product. */
#ifndef FORGETFUL_H
#define FORGETFUL_H

#include "engine/api/engine.h"

/* From now on the engine's device reports all memory as pinned. The exception are the
   `bytes` bytes at `ptr`, which it reports as pinned only the first `times` times that it
   is asked. Only one engine at a time can have such a device. */
void forgetful_begin(hybrid_engine *engine, const void *ptr, size_t bytes, int64_t times);

/* Restores the device. Returns how often it was asked about the bytes. */
int64_t forgetful_end(hybrid_engine *engine);

#endif /* FORGETFUL_H */
