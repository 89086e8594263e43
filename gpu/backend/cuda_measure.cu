/* gpu/backend/cuda_measure.cu - measures the speeds of a CUDA device: copies, memory and
   launches. */
#include "base/data/median.h"
#include "gpu/backend/cuda_backend.cuh"

namespace
{

constexpr size_t COPY_BYTES = size_t(64) << 20;  /* bytes copied in each direction */
constexpr size_t MEM_BYTES  = size_t(256) << 20; /* bytes copied on the device; far more
                                                    than an L2 cache */
constexpr int MEM_COPIES = 4, LAUNCHES = 256, TRIES = 9;

/* All timed work is enqueued on lane `main`. Lane `other` is used only when both
   directions are copied at once, for the second direction. */
struct measuring {
    hy_backend *backend;
    hy_lane *main, *other;
    cudaEvent_t begin, end, joined;
    hy_buffer up, down;      /* pinned host memory, COPY_BYTES each: source of copies up,
                                destination of copies down */
    hy_buffer first, second; /* device memory, MEM_BYTES each: source and destination of
                                copies */
};

typedef hybrid_status (*work_fn)(const measuring *m);

__global__ void nothing()
{
}

hybrid_status copy_up(const measuring *m)
{
    HY_CUDA(m->backend, cudaMemcpyAsync(m->first.ptr, m->up.ptr, COPY_BYTES,
                                        cudaMemcpyHostToDevice, hy_stream(m->main)));
    return HYBRID_OK;
}

hybrid_status copy_down_in(const measuring *m, cudaStream_t stream)
{
    HY_CUDA(m->backend, cudaMemcpyAsync(m->down.ptr, m->second.ptr, COPY_BYTES,
                                        cudaMemcpyDeviceToHost, stream));
    return HYBRID_OK;
}

hybrid_status copy_down(const measuring *m)
{
    return copy_down_in(m, hy_stream(m->main));
}

/* Copies in both directions at once. The event at which timing begins was recorded just
   before; timing ends when the later copy ends. */
hybrid_status copy_both(const measuring *m)
{
    const cudaStream_t other = hy_stream(m->other);
    HY_CUDA(m->backend, cudaStreamWaitEvent(other, m->begin, 0));
    HY_TRY(copy_up(m));
    HY_TRY(copy_down_in(m, other));
    HY_CUDA(m->backend, cudaEventRecord(m->joined, other));
    HY_CUDA(m->backend, cudaStreamWaitEvent(hy_stream(m->main), m->joined, 0));
    return HYBRID_OK;
}

hybrid_status copy_inside(const measuring *m)
{
    for (int i = 0; i < MEM_COPIES; i++)
        HY_CUDA(m->backend,
                cudaMemcpyAsync(m->second.ptr, m->first.ptr, MEM_BYTES,
                                cudaMemcpyDeviceToDevice, hy_stream(m->main)));
    return HYBRID_OK;
}

hybrid_status launch_many(const measuring *m)
{
    for (int i = 0; i < LAUNCHES; i++)
        nothing<<<1, 32, 0, hy_stream(m->main)>>>();
    return hy_launched(m->main, "an empty kernel");
}

/* Sets *seconds to the median of TRIES runs of `work`, after one run that is not
   counted. */
hybrid_status time_work(const measuring *m, work_fn work, double *seconds)
{
    double each[TRIES];
    for (int i = -1; i < TRIES; i++) {
        float ms = 0;
        HY_CUDA(m->backend, cudaEventRecord(m->begin, hy_stream(m->main)));
        HY_TRY(work(m));
        HY_CUDA(m->backend, cudaEventRecord(m->end, hy_stream(m->main)));
        HY_CUDA(m->backend, cudaEventSynchronize(m->end));
        HY_CUDA(m->backend, cudaEventElapsedTime(&ms, m->begin, m->end));
        if (i >= 0)
            each[i] = double(ms) * 1e-3;
    }
    *seconds = hy_median(each, TRIES);
    return HYBRID_OK;
}

hybrid_status open_measuring(hy_backend *self, measuring *m)
{
    const hy_backend_ops *ops = self->ops;
    HY_TRY(hy_cuda_lane_open(self, "measure", 0, &m->main));
    HY_TRY(hy_cuda_lane_open(self, "measure the other way", 0, &m->other));
    HY_CUDA(m->backend, cudaEventCreate(&m->begin));
    HY_CUDA(m->backend, cudaEventCreate(&m->end));
    HY_CUDA(m->backend, cudaEventCreate(&m->joined));
    HY_TRY(ops->alloc(self, HY_PINNED, COPY_BYTES, "arrays of measurements", &m->up));
    HY_TRY(ops->alloc(self, HY_PINNED, COPY_BYTES, "arrays of measurements", &m->down));
    HY_TRY(ops->alloc(self, HY_DEVICE, MEM_BYTES, "arrays of measurements", &m->first));
    HY_TRY(ops->alloc(self, HY_DEVICE, MEM_BYTES, "arrays of measurements", &m->second));
    /* the source is written first, because fresh pages may share one page of zeros */
    HY_CUDA(m->backend, cudaMemsetAsync(m->first.ptr, 1, MEM_BYTES, hy_stream(m->main)));
    HY_CUDA(m->backend, cudaMemsetAsync(m->second.ptr, 2, MEM_BYTES, hy_stream(m->main)));
    return HYBRID_OK;
}

/* Waits for the lane, because copies may still run after an error. */
void wait_for(hy_lane *lane)
{
    if (lane)
        (void)cudaStreamSynchronize(hy_stream(lane));
}

void close_measuring(hy_backend *self, measuring *m)
{
    cudaEvent_t events[] = {m->begin, m->end, m->joined};
    hy_buffer *buffers[] = {&m->up, &m->down, &m->first, &m->second};
    (void)cudaSetDevice(hy_cuda_mine(self)->device);
    wait_for(m->main);
    wait_for(m->other);
    for (hy_buffer *buffer : buffers)
        self->ops->free(self, buffer);
    for (cudaEvent_t event : events)
        if (event)
            (void)cudaEventDestroy(event);
    hy_cuda_lane_close(m->main);
    hy_cuda_lane_close(m->other);
    (void)cudaGetLastError();
    self->ops->trim(self, 0); /* frees the buffers of the measurement, which would
                                 otherwise stay pooled */
}

hybrid_status measure(const measuring *m, hy_measured *out)
{
    double up = 0, down = 0, both = 0, inside = 0, launches = 0;
    int driver = 0;
    HY_CUDA(m->backend, cudaDriverGetVersion(&driver));
    HY_TRY(time_work(m, copy_up, &up));
    HY_TRY(time_work(m, copy_down, &down));
    HY_TRY(time_work(m, copy_both, &both));
    HY_TRY(time_work(m, copy_inside, &inside));
    HY_TRY(time_work(m, launch_many, &launches));
    out->h2d_Bps  = double(COPY_BYTES) / up;
    out->d2h_Bps  = double(COPY_BYTES) / down;
    out->both_Bps = 2 * double(COPY_BYTES) / both;
    out->mem_Bps  = 2.0 * MEM_COPIES * double(MEM_BYTES) / inside;
    out->launch_s = launches / LAUNCHES;
    out->driver   = driver;
    return HYBRID_OK;
}

} // namespace

hybrid_status hy_cuda_measure(hy_backend *self, hy_measured *out)
{
    measuring m = {};
    m.backend   = self;
    (void)hy_cuda_await_loads(hy_cuda_mine(self));
    hybrid_status status = hy_cuda_enter(hy_cuda_mine(self));
    if (status == HYBRID_OK)
        status = open_measuring(self, &m);
    if (status == HYBRID_OK)
        status = measure(&m, out);
    close_measuring(self, &m);
    return status == HYBRID_OK ? hy_cuda_measure_blocks(self, self->blocks) : status;
}
