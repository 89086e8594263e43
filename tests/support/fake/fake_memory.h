/* tests/support/fake/fake_memory.h - memory of the fake devices that is not an engine's:
   operands of the caller, and results that are left there.

   The host cannot touch it: its pages are closed but while a lane works, or a test has
   opened them. */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include "base/contract/backend.h"

/* So many bytes of device `device`, or FAKE_MANAGED, with what lies at `from`, unless NULL;
   poisoned else. They begin `skew` bytes after a page. */
void *fake_memory(int device, const void *from, size_t bytes, size_t skew);
void fake_memory_free(void *ptr);

/* Managed memory: of all fake devices, and the host touches it at any time. */
enum { FAKE_MANAGED = -2 };

/* Let the host touch all of it, between the two; they count. */
void fake_memory_open(void);
void fake_memory_close(void);

/* Whether these bytes are in such memory of that device. */
int fake_memory_has(int device, const void *ptr, size_t bytes);

/* Arrays that are not freed; times that a device was asked whether it has an array; bytes
   that were fetched to the host; and calls that waited for this stream. */
int64_t fake_memory_alive(void);
int64_t fake_asked(void);
int64_t fake_fetched(void);
int64_t fake_followed(const void *stream);

/* Streams have done what is enqueued when devices were asked so many times more. */
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
