/* base/data/min_max.h - the lesser and the greater of two, and the least and the most
   that several threads see. */
#ifndef HY_MIN_MAX_H
#define HY_MIN_MAX_H

#include <stdint.h>

static inline int64_t hy_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t hy_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* *most = the larger of *most and value. */
static inline void hy_raise_to(int64_t *most, int64_t value)
{
    int64_t now = __atomic_load_n(most, __ATOMIC_RELAXED);

    while (now < value && !__atomic_compare_exchange_n(
                              most, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* *least = the smaller of *least and value. */
static inline void hy_lower_to(int64_t *least, int64_t value)
{
    int64_t now = __atomic_load_n(least, __ATOMIC_RELAXED);

    while (now > value && !__atomic_compare_exchange_n(
                              least, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

#endif /* HY_MIN_MAX_H */
