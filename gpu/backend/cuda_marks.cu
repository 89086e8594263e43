/* gpu/backend/cuda_marks.cu - marks of the CUDA backend, and the clock that dates
   them. */
#include <time.h>

#include "base/threads/clock.h"
#include "base/threads/pool.h"
#include "gpu/backend/cuda_backend.cuh"
#include "gpu/backend/cuda_tuning.h"

struct hy_mark {
    cuda_backend *owner;
    cudaEvent_t timed, untimed;
    cudaEvent_t event;
};

/* ---- marks ---- */

void hy_cuda_mark_free(hy_mark *mark)
{
    if (!mark)
        return;
    (void)cudaSetDevice(mark->owner->device);
    if (mark->timed)
        (void)cudaEventDestroy(mark->timed);
    if (mark->untimed)
        (void)cudaEventDestroy(mark->untimed);
    (void)cudaGetLastError();
    hy_array_free(mark->owner->base.ctx, mark);
}

hybrid_status hy_cuda_mark_new(hy_backend *self, hy_mark **out)
{
    hy_context *ctx = self->ctx;
    void *room      = nullptr;
    HY_TRY(hy_cuda_enter(hy_cuda_mine(self)));
    HY_TRY(hy_array(ctx, 1, sizeof(hy_mark), "a mark", &room));
    hy_mark *mark     = static_cast<hy_mark *>(room);
    *mark             = hy_mark{hy_cuda_mine(self), nullptr, nullptr, nullptr};
    cudaError_t error = cudaEventCreateWithFlags(&mark->timed, cudaEventDefault);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&mark->untimed, cudaEventDisableTiming);
    mark->event = mark->timed;
    if (error == cudaSuccess)
        *out = mark;
    else
        hy_cuda_mark_free(mark);
    return hy_cuda_check(self, error, "cudaEventCreateWithFlags");
}

static hybrid_status set(hy_lane *self, hy_mark *mark, cudaEvent_t event)
{
    HY_TRY(hy_lane_enter(self));
    mark->event = event;
    HY_CUDA(self->backend, cudaEventRecord(event, hy_stream(self)));
    return HYBRID_OK;
}

hybrid_status hy_cuda_mark_set(hy_lane *self, hy_mark *mark)
{
    return set(self, mark, mark->timed);
}

hybrid_status hy_cuda_mark_untimed(hy_lane *self, hy_mark *mark)
{
    return set(self, mark, mark->untimed);
}

hybrid_status hy_cuda_lane_wait(hy_lane *self, hy_mark *mark)
{
    HY_TRY(hy_lane_enter(self));
    HY_CUDA(self->backend, cudaStreamWaitEvent(hy_stream(self), mark->event, 0));
    return HYBRID_OK;
}

/* Polls for the mark, because a thread that is woken by an interrupt was seen to wake 2
   ms late. If the pool of CPU threads has at least HY_SPIN_THREADS workers, polls without
   a pause for HY_SPIN_NS. After that it pauses between polls for 1/16 of the time waited,
   at least 10 us and at most 500 us. */
hybrid_status hy_cuda_host_wait(hy_mark *mark)
{
    cuda_backend *b = mark->owner;
    HY_TRY(hy_cuda_enter(b));
    const bool spins    = hy_pool_threads(b->base.ctx->pool) >= HY_SPIN_THREADS;
    const int64_t start = hy_now_ns();
    for (;;) {
        const cudaError_t error = cudaEventQuery(mark->event);
        if (error != cudaErrorNotReady)
            return hy_cuda_check(&b->base, error, "work on the device");
        const int64_t waited = hy_now_ns() - start;
        if (spins && waited < HY_SPIN_NS)
            continue;
        const int64_t pause = waited / 16 < 10000    ? 10000
                              : waited / 16 < 500000 ? waited / 16
                                                     : 500000;
        const timespec rest = {0, long(pause)};
        nanosleep(&rest, nullptr);
    }
}

hybrid_status hy_cuda_mark_reached(hy_mark *mark, int *out)
{
    HY_TRY(hy_cuda_enter(mark->owner));
    const cudaError_t error = cudaEventQuery(mark->event);
    *out                    = error == cudaSuccess;
    if (error != cudaErrorNotReady)
        return hy_cuda_check(&mark->owner->base, error, "work on the device");
    (void)cudaGetLastError();
    return HYBRID_OK;
}

/* ---- time ---- */

/* Stores in *b an event of the device (`epoch`) and the host's time at that event
   (`epoch_ns`). Makes four tries and uses the one that took the host least time, because
   its error is smallest. */
hybrid_status hy_cuda_set_epoch(cuda_backend *b)
{
    int64_t best = INT64_MAX;
    for (int tries = 0; tries < 4; tries++) {
        cudaEvent_t event = nullptr;
        HY_CUDA(&b->base, cudaEventCreate(&event));
        const int64_t before = hy_now_ns();
        cudaError_t error    = cudaEventRecord(event, b->clock);
        if (error == cudaSuccess)
            error = cudaEventSynchronize(event);
        const int64_t took = hy_now_ns() - before;
        if (error == cudaSuccess && took < best) {
            best              = took;
            b->epoch_ns       = before + took / 2;
            cudaEvent_t older = b->epoch;
            b->epoch          = event;
            event             = older;
        }
        if (event)
            (void)cudaEventDestroy(event);
        HY_TRY(hy_cuda_check(&b->base, error, "reading the device's clock"));
    }
    return HYBRID_OK;
}

/* CUDA returns elapsed times as floats of milliseconds, which are exact to 0.25 us within
   4 s. If the mark is more than 4 s after the epoch, a new epoch is taken. Returns 0 if
   CUDA cannot tell the time. */
int64_t hy_cuda_mark_ns(const hy_mark *mark)
{
    constexpr float NEAR_MS = 4000;
    cuda_backend *b         = mark->owner;
    float ms                = 0;
    (void)cudaSetDevice(b->device);
    pthread_mutex_lock(&b->lock);
    cudaError_t error = cudaEventElapsedTime(&ms, b->epoch, mark->timed);
    if (error == cudaSuccess && ms > NEAR_MS && hy_cuda_set_epoch(b) == HYBRID_OK)
        error = cudaEventElapsedTime(&ms, b->epoch, mark->timed);
    const int64_t ns = b->epoch_ns + int64_t(double(ms) * 1e6);
    pthread_mutex_unlock(&b->lock);
    (void)cudaGetLastError();
    return error == cudaSuccess ? ns : 0;
}
