/* tests/support/engines/open_cuda.h - engines on the GPU.

   Without a GPU the functions return HYBRID_NO_DEVICE. They print the message of a
   failure. */
#ifndef OPEN_CUDA_H
#define OPEN_CUDA_H

#include "hybrid_spmm.h"

/* Opens an engine with at most device_bytes of device memory; 0: no cap. */
hybrid_status open_cuda(size_t device_bytes, hybrid_engine **engine);

/* Opens an engine with the rates of the file `rates`; "" means the built-in rates. */
hybrid_status open_cuda_rates(const char *rates, hybrid_engine **engine);

#endif /* OPEN_CUDA_H */
