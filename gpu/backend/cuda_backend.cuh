/* gpu/backend/cuda_backend.cuh - declarations that the files of the CUDA backend
   share. */
#ifndef HY_CUDA_BACKEND_CUH
#define HY_CUDA_BACKEND_CUH

#include <cuda.h>
#include <pthread.h>

#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_memory.cuh"

using hy_get_attributes = CUresult (*)(unsigned, CUpointer_attribute *, void **,
                                       CUdeviceptr);

struct cuda_backend {
    hy_backend base;
    int device, width, sm; /* number; multiprocessors; compute capability, 90 = 9.0 */
    char words[128];       /* result of describe() */
    double mem_Bps, flops;
    hy_block_list blocks;
    hy_get_attributes attributes; /* cuPointerGetAttributes of the driver; may be NULL */
    cudaStream_t clock;           /* carries `epoch` and short work of the backend */
    cudaEvent_t followed;         /* event in the caller's stream when a call began */
    bool follows;                 /* true if `followed` was set, because the stream had
                                     work */
    cudaMemPool_t pool;           /* memory of results; NULL if the device has no pools */
    pthread_mutex_t lock;         /* protects the members below */
    cudaEvent_t epoch;            /* device times are counted from this event */
    int64_t epoch_ns;
    pthread_t loader;   /* thread that loads kernels for the first product */
    bool loads;         /* true until the loader has been joined */
    cudaError_t loaded; /* status of loading */
};

inline cuda_backend *hy_cuda_mine(hy_backend *self)
{
    return reinterpret_cast<cuda_backend *>(self);
}

inline const cuda_backend *hy_cuda_mine(const hy_backend *self)
{
    return reinterpret_cast<const cuda_backend *>(self);
}

/* Waits until kernels are loaded and returns the status. Any thread. */
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

/* Returns DEVICE_FAILED, with a message that names `call`, if the device does not work
   any more. Called before memory is given out and after memory was refused. */
hybrid_status hy_cuda_works(const cuda_backend *b, const char *call);

/* Functions of hy_backend_ops. */
hybrid_status hy_cuda_measure(hy_backend *self, hy_measured *out); /* cuda_measure.cu */
hybrid_status hy_cuda_lane_open(hy_backend *self, const char *name, int urgent,
                                hy_lane **out);
hybrid_status hy_cuda_borrow(hy_backend *self, void *stream, hy_lane **out);
void hy_cuda_lane_close(hy_lane *self);
void hy_cuda_lane_drain(hy_lane *self);
hybrid_status hy_cuda_lane_copy(hy_lane *self, void *dst, const void *src, size_t bytes);
hybrid_status hy_cuda_lane_copy_rows(hy_lane *self, const hy_row_copy *rows);
hybrid_status hy_cuda_pin(hy_backend *self, void *ptr, size_t bytes);
void hy_cuda_unpin(hy_backend *self, void *ptr);
hy_get_attributes hy_cuda_find_attributes();
size_t hy_cuda_pinned(hy_backend *self, const void *ptr, size_t bytes);

hy_held hy_cuda_holds(hy_backend *self, const void *ptr); /* cuda_space.cu */
hybrid_status hy_cuda_fetch(hy_backend *self, void *to, const void *from, size_t bytes);
hybrid_status hy_cuda_follow(hy_backend *self, void *stream);
hybrid_status hy_cuda_reached(hy_backend *self, int *out);
hybrid_status hy_cuda_pool_open(cuda_backend *b);
void hy_cuda_pool_trim(const cuda_backend *b);
hybrid_status hy_cuda_keep(hy_backend *self, size_t bytes, const char *what, void **out);
void hy_cuda_drop(hy_backend *self, void *ptr);
hybrid_status hy_cuda_hash(hy_backend *self, const hybrid_csr *A,
                           uint64_t *out);                          /* cuda_hash.cu */
hybrid_status hy_cuda_survey(hy_lane *self, const hy_surveying *s); /* cuda_survey.cu */
enum {
    HY_CUDA_SURVEYORS    = 264, /* maximum blocks that count; each writes a record */
    HY_CUDA_DRAWS        = 128, /* blocks that draw rows of C */
    HY_CUDA_SURVEY_BYTES = 256 + (HY_CUDA_SURVEYORS + HY_CUDA_DRAWS) * 72
};

#endif /* HY_CUDA_BACKEND_CUH */
