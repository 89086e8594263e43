/* gpu/backend/cuda_device.cuh - the state of the CUDA backend, for the modules that make
 * it up.
 */
#ifndef HY_CUDA_DEVICE_CUH
#define HY_CUDA_DEVICE_CUH

#include <cuda.h>
#include <cuda_runtime.h>
#include <pthread.h>

#include "base/contract/backend.h"

struct hy_cuda_block {
    void *ptr;
    size_t bytes;
    hy_space space;
    bool kept;    /* freed, and here for reuse */
    int64_t call; /* that made it (hy_context.call) */
    hy_cuda_block *next;
};

struct hy_block_list {
    pthread_mutex_t lock;
    hy_cuda_block *first;
};

using hy_get_attributes = CUresult (*)(unsigned, CUpointer_attribute *, void **,
                                       CUdeviceptr);

struct cuda_backend {
    hy_backend base;
    int device, width, sm; /* its number, multiprocessors, compute capability */
    char words[128];       /* what describe() says */
    double mem_Bps, flops;
    hy_block_list blocks;
    hy_get_attributes attributes; /* cuPointerGetAttributes of the driver; may be NULL */
    cudaStream_t clock;           /* carries `epoch` and nothing else */
    cudaEvent_t followed;         /* in the caller's stream, when a call began */
    bool follows;                 /* and that was set: the stream was at work */
    cudaMemPool_t pool;           /* of results; NULL: the device has no pools */
    pthread_mutex_t lock;         /* of what follows */
    cudaEvent_t epoch;            /* device times are counted from it */
    int64_t epoch_ns;
    pthread_t loader;   /* loads kernels that a first product may need, */
    bool loads;         /* and nobody has waited for it yet */
    cudaError_t loaded; /* what it ended with */
};

inline cuda_backend *hy_cuda_mine(hy_backend *self)
{
    return reinterpret_cast<cuda_backend *>(self);
}

inline const cuda_backend *hy_cuda_mine(const hy_backend *self)
{
    return reinterpret_cast<const cuda_backend *>(self);
}

/* Until kernels are loaded. Any thread. */
inline cudaError_t hy_cuda_await_loads(cuda_backend *b)
{
    pthread_mutex_lock(&b->lock);
    if (b->loads)
        pthread_join(b->loader, nullptr);
    b->loads = false;
    pthread_mutex_unlock(&b->lock);
    return b->loaded;
}

/* Make the backend's device current in this thread, which has no error of CUDA's pending
   then: an earlier one is not of this engine's doing. */
hybrid_status hy_cuda_enter(const cuda_backend *b);

/* DEVICE_FAILED and a sentence that names the call, if the device does not work any more:
   before memory is given out, and after memory was refused. */
hybrid_status hy_cuda_works(const cuda_backend *b, const char *call);

#endif /* HY_CUDA_DEVICE_CUH */
