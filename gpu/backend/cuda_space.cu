/* gpu/backend/cuda_space.cu - tells where the caller's operands lie, fetches them, waits
   for the caller's stream, and allocates results in device memory. */
#include "gpu/backend/cuda_backend.cuh"
#include "base/memory/device_full.h"

/* Sets *held to where `ptr` lies, as the driver says, which does not need the device to
   be current. Returns 0 if the driver gives no answer. */
static int ask_driver(const cuda_backend *b, const void *ptr, hy_held *held)
{
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned type = 0, managed = 0;
    int device           = -1;
    void *answers[]      = {&type, &managed, &device};
    const CUdeviceptr at = reinterpret_cast<CUdeviceptr>(ptr);

    if (!b->attributes || b->attributes(3, which, answers, at) != CUDA_SUCCESS)
        return 0;
    if (managed)
        *held = HY_HELD_BOTH;
    else if (type != CU_MEMORYTYPE_DEVICE)
        *held = HY_HELD_NOT;
    else
        *held = device == b->device ? HY_HELD_DEVICE : HY_HELD_OTHER;
    return 1;
}

/* Returns where the address lies. Asks the driver if its function was found, else the
   runtime. Some versions of the runtime report an error for memory that CUDA did not
   allocate: that memory is host memory. */
hy_held hy_cuda_holds(hy_backend *self, const void *ptr)
{
    hy_held held = HY_HELD_NOT;
    if (ask_driver(hy_cuda_mine(self), ptr, &held))
        return held;
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
    HY_CUDA(self, cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
    return HYBRID_OK;
}

/* Records an event in the caller's stream, so that the library's call can wait for the
   work enqueued until now. Waiting for the stream itself could take forever, because
   another thread may keep enqueueing work. */
hybrid_status hy_cuda_follow(hy_backend *self, void *stream)
{
    cuda_backend *b = hy_cuda_mine(self);
    HY_TRY(hy_cuda_enter(b));
    b->follows = cudaStreamQuery(static_cast<cudaStream_t>(stream)) != cudaSuccess;
    (void)cudaGetLastError();
    if (!b->follows) /* no work is pending in the caller's stream */
        return HYBRID_OK;
    HY_CUDA(self, cudaEventRecord(hy_cuda_mine(self)->followed,
                                  static_cast<cudaStream_t>(stream)));
    return HYBRID_OK;
}

hybrid_status hy_cuda_reached(hy_backend *self, int *out)
{
    *out = 1;
    if (!hy_cuda_mine(self)->follows)
        return HYBRID_OK;
    HY_TRY(hy_cuda_enter(hy_cuda_mine(self)));
    const cudaError_t error = cudaEventQuery(hy_cuda_mine(self)->followed);
    *out                    = error == cudaSuccess;
    if (error != cudaErrorNotReady)
        return hy_cuda_check(self, error, "work in the caller's stream");
    (void)cudaGetLastError();
    return HYBRID_OK;
}

/* ---- results ----

   Results come from a pool of their own, which retains some memory of freed results:
   allocating three arrays takes the driver longer than a small product. */

constexpr uint64_t POOL_BYTES = uint64_t(2) << 30; /* bytes of freed results that the pool
                                                      retains */

hybrid_status hy_cuda_pool_open(cuda_backend *b)
{
    cudaMemPoolProps props = {};
    uint64_t retained      = POOL_BYTES;
    int supported          = 0;
    HY_CUDA(&b->base, cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported,
                                             b->device));
    if (!supported)
        return HYBRID_OK;
    props.allocType     = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id   = b->device;
    HY_CUDA(&b->base, cudaMemPoolCreate(&b->pool, &props));
    HY_CUDA(&b->base,
            cudaMemPoolSetAttribute(b->pool, cudaMemPoolAttrReleaseThreshold, &retained));
    return HYBRID_OK;
}

void hy_cuda_pool_trim(const cuda_backend *b)
{
    if (b->pool)
        (void)cudaMemPoolTrimTo(b->pool, 0);
}

/* Allocates memory that any stream may use as soon as this returns. */
static cudaError_t allocate(const cuda_backend *b, size_t bytes, void **out)
{
    if (!b->pool)
        return cudaMalloc(out, bytes);
    const cudaError_t error = cudaMallocFromPoolAsync(out, bytes, b->pool, b->clock);
    return error == cudaSuccess ? cudaStreamSynchronize(b->clock) : error;
}

hybrid_status hy_cuda_alloc_result(hy_backend *self, size_t bytes, const char *what,
                                   void **out)
{
    const cuda_backend *b = hy_cuda_mine(self);
    HY_TRY(hy_cuda_enter(b));
    if (!hy_memory_fails(&self->ctx->memory) && allocate(b, bytes, out) == cudaSuccess)
        return HYBRID_OK;
    (void)cudaGetLastError();
    HY_TRY(hy_cuda_works(b, "allocating memory"));
    return hy_device_short(self, what, int64_t(bytes), "the device has no more",
                           "leave the result in host memory (result_space), or free some "
                           "GPU memory");
}

/* Waits for the device first, as cudaFree() does, because work in any stream may still
   use the memory. Ignores errors of the device. */
void hy_cuda_free_result(hy_backend *self, void *ptr)
{
    const cuda_backend *b = hy_cuda_mine(self);
    (void)cudaSetDevice(b->device);
    (void)cudaDeviceSynchronize();
    (void)(b->pool ? cudaFreeAsync(ptr, b->clock) : cudaFree(ptr));
    (void)cudaGetLastError();
}
