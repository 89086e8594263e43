/* tests/support/check/poison.c - memory blocks that reveal writes out of bounds. */
#include "tests/support/check/poison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *poison_block(size_t bytes)
{
    void *block;

    if (posix_memalign(&block, 256, bytes + POISON_GUARD) != 0) {
        fprintf(stderr, "no memory for a test: %zu bytes\n", bytes);
        abort();
    }
    memset(block, POISON, bytes + POISON_GUARD);
    return block;
}

int poison_intact(const void *block, size_t begin, size_t end)
{
    const unsigned char *bytes = block;

    for (size_t i = begin; i < end; i++)
        if (bytes[i] != POISON)
            return 0;
    return 1;
}

int poison_guard_intact(const void *block, size_t bytes)
{
    return poison_intact(block, bytes, bytes + POISON_GUARD);
}
