/* gpu/backend/cuda_lane.cuh - what the CUDA variants know of the CUDA backend. */
#ifndef HY_CUDA_LANE_CUH
#define HY_CUDA_LANE_CUH

#include <cuda_runtime.h>

#include "base/contract/backend.h"

/* HYBRID_OK, or DEVICE_FAILED and a sentence that names the call. */
hybrid_status hy_cuda_check(hy_context *ctx, cudaError_t error, const char *call);

/* Return unless the CUDA call succeeded. */
#define HY_CUDA(ctx, call) HY_TRY(hy_cuda_check((ctx), (call), #call))

/* Make the lane's device current in this thread; call it before the first launch. */
hybrid_status hy_lane_enter(hy_lane *lane);
cudaStream_t hy_stream(const hy_lane *lane);
int hy_width(const hy_lane *lane); /* multiprocessors */

/* What is launched into *side from now on runs beside the lane's own stream, after all
   that is in it already; hy_join() makes the lane wait for it. One side, one fork at a
   time. */
hybrid_status hy_fork(hy_lane *lane, cudaStream_t *side);
hybrid_status hy_join(hy_lane *lane);

/* After a launch: whether it was accepted. `what` names the kernel. */
hybrid_status hy_launched(hy_lane *lane, const char *what);

/* Enqueue *to = *from, `to` a word of pinned memory. A kernel does it: a copy would wait
   behind the large one that the engine for that direction is busy with. */
hybrid_status hy_publish(hy_lane *lane, int64_t *to, const int64_t *from);

/* Enqueue hy_backend_ops.rebase. */
hybrid_status hy_rebase(hy_lane *lane, const hy_rebasing *r);

/* Enqueue hy_backend_ops.combine. */
hybrid_status hy_cuda_combine(hy_lane *lane, const hy_combining *c);

/* Load the kernels of spgemm.cuda.hash and of small numbers, for the device of the
   calling thread. Those of the former may be launched only after that. */
cudaError_t hy_hash_load(int device);
void hy_words_load();

/* Wait until they are loaded; what went wrong. */
hybrid_status hy_lane_loaded(hy_lane *lane);

/* A kernel is loaded when it is first used; the call that does so takes 0.3 ms. What goes
   wrong comes again when it is launched. */
template <typename K> void hy_load(K *kernel)
{
    cudaFuncAttributes attributes;
    (void)cudaFuncGetAttributes(&attributes, kernel);
}

/* Enqueue hy_backend_ops.turn. */
hybrid_status hy_cuda_transpose(hy_lane *lane, const hy_transposition *turning);

/* Enqueue hy_backend_ops.products. */
hybrid_status hy_count_products(hy_lane *lane, int64_t rows, const int64_t *a_row_ptr,
                                const int32_t *a_col, const int64_t *b_row_ptr,
                                uint32_t *products);

/* Enqueue hy_backend_ops.pack_deltas. */
hybrid_status hy_pack_deltas(hy_lane *lane, const int32_t *numbers, const int64_t *count,
                             int64_t most, void *packed, int64_t *units);

/* Blocks for n items, `per` of them each, at least 1 and at most `limit`. */
inline unsigned hy_blocks(int64_t n, int64_t per, int64_t limit = INT32_MAX)
{
    const int64_t blocks = (n + per - 1) / per;
    return unsigned(blocks < 1 ? 1 : blocks < limit ? blocks : limit);
}

#endif /* HY_CUDA_LANE_CUH */
