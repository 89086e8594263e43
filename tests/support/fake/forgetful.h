/* tests/support/fake/forgetful.h - memory that is unpinned while a product runs. */
#ifndef FORGETFUL_H
#define FORGETFUL_H

#include "engine/api/engine.h"

/* From now on the engine's device says of all memory that somebody pinned it, but of
   these bytes only the first `times` that it is asked. One engine at a time. */
void forgetful_begin(hybrid_engine *engine, const void *ptr, size_t bytes, int64_t times);

/* The device is as it was. Returns how often it was asked about the bytes. */
int64_t forgetful_end(hybrid_engine *engine);

#endif /* FORGETFUL_H */
