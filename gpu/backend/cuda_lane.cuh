/* gpu/backend/cuda_lane.cuh - the part of the CUDA backend that variants use. */
#ifndef HY_CUDA_LANE_CUH
#define HY_CUDA_LANE_CUH

#include <cuda_runtime.h>

#include "base/contract/backend.h"

/* Returns HYBRID_OK, or DEVICE_FAILED with a message that names the device and `call`. */
hybrid_status hy_cuda_check(const hy_backend *device, cudaError_t error,
                            const char *call);

/* Returns from the calling function unless the CUDA call for `device`, a backend,
   succeeded. */
#define HY_CUDA(device, call) HY_TRY(hy_cuda_check((device), (call), #call))

/* Makes the lane's device current in this thread and clears a pending CUDA error. Call it
   before the first launch. */
hybrid_status hy_lane_enter(hy_lane *lane);
cudaStream_t hy_stream(const hy_lane *lane);
int hy_width(const hy_lane *lane); /* number of multiprocessors of the device */

/* hy_fork() sets *side to a second stream. Work launched into it runs beside the lane's
   own stream, after all earlier work of the lane. hy_join() makes the lane wait for the
   side stream. A lane has one side stream, and hy_fork() may not be called again before
   hy_join(). */
hybrid_status hy_fork(hy_lane *lane, cudaStream_t *side);
hybrid_status hy_join(hy_lane *lane);

/* Returns the status of the launch just made. `what` names the kernel. */
hybrid_status hy_launched(hy_lane *lane, const char *what);

/* Enqueues a kernel that sets *to = *from; `to` is a word of pinned memory. A copy would
   instead wait behind the large copy that occupies the copy engine of that direction. */
hybrid_status hy_publish(hy_lane *lane, int64_t *to, const int64_t *from);

/* Enqueues a kernel that sets to[i] = from[i] - base, for offsets
   (hy_backend_ops.rebase). */
hybrid_status hy_rebase(hy_lane *lane, const hy_rebasing *r);

/* Enqueues to = alpha * from + beta * to for dense matrices in device memory
   (hy_backend_ops.combine). */
hybrid_status hy_cuda_combine(hy_lane *lane, const hy_combining *c);

/* Load kernels for the device of the calling thread: those of spgemm.cuda.hash, which may
   be launched only afterwards, and those of cuda_words.cu. */
cudaError_t hy_hash_load(int device);
void hy_words_load();

/* Waits until the kernels of hy_hash_load() and hy_words_load() are loaded on the lane's
   device, and returns the status. */
hybrid_status hy_lane_loaded(hy_lane *lane);

/* Loads a kernel in advance. Otherwise its first launch loads it, which takes 0.3 ms.
   Errors are ignored here, because the launch reports them. */
template <typename K> void hy_load(K *kernel)
{
    cudaFuncAttributes attributes;
    (void)cudaFuncGetAttributes(&attributes, kernel);
}

/* Enqueues the transposition of a dense matrix in device memory
   (hy_backend_ops.transpose). */
hybrid_status hy_cuda_transpose(hy_lane *lane, const hy_transposition *t);

/* Enqueues products[i] = number of scalar products of row i of A*B
   (hy_backend_ops.products). */
hybrid_status hy_count_products(hy_lane *lane, int64_t rows, const int64_t *a_row_ptr,
                                const int32_t *a_col, const int64_t *b_row_ptr,
                                uint32_t *products);

/* Enqueues the copy of rows of B from pinned host memory (hy_backend_ops.collect). */
hybrid_status hy_cuda_collect(hy_lane *lane, const hy_collecting *c);

/* Enqueues the delta coding of the first *count of `numbers`
   (hy_backend_ops.code_deltas). */
hybrid_status hy_code_deltas(hy_lane *lane, const int32_t *numbers, const int64_t *count,
                             int64_t most, void *coded, int64_t *units);

/* The functions lane_open, borrow, lane_close, lane_drain, copy, reads, copy_peer and
   copy_rows of hy_backend_ops, in this order. */
hybrid_status hy_cuda_lane_open(hy_backend *self, const char *name, int urgent,
                                hy_lane **out);
hybrid_status hy_cuda_borrow(hy_backend *self, void *stream, hy_lane **out);
void hy_cuda_lane_close(hy_lane *self);
void hy_cuda_lane_drain(hy_lane *self);
hybrid_status hy_cuda_lane_copy(hy_lane *self, void *dst, const void *src, size_t bytes);
int hy_cuda_reads(hy_backend *self, const hy_backend *other);
hybrid_status hy_cuda_lane_copy_peer(hy_lane *self, void *dst, const hy_backend *other,
                                     const void *src, size_t bytes);
hybrid_status hy_cuda_lane_copy_rows(hy_lane *self, const hy_row_copy *rows);

/* Returns how many thread blocks n items need if each takes `per` items: at least 1 and
   at most `limit`. */
inline unsigned hy_blocks(int64_t n, int64_t per, int64_t limit = INT32_MAX)
{
    const int64_t blocks = (n + per - 1) / per;
    return unsigned(blocks < 1 ? 1 : blocks < limit ? blocks : limit);
}

#endif /* HY_CUDA_LANE_CUH */
