/* tests/support/engines/open_cuda.h - an engine on the GPU; without one HYBRID_NO_DEVICE.
   What is wrong is printed. */
#ifndef OPEN_CUDA_H
#define OPEN_CUDA_H

#include "hybrid_spmm.h"

/* With that much device memory; 0 = all. */
hybrid_status open_cuda(size_t device_bytes, hybrid_engine **engine);

/* With the speeds of that file; "" = built-in ones. */
hybrid_status open_cuda_rates(const char *rates, hybrid_engine **engine);

#endif /* OPEN_CUDA_H */
