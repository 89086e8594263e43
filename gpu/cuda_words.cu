/* gpu/cuda_words.cu - small numbers that a copy would be the wrong way for. */
#include "gpu/cuda_lane.cuh"
#include "gpu/cuda_tuning.h"

static __global__ void publish(int64_t *to, const int64_t *from)
{
    *to = *from;
}

hybrid_status hy_publish(hy_lane *self, int64_t *to, const int64_t *from)
{
    publish<<<1, 1, 0, hy_stream(self)>>>(to, from);
    return hy_launched(self, "publish");
}

template <typename T>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    rebase_offsets(int64_t *dst, const T *src, int64_t count, int64_t base)
{
    const int64_t i = int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x;
    if (i < count)
        dst[i] = src[i] - base;
}

void hy_words_load()
{
    hy_load(publish);
    hy_load(rebase_offsets<int64_t>);
}

template <typename T>
static void launch_rebase(hy_lane *self, int64_t *dst, const void *src, int64_t count,
                          int64_t base)
{
    rebase_offsets<<<hy_blocks(count, HY_CUDA_THREADS), HY_CUDA_THREADS, 0,
                     hy_stream(self)>>>(dst, static_cast<const T *>(src), count, base);
}

hybrid_status hy_rebase(hy_lane *self, int64_t *dst, const void *src,
                        hybrid_index src_type, int64_t count, int64_t base)
{
    HY_TRY(hy_lane_enter(self));
    if (src_type == HYBRID_I64)
        launch_rebase<int64_t>(self, dst, src, count, base);
    else
        launch_rebase<int32_t>(self, dst, src, count, base);
    return hy_launched(self, "rebase_offsets");
}
