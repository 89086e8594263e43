/* gpu/cuda_space.cu - operands and results of the caller in the device's memory. */
#include "gpu/cuda_backend.cuh"
#include "base/size_text.h"

/* What is no memory of CUDA's is an error to some versions: the host's. */
hy_held hy_cuda_holds(hy_backend *self, const void *ptr)
{
    cudaPointerAttributes found = {};
    if (hy_cuda_enter(hy_cuda_mine(self)) != HYBRID_OK ||
        cudaPointerGetAttributes(&found, ptr) != cudaSuccess) {
        (void)cudaGetLastError();
        return HY_HELD_NOT;
    }
    if (found.type == cudaMemoryTypeManaged)
        return HY_HELD_BOTH;
    if (found.type != cudaMemoryTypeDevice)
        return HY_HELD_NOT;
    return found.device == hy_cuda_mine(self)->device ? HY_HELD_DEVICE : HY_HELD_OTHER;
}

hybrid_status hy_cuda_fetch(hy_backend *self, void *to, const void *from, size_t bytes)
{
    HY_TRY(hy_cuda_enter(hy_cuda_mine(self)));
    HY_CUDA(self->ctx, cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
    return HYBRID_OK;
}

/* An event, and not the stream itself: another thread may enqueue more, without end. */
hybrid_status hy_cuda_follow(hy_backend *self, void *stream)
{
    HY_TRY(hy_cuda_enter(hy_cuda_mine(self)));
    HY_CUDA(self->ctx, cudaEventRecord(hy_cuda_mine(self)->followed,
                                       static_cast<cudaStream_t>(stream)));
    return HYBRID_OK;
}

hybrid_status hy_cuda_reached(hy_backend *self, int *out)
{
    HY_TRY(hy_cuda_enter(hy_cuda_mine(self)));
    const cudaError_t error = cudaEventQuery(hy_cuda_mine(self)->followed);
    *out                    = error == cudaSuccess;
    if (error != cudaErrorNotReady)
        return hy_cuda_check(self->ctx, error, "what the caller's stream did");
    (void)cudaGetLastError();
    return HYBRID_OK;
}

hybrid_status hy_cuda_keep(hy_backend *self, size_t bytes, void **out)
{
    HY_TRY(hy_cuda_enter(hy_cuda_mine(self)));
    if (!hy_memory_fails(&self->ctx->memory) && cudaMalloc(out, bytes) == cudaSuccess)
        return HYBRID_OK;
    (void)cudaGetLastError();
    HY_TRY(hy_cuda_works(hy_cuda_mine(self), "allocating memory"));
    return hy_fail(self->ctx, HYBRID_NO_DEVICE_MEMORY,
                   "device memory is too small for an array of %s of the result: leave "
                   "the result in "
                   "host memory (result_space), or free memory of the device",
                   hy_size((int64_t)bytes).s);
}

/* Which device is current does not matter, nor what became of the device. */
void hy_cuda_drop(hy_backend *self, void *ptr)
{
    (void)self;
    (void)cudaFree(ptr);
    (void)cudaGetLastError();
}
