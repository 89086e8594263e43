/* gpu/backend/cuda_words.cu - kernels that write one word or a chunk's offsets, where
   copies would be slow. */
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_tuning.h"

static __global__ void publish(int64_t *to, const int64_t *from)
{
    *to = *from;
}

hybrid_status hy_publish(hy_lane *self, int64_t *to, const int64_t *from)
{
    publish<<<1, 1, 0, hy_stream(self)>>>(to, from);
    return hy_launched(self, "publish");
}

template <typename T, typename F>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    rebase_offsets(T *dst, const F *src, int64_t count, int64_t base, const int *gate)
{
    const int64_t i = int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x;
    if (i < count)
        dst[i] = gate && *gate == 0 ? T(-1) : T(int64_t(src[i]) - base);
}

void hy_words_load()
{
    hy_load(publish);
    hy_load(rebase_offsets<int64_t, int64_t>);
}

template <typename T, typename F>
static void launch_rebase(hy_lane *self, const hy_rebasing *r)
{
    rebase_offsets<<<hy_blocks(r->count, HY_CUDA_THREADS), HY_CUDA_THREADS, 0,
                     hy_stream(self)>>>(static_cast<T *>(r->to),
                                        static_cast<const F *>(r->from), r->count,
                                        r->base, r->gate);
}

template <typename T> static void launch_to(hy_lane *self, const hy_rebasing *r)
{
    if (r->from_type == HYBRID_I64)
        launch_rebase<T, int64_t>(self, r);
    else
        launch_rebase<T, int32_t>(self, r);
}

hybrid_status hy_rebase(hy_lane *self, const hy_rebasing *r)
{
    HY_TRY(hy_lane_enter(self));
    if (r->to_type == HYBRID_I64)
        launch_to<int64_t>(self, r);
    else
        launch_to<int32_t>(self, r);
    return hy_launched(self, "rebase_offsets");
}
