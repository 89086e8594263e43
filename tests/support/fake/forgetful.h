/* tests/support/fake/forgetful.h - memory that another thread seems to unpin during a
   product. */
#ifndef FORGETFUL_H
#define FORGETFUL_H

#include "engine/api/engine.h"

/* From now on the engine's first device reports all memory as pinned, except the `bytes`
   bytes at `ptr`: it reports these as pinned only the first `times` times that it is
   asked, as if another thread had unpinned them. Only one engine at a time can have such
   a device. */
void forgetful_begin(hybrid_engine *engine, const void *ptr, size_t bytes, int64_t times);

/* Makes the device report pinned memory as before forgetful_begin(). Returns how often
   it was asked about the bytes. */
int64_t forgetful_end(hybrid_engine *engine);

#endif /* FORGETFUL_H */
