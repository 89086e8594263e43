/* gpu/backend/cuda_lane.cu - lanes of the CUDA backend, which are streams. */
#include "gpu/backend/cuda_lane.cuh"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include "gpu/backend/cuda_device.cuh"

struct cuda_lane {
    hy_lane base;
    cudaStream_t stream, side; /* side: the second stream (hy_fork()); NULL until a
                                  variant asks for it */
    cudaEvent_t forked, joined;
    bool borrowed; /* true if the stream is the caller's */
};

hybrid_status hy_cuda_check(const hy_backend *device, cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return HYBRID_OK;
    (void)cudaGetLastError(); /* clears the error, so that the next call does not report
                                 it again */
    return hy_fail(device->ctx, HYBRID_DEVICE_FAILED,
                   "%s reported an error: %s; run 'hybrid_spmm doctor', or compute "
                   "without this GPU (--devices, --backend host) [%s]",
                   device->name, cudaGetErrorString(error), call);
}

/* Clears a pending error and makes the device current, because other users of CUDA in
   this thread may have changed the device, or left an error that the next launch would
   report. */
hybrid_status hy_cuda_enter(const cuda_backend *b)
{
    (void)cudaGetLastError();
    HY_CUDA(&b->base, cudaSetDevice(b->device));
    return HYBRID_OK;
}

/* Queries the backend's own stream. After a fault in a kernel the CUDA context of the
   process is lost, and every call fails, so this query fails, too. */
hybrid_status hy_cuda_works(const cuda_backend *b, const char *call)
{
    const cudaError_t error = cudaStreamQuery(b->clock);
    return error == cudaErrorNotReady ? HYBRID_OK : hy_cuda_check(&b->base, error, call);
}

/* ---- lanes as variants see them ---- */

hybrid_status hy_lane_enter(hy_lane *self)
{
    return hy_cuda_enter(hy_cuda_mine(self->backend));
}

cudaStream_t hy_stream(const hy_lane *self)
{
    return reinterpret_cast<const cuda_lane *>(self)->stream;
}

/* Loads the kernels of spgemm.cuda.hash again if loading failed. Memory may have been
   short when the engine was made. */
static cudaError_t load_again(cuda_backend *b)
{
    pthread_mutex_lock(&b->lock);
    if (b->loaded != cudaSuccess) {
        (void)cudaGetLastError();
        b->loaded = hy_hash_load(b->device);
    }
    const cudaError_t loaded = b->loaded;
    pthread_mutex_unlock(&b->lock);
    return loaded;
}

hybrid_status hy_lane_loaded(hy_lane *self)
{
    cuda_backend *b   = hy_cuda_mine(self->backend);
    cudaError_t error = hy_cuda_await_loads(b);
    if (error != cudaSuccess)
        error = load_again(b);
    return hy_cuda_check(self->backend, error, "loading kernels");
}

int hy_width(const hy_lane *self)
{
    return hy_cuda_mine(self->backend)->width;
}

/* Makes the side stream and its events when a variant first asks for them. */
static hybrid_status open_side(cuda_lane *l)
{
    const hy_backend *b = l->base.backend;
    if (!l->forked)
        HY_CUDA(b, cudaEventCreateWithFlags(&l->forked, cudaEventDisableTiming));
    if (!l->joined)
        HY_CUDA(b, cudaEventCreateWithFlags(&l->joined, cudaEventDisableTiming));
    if (!l->side)
        HY_CUDA(b, cudaStreamCreateWithFlags(&l->side, cudaStreamNonBlocking));
    return HYBRID_OK;
}

hybrid_status hy_fork(hy_lane *self, cudaStream_t *side)
{
    cuda_lane *l = reinterpret_cast<cuda_lane *>(self);
    HY_TRY(open_side(l));
    HY_CUDA(self->backend, cudaEventRecord(l->forked, l->stream));
    HY_CUDA(self->backend, cudaStreamWaitEvent(l->side, l->forked, 0));
    *side = l->side;
    return HYBRID_OK;
}

hybrid_status hy_join(hy_lane *self)
{
    cuda_lane *l = reinterpret_cast<cuda_lane *>(self);
    HY_CUDA(self->backend, cudaEventRecord(l->joined, l->side));
    HY_CUDA(self->backend, cudaStreamWaitEvent(l->stream, l->joined, 0));
    return HYBRID_OK;
}

hybrid_status hy_launched(hy_lane *self, const char *what)
{
    return hy_cuda_check(self->backend, cudaGetLastError(), what);
}
/* ---- lanes ---- */

