/* tests/support/check/poison.h - memory blocks that reveal writes out of bounds. */
#ifndef POISON_H
#define POISON_H

#include <stddef.h>

enum { POISON = 0xA5, POISON_GUARD = 64 };

/* Returns a block of `bytes` bytes, followed by a guard: more bytes that nothing may
   write. All are filled with POISON. The block is aligned to 256 bytes; the caller frees
   it with free(). A failed allocation aborts the test. */
void *poison_block(size_t bytes);

/* Returns 1 if bytes [begin, end) of the block still have the value POISON. */
int poison_intact(const void *block, size_t begin, size_t end);

/* Returns 1 if the guard, which lies behind the `bytes` bytes of a block of
   poison_block(), was not written. */
int poison_guard_intact(const void *block, size_t bytes);

#endif /* POISON_H */
