/* tests/support/fake/fake_memory.h - memory of the fake devices outside the engine.

   It holds operands of the caller and results that stay on the device. The host cannot
   touch this memory: its pages are protected except while a lane works or a test has
   opened them. */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include "base/contract/backend.h"

/* Allocates `bytes` bytes on device number `device`, or as managed memory
   (FAKE_MANAGED). The array begins `skew` bytes after a page boundary. It is a copy of
   `from`, or filled with POISON if `from` is NULL. */
void *fake_memory(int device, const void *from, size_t bytes, size_t skew);
void fake_memory_free(void *ptr);

/* In place of a device number: managed memory, which all fake devices and the host may
   touch at any time. */
enum { FAKE_MANAGED = -2 };

/* The host may touch arrays of fake_memory() only between fake_memory_open() and
   fake_memory_close(). The pairs may nest. */
void fake_memory_open(void);
void fake_memory_close(void);

/* Returns 1 if all `bytes` bytes are in one array of fake_memory() on that device or in
   managed memory. */
int fake_memory_has(int device, const void *ptr, size_t bytes);

/* Return the number of arrays of fake_memory() that exist now; how often a device was
   asked whether it has an array; the bytes fetched to the host; how often a call waited
   for the CUDA stream `stream`. */
int64_t fake_memory_alive(void);
int64_t fake_asked(void);
int64_t fake_fetched(void);
int64_t fake_followed(const void *stream);

/* From now on fake streams report unfinished work the first `asks` times that a device
   is asked whether its stream is done. */
void fake_stream_asks(int64_t asks);

/* ---- functions of the backend ---- */

hy_held fake_holds(hy_backend *self, const void *ptr);
hybrid_status fake_fetch(hy_backend *self, void *to, const void *from, size_t bytes);
hybrid_status fake_follow(hy_backend *self, void *stream);
hybrid_status fake_reached(hy_backend *self, int *out);
hybrid_status fake_combine(hy_lane *lane, const hy_combining *c);
hybrid_status fake_hash(hy_backend *self, const hybrid_csr *A, uint64_t *out);
hybrid_status fake_keep(hy_backend *self, size_t bytes, const char *what, void **out);
void fake_drop(hy_backend *self, void *ptr);

#endif /* FAKE_MEMORY_H */
