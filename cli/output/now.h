/* cli/output/now.h - the clock that hybrid_event uses. */
#ifndef CLI_NOW_H
#define CLI_NOW_H

#include <stdint.h>
#include <time.h>

/* Returns the time of CLOCK_MONOTONIC in nanoseconds. */
static inline int64_t cli_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif /* CLI_NOW_H */
