/* partition/turn.h - columns of a dense matrix as rows, and rows as columns. */
#ifndef HY_TURN_H
#define HY_TURN_H

#include <stddef.h>
#include <stdint.h>

/* to[i * to_ld + j] = from[j * from_ld + i] for i < lines, j < length, of elements of 4 or 8
   bytes; tile by tile, so that both sides stay in the cache. Strides in elements. */
void hy_turn(const char *from, int64_t from_ld, int64_t lines, int64_t length, size_t size,
             char *to, int64_t to_ld);

#endif /* HY_TURN_H */