hybrid_status hy_cuda_lane_open(hy_backend *self, const char *name, int urgent,
                                hy_lane **out)
{
    hy_context *ctx = self->ctx;
    void *room      = nullptr;
    int lowest = 0, highest = 0; /* the most urgent priority has the smallest number */
    HY_TRY(hy_cuda_enter(hy_cuda_mine(self)));
    HY_CUDA(self, cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    HY_TRY(hy_array(ctx, 1, sizeof(cuda_lane), "a lane", &room));
    cuda_lane *l = static_cast<cuda_lane *>(room);
    *l           = cuda_lane{{self, name}, nullptr, nullptr, nullptr, nullptr, false};
    const hybrid_status status =
        hy_cuda_check(self,
                      cudaStreamCreateWithPriority(&l->stream, cudaStreamNonBlocking,
                                                   urgent ? highest : lowest),
                      "cudaStreamCreateWithPriority");
    if (status != HYBRID_OK) {
        hy_array_free(ctx, l);
        return status;
    }
    nvtxNameCudaStreamA(l->stream, name);
    *out = &l->base;
    return HYBRID_OK;
}

hybrid_status hy_cuda_borrow(hy_backend *self, void *stream, hy_lane **out)
{
    void *room = nullptr;
    HY_TRY(hy_array(self->ctx, 1, sizeof(cuda_lane), "a lane", &room));
    cuda_lane *l = static_cast<cuda_lane *>(room);
    *l           = cuda_lane{{self, "caller"}, static_cast<cudaStream_t>(stream),
                   nullptr,          nullptr,
                   nullptr,          true};
    *out         = &l->base;
    return HYBRID_OK;
}

void hy_cuda_lane_close(hy_lane *self)
{
    if (!self)
        return;
    (void)cudaSetDevice(hy_cuda_mine(self->backend)->device);
    cuda_lane *l = reinterpret_cast<cuda_lane *>(self);
    if (!l->borrowed) {
        hy_cuda_lane_drain(self); /* cudaStreamDestroy() does not wait */
        (void)cudaStreamDestroy(l->stream);
    }
    if (l->side)
        (void)cudaStreamDestroy(l->side);
    if (l->forked)
        (void)cudaEventDestroy(l->forked);
    if (l->joined)
        (void)cudaEventDestroy(l->joined);
    (void)cudaGetLastError();
    hy_array_free(self->backend->ctx, self);
}

void hy_cuda_lane_drain(hy_lane *self)
{
    const cuda_lane *l = reinterpret_cast<const cuda_lane *>(self);
    (void)cudaSetDevice(hy_cuda_mine(self->backend)->device);
    (void)cudaStreamSynchronize(l->stream);
    if (l->side)
        (void)cudaStreamSynchronize(l->side);
    (void)cudaGetLastError();
}

hybrid_status hy_cuda_lane_copy(hy_lane *self, void *dst, const void *src, size_t bytes)
{
    if (bytes == 0)
        return HYBRID_OK;
    HY_TRY(hy_lane_enter(self));
    HY_CUDA(self->backend,
            cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, hy_stream(self)));
    return HYBRID_OK;
}

/* Asks CUDA, and enables the access, each time, because other users of CUDA in the
   process may disable it. */
int hy_cuda_reads(hy_backend *self, const hy_backend *other)
{
    const int own = hy_cuda_mine(self)->device;
    const int far = hy_cuda_mine(other)->device;
    int can       = own == far;
    if (!can && cudaSetDevice(own) == cudaSuccess &&
        cudaDeviceCanAccessPeer(&can, own, far) == cudaSuccess && can) {
        const cudaError_t error = cudaDeviceEnablePeerAccess(far, 0);
        can = error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled;
    }
    (void)cudaGetLastError();
    return can;
}

hybrid_status hy_cuda_lane_copy_peer(hy_lane *self, void *dst, const hy_backend *other,
                                     const void *src, size_t bytes)
{
    (void)other; /* the driver tells from the address where `src` lies */
    return hy_cuda_lane_copy(self, dst, src, bytes);
}

hybrid_status hy_cuda_lane_copy_rows(hy_lane *self, const hy_row_copy *rows)
{
    if (rows->bytes == 0 || rows->rows == 0)
        return HYBRID_OK;
    HY_TRY(hy_lane_enter(self));
    HY_CUDA(self->backend,
            cudaMemcpy2DAsync(rows->dst, rows->dst_pitch, rows->src, rows->src_pitch,
                              rows->bytes, size_t(rows->rows), cudaMemcpyDefault,
                              hy_stream(self)));
    return HYBRID_OK;
}
