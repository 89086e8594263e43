/* tests/support/check/poison.h - memory blocks that reveal writes out of bounds. */
#ifndef POISON_H
#define POISON_H

#include <stddef.h>

enum { POISON = 0xA5, POISON_GUARD = 64 };

/* Returns `bytes` bytes and a guard behind them, all filled with POISON and aligned to
   256 bytes. The caller frees them with free(). A failed allocation aborts the test. */
void *poison_block(size_t bytes);

/* Returns 1 if bytes [begin, end) are still POISON. */
int poison_intact(const void *block, size_t begin, size_t end);

/* Returns 1 if the guard of a block of `bytes` bytes is intact. */
int poison_guard_intact(const void *block, size_t bytes);

#endif /* POISON_H */
