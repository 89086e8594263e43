/* tests/support/engines/open_host.h - an engine on the host. */
#ifndef OPEN_HOST_H
#define OPEN_HOST_H

#include "hybrid_spmm.h"

/* With so many threads and so much host memory; 0: all. It is asserted that there is one. */
hybrid_engine *open_host(int threads, size_t host_bytes);

#endif /* OPEN_HOST_H */
