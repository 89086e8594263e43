/* gpu/backend/cuda_pinned.cu - pins the caller's memory, and tells how many bytes at an
   address are pinned. */
#include "gpu/backend/cuda_backend.cuh"

hybrid_status hy_cuda_pin(hy_backend *self, void *ptr, size_t bytes)
{
    const cuda_backend *b = hy_cuda_mine(self);
    HY_TRY(hy_cuda_enter(b));
    if (cudaHostRegister(ptr, bytes, cudaHostRegisterPortable) == cudaSuccess)
        return HYBRID_OK;
    (void)cudaGetLastError();
    HY_TRY(hy_cuda_works(b, "cudaHostRegister"));
    return HYBRID_NO_MEMORY;
}

void hy_cuda_unpin(hy_backend *self, void *ptr)
{
    (void)cudaSetDevice(hy_cuda_mine(self)->device);
    (void)cudaHostUnregister(ptr);
    (void)cudaGetLastError();
}

/* Returns the driver's cuPointerGetAttributes, or NULL. The runtime does not report the
   length of a pinned range, and the library is not linked with the driver. */
hy_get_attributes hy_cuda_find_attributes()
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const cudaError_t error = cudaGetDriverEntryPointByVersion(
        "cuPointerGetAttributes", &found, 7000, cudaEnableDefault, &result);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuPointerGetAttributes", &found,
                                                      cudaEnableDefault, &result);
#endif
    (void)cudaGetLastError();
    return error == cudaSuccess && result == cudaDriverEntryPointSuccess
               ? reinterpret_cast<hy_get_attributes>(found)
               : nullptr;
}

size_t hy_cuda_pinned(hy_backend *self, const void *ptr, size_t bytes)
{
    const hy_get_attributes ask = hy_cuda_mine(self)->attributes;
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    unsigned type = 0, managed = 0;
    CUdeviceptr start    = 0;
    size_t size          = 0;
    void *answers[]      = {&type, &managed, &start, &size};
    const CUdeviceptr at = reinterpret_cast<CUdeviceptr>(ptr);

    if (!ask || cudaSetDevice(hy_cuda_mine(self)->device) != cudaSuccess ||
        ask(4, which, answers, at) != CUDA_SUCCESS)
        return 0;
    if (type != CU_MEMORYTYPE_HOST || managed || at < start || at - start >= size)
        return 0;
    const size_t left = size - size_t(at - start);
    return bytes < left ? bytes : left;
}
