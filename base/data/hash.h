/* base/data/hash.h - checksums of operands, and of panels (files of rows of a result):
   XXH3, docs/decisions/0023. */
#ifndef HY_HASH_H
#define HY_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the hash of `bytes` bytes, seeded with the hash of the bytes before them (0 at
   the beginning). */
uint64_t hy_hash(uint64_t before, const void *data, size_t bytes);

#endif /* HY_HASH_H */
