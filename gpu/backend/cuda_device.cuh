/* gpu/backend/cuda_device.cuh - the state of the CUDA backend, which its files share. */
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
    bool pooled;  /* true if the block was freed and may be given out again */
    int64_t call; /* number of the public call that made the block (hy_context.call) */
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
    int device, width, sm; /* device: CUDA's number of the device; width: its
                              multiprocessors; sm: its compute capability, 90 for 9.0 */
    /* what a multiprocessor holds at most: warps, thread blocks, registers, and bytes of
       shared memory */
    int sm_warps, sm_blocks, sm_registers, sm_shared;
    size_t block_memory; /* bytes of shared memory that a thread block may have */
    hy_block_speeds block_speeds; /* constants of SpMV in blocks, to which
                                     hy_backend.blocks points */
    char words[128];              /* the device in words, for reports
                                     (hy_backend_ops.describe) */
    double mem_Bps, flops;
    size_t l2_bytes;
    hy_block_list blocks;
    hy_get_attributes attributes; /* cuPointerGetAttributes() of the driver; NULL if it
                                     was not found */
    cudaStream_t clock;           /* stream of the backend, for recording `epoch` and for
                                     short work */
    cudaEvent_t followed;         /* event that was recorded in the caller's stream when a
                                     call began */
    bool follows;                 /* true if `followed` was recorded in this call; false
                                     if no work was pending in the caller's stream */
    cudaMemPool_t pool;           /* memory of results; NULL if the device has no pools */
    pthread_mutex_t lock;         /* guards all members that follow */
    cudaEvent_t epoch;            /* times on the device are counted from this event */
    int64_t epoch_ns;
    pthread_t loader;   /* thread that loads kernels in advance */
    bool loads;         /* true from the start of the loader until it has been joined */
    cudaError_t loaded; /* result of loading, cudaSuccess or an error; valid once `loads`
                           is false */
};

inline cuda_backend *hy_cuda_mine(hy_backend *self)
{
    return reinterpret_cast<cuda_backend *>(self);
}

inline const cuda_backend *hy_cuda_mine(const hy_backend *self)
{
    return reinterpret_cast<const cuda_backend *>(self);
}

/* Waits until the kernels are loaded and returns the result of loading. Any thread may
   call it. */
inline cudaError_t hy_cuda_await_loads(cuda_backend *b)
{
    pthread_mutex_lock(&b->lock);
    if (b->loads)
        pthread_join(b->loader, nullptr);
    b->loads = false;
    pthread_mutex_unlock(&b->lock);
    return b->loaded;
}

/* Makes the backend's device current in this thread. Clears a pending CUDA error, which
   cannot come from this engine. */
hybrid_status hy_cuda_enter(const cuda_backend *b);

/* Returns DEVICE_FAILED, with a message that names `call`, if the device no longer works.
   The backend calls it before it allocates work memory, and after an allocation of a
   result failed. */
hybrid_status hy_cuda_works(const cuda_backend *b, const char *call);

#endif /* HY_CUDA_DEVICE_CUH */
