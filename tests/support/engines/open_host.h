/* tests/support/engines/open_host.h - engines on the host, or with little memory. */
#ifndef OPEN_HOST_H
#define OPEN_HOST_H

#include "hybrid_spmm.h"

/* Creates an engine with `threads` workers and at most `host_bytes` of host memory; 0
   means no limit. A failure aborts the test. */
hybrid_engine *open_host(int threads, size_t host_bytes);

/* Create an engine with two workers and `cap` bytes of host memory. capped_device()
   prefers a fake device with 16 MiB of memory. A failure aborts the test. */
hybrid_engine *capped_host(int64_t cap);
hybrid_engine *capped_device(int64_t cap);

#endif /* OPEN_HOST_H */
