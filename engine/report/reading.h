/* engine/report/reading.h - tells the caller's trace what happened outside runs: what a
   thread has read from a file, and when memory was pinned. */
#ifndef HY_READING_H
#define HY_READING_H

#include "engine/api/engine.h"
#include "pipeline/site/site.h"

typedef struct hy_reading {
    const char *lane; /* a name that begins with "reader" */
    int64_t row_begin,
        row_end; /* rows of A or X that were read; or rows of A for which rows of B were
                    read */
    int64_t bytes;
    int64_t begin_ns, end_ns; /* hy_now_ns(); begin_ns is 0 if nothing was read */
} hy_reading;

/* Reports a reading to the caller's trace, if there is one and something was read. Only
   the thread that makes the public call may call this function. */
void hy_tell_reading(const hybrid_engine *engine, const hy_reading *reading);

/* Reports to the caller's trace, if there is one, when the site of a device got its pinned
   memory. Only the thread that makes the public call may call this function. */
void hy_tell_pinning(const hybrid_engine *engine, const hy_site *site);

#endif /* HY_READING_H */
