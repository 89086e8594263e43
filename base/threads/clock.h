/* base/threads/clock.h - monotonic time. */
#ifndef HY_CLOCK_H
#define HY_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns nanoseconds of CLOCK_MONOTONIC. */
static inline int64_t hy_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif /* HY_CLOCK_H */
