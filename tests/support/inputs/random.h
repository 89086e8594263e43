/* tests/support/inputs/random.h - numbers that look random and are the same in every run.
   */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* The next one, by Knuth's linear congruences: its upper bits are the better ones. */
static inline uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state;
}

#endif /* RANDOM_H */
