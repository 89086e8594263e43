/* base/data/hash_words.h - how workers and kernels hash words of a pattern. */
#ifndef HY_HASH_WORDS_H
#define HY_HASH_WORDS_H

#include <stdint.h>

#include "base/data/inline.h"

enum {
    HY_HASH_BLOCK = 1 << 14, /* offsets or columns in a block */
    HY_HASH_LANES = 8
};

#define HY_HASH_ODD UINT64_C(0x9e3779b97f4a7c15)

HY_KERNEL_INLINE uint64_t hy_hash_mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * HY_HASH_ODD;
    return hash ^ hash >> 32;
}

#endif /* HY_HASH_WORDS_H */
