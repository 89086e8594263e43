/* tests/support/engines/capped.h - engines with little memory. */
#ifndef CAPPED_H
#define CAPPED_H

#include "hybrid_spmm.h"

/* Create an engine with two workers and `cap` bytes of host memory. capped_device()
   prefers a fake device with 16 MiB of memory. A failure aborts the test. */
hybrid_engine *capped_host(int64_t cap);
hybrid_engine *capped_device(int64_t cap);

#endif /* CAPPED_H */
