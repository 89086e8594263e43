/* tests/support/engines/open_host.h - an engine on the host. */
#ifndef OPEN_HOST_H
#define OPEN_HOST_H

#include "hybrid_spmm.h"

/* Creates an engine with `threads` workers and at most `host_bytes` of host memory; 0
   means no limit. A failure aborts the test. */
hybrid_engine *open_host(int threads, size_t host_bytes);

#endif /* OPEN_HOST_H */
