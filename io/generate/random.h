/* io/generate/random.h - random numbers by counter: number k of a stream is a function of
   k and the stream's key, so any thread can make any part of a matrix.

   The generator is SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
#ifndef HY_RANDOM_H
#define HY_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of `use` in hy_key(): random numbers for different purposes are independent. */
enum { HY_RANDOM_VALUES = 1, HY_RANDOM_COLUMNS, HY_RANDOM_LENGTHS, HY_RANDOM_DENSE };

static inline uint64_t hy_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Returns number k of the stream with this key: 64 random bits. */
static inline uint64_t hy_draw(uint64_t key, uint64_t k)
{
    return hy_mix(key + (k + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Returns the key of the stream for row (or node, or edge) i, one purpose and one
   seed. */
static inline uint64_t hy_key(uint64_t seed, uint64_t use, uint64_t i)
{
    return hy_draw(hy_draw(hy_mix(seed), use), i);
}

/* Converts 64 random bits to a number in [0, 1). */
static inline double hy_unit(uint64_t draw)
{
    return (double)(draw >> 11) * 0x1p-53;
}

/* Converts 64 random bits to an integer in [0, n), 0 < n < 2^32. */
static inline int64_t hy_below(uint64_t draw, int64_t n)
{
    return (int64_t)(((draw >> 32) * (uint64_t)n) >> 32);
}

#ifdef __cplusplus
}
#endif
#endif /* HY_RANDOM_H */
