/* tests/support/check/poison.h - blocks that show who wrote where. */
#ifndef POISON_H
#define POISON_H

#include <stddef.h>

enum { POISON = 0xA5, POISON_GUARD = 64 };

/* `bytes` and a guard behind them, all poison, aligned to 256. Give it to free();
   running out of memory aborts the test. */
void *poison_block(size_t bytes);

/* Nobody wrote to bytes [begin, end), or wrote poison. */
int poison_intact(const void *block, size_t begin, size_t end);

/* The guard of a block of that size. */
int poison_guard_intact(const void *block, size_t bytes);

#endif /* POISON_H */
