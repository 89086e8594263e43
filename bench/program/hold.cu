/* bench/program/hold.cu - delays copies to the device until more work is enqueued.

   Two events on an idle device measure not only the kernel between them but also the time
   in which the host enqueues it: 5 to 15 us, more than a small product takes. Copies that
   are enqueued during a long copy wait for its end. So the host enqueues all of the work
   behind them before this work begins. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/program/baselines.cuh"

/* bytes of the long copy, which takes 0.4 ms at 55 GB/s */
enum { HOLD_BYTES = 24 << 20 };

struct peer_hold {
    cudaStream_t stream;
    cudaEvent_t end;
    void *from, *to;
};

static bool open(peer_hold *h)
{
    return cudaStreamCreateWithFlags(&h->stream, cudaStreamNonBlocking) == cudaSuccess &&
           cudaEventCreateWithFlags(&h->end, cudaEventDisableTiming) == cudaSuccess &&
           cudaMallocHost(&h->from, HOLD_BYTES) == cudaSuccess &&
           cudaMalloc(&h->to, HOLD_BYTES) == cudaSuccess;
}

peer_hold *peer_hold_open(void)
{
    peer_hold *h = static_cast<peer_hold *>(calloc(1, sizeof *h));

    if (h && open(h))
        return h;
    peer_hold_close(h);
    return NULL;
}

void peer_hold_close(peer_hold *h)
{
    if (!h)
        return;
    if (h->stream)
        (void)cudaStreamDestroy(h->stream);
    if (h->end)
        (void)cudaEventDestroy(h->end);
    (void)cudaFreeHost(h->from);
    (void)cudaFree(h->to);
    (void)cudaGetLastError(); /* clears errors of the calls above, for a stream, event or
                                 memory that was never made */
    free(h);
}

int peer_hold_start(peer_hold *h)
{
    return cudaMemcpyAsync(h->to, h->from, HOLD_BYTES, cudaMemcpyHostToDevice,
                           h->stream) == cudaSuccess &&
                   cudaEventRecord(h->end, h->stream) == cudaSuccess
               ? 0
               : -1;
}

bool peer_held_clock_start(peer_device *d)
{
    if (!d->hold && !(d->hold = peer_hold_open())) {
        snprintf(d->error, sizeof d->error, "no memory to hold copies with");
        return false;
    }
    if (peer_hold_start(d->hold)) {
        CUDA_TRY(d, cudaGetLastError());
        return false;
    }
    CUDA_TRY(d, cudaStreamWaitEvent(cudaStreamLegacy, d->hold->end, 0));
    return peer_clock_start(d);
}
