/* tests/support/inputs/random.h - pseudorandom numbers that are the same in every run. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* Advances *state and returns the next number of a linear congruential generator
   (Knuth's MMIX). Its upper bits are better distributed than the lower ones. */
static inline uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state;
}

#endif /* RANDOM_H */
