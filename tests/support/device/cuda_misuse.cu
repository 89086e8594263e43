/* tests/support/device/cuda_misuse.cu - harmful things that other CUDA code of a process
   may do. */
#include "tests/support/device/cuda_misuse.h"

#include <cuda_runtime.h>

int cuda_leave_error(void)
{
    void *ptr = nullptr;
    return cudaMalloc(&ptr, size_t(1) << 60) == cudaErrorMemoryAllocation &&
           cudaPeekAtLastError() == cudaErrorMemoryAllocation;
}

static __global__ void trap()
{
    asm("trap;");
}

int cuda_trap(void)
{
    cudaStream_t stream = nullptr;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        return 0;
    trap<<<1, 1, 0, stream>>>();
    return cudaGetLastError() == cudaSuccess;
}
