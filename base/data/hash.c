/* base/data/hash.c - checksums of operands, and of panels (files of rows of a
   result). */
#define XXH_INLINE_ALL
#include "base/data/hash.h"

#include <xxhash.h>

uint64_t hy_hash(uint64_t before, const void *data, size_t bytes)
{
    return bytes == 0 ? before : XXH3_64bits_withSeed(data, bytes, before);
}
