/* gpu/move/cuda_collect.cu - reads rows of B from the caller's pinned memory.

   A thread block reads a range of entries, whatever rows they belong to, so that long and
   short rows take equally long. Each thread has several reads under way, because a read
   through the bus takes more than a microsecond. The kernel reads pinned memory at the
   addresses that the host uses (hy_backend.reads_host). */
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_search.cuh"
#include "gpu/backend/cuda_tuning.h"

namespace
{

constexpr int EACH = 4,                      /* entries that a thread reads at a time */
    RANGE          = EACH * HY_CUDA_THREADS, /* entries of a thread block's range */
    BLOCKS         = 4; /* thread blocks per multiprocessor; with more, kernels of other
                           chunks would wait */

struct collecting {
    int64_t rows, entries;
    const int64_t *row_ptr, *from;
    const int32_t *col;
    int32_t *to_col;
};

/* Reads entries [begin, end) of rows [first, last), at most RANGE. V is an integer as
   large as a value. */
template <typename V>
__device__ void read_range(const collecting &c, const V *val, V *to_val, int64_t begin,
                           int64_t end, int64_t first, int64_t last)
{
    int64_t from[EACH];
    int32_t col[EACH];
    V value[EACH];

    for (int i = 0; i < EACH; i++) {
        const int64_t entry = begin + i * HY_CUDA_THREADS + threadIdx.x;
        if (entry >= end)
            break;
        const int64_t row = hy_owner(c.row_ptr, first, last, entry);
        from[i]           = c.from[row] + entry - c.row_ptr[row];
    }
    for (int i = 0; i < EACH; i++)
        if (begin + i * HY_CUDA_THREADS + threadIdx.x < end) {
            col[i]   = c.col[from[i]];
            value[i] = val[from[i]];
        }
    for (int i = 0; i < EACH; i++) {
        const int64_t entry = begin + i * HY_CUDA_THREADS + threadIdx.x;
        if (entry < end) {
            c.to_col[entry] = col[i];
            to_val[entry]   = value[i];
        }
    }
}

template <typename V>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    collect(collecting c, const V *val, V *to_val)
{
    __shared__ int64_t rows[2]; /* first row of the range, and the row behind its last */
    const int64_t step = int64_t(gridDim.x) * RANGE;

    for (int64_t begin = int64_t(blockIdx.x) * RANGE; begin < c.entries; begin += step) {
        const int64_t end = begin + RANGE < c.entries ? begin + RANGE : c.entries;
        if (threadIdx.x < 2)
            rows[threadIdx.x] = hy_owner(c.row_ptr, int64_t{0}, c.rows,
                                         threadIdx.x == 0 ? begin : end - 1) +
                                threadIdx.x;
        __syncthreads();
        read_range(c, val, to_val, begin, end, rows[0], rows[1]);
        __syncthreads();
    }
}

template <typename V>
hybrid_status start(hy_lane *self, const collecting &rows, const hy_collecting *c)
{
    const int64_t most = int64_t(BLOCKS) * hy_width(self);

    collect<<<hy_blocks(rows.entries, RANGE, most), HY_CUDA_THREADS, 0,
              hy_stream(self)>>>(rows, static_cast<const V *>(c->val),
                                 static_cast<V *>(c->to_val));
    return hy_launched(self, "collect");
}

} // namespace

hybrid_status hy_cuda_collect(hy_lane *self, const hy_collecting *c)
{
    const collecting rows = {c->rows, c->entries, c->row_ptr, c->from, c->col, c->to_col};

    HY_TRY(hy_lane_enter(self));
    if (c->entries == 0)
        return HYBRID_OK;
    return c->size == sizeof(uint64_t) ? start<uint64_t>(self, rows, c)
                                       : start<uint32_t>(self, rows, c);
}
