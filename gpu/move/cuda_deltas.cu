/* gpu/move/cuda_deltas.cu - encodes columns of C as differences
   (partition/move/deltas.h).

   A thread block encodes a frame, which is 1024 numbers, with four numbers for each
   thread. A prefix sum over the block gives the positions of the differences. The frame
   is put together in shared memory and written in whole units of 16 bytes. Frames are
   stored in the order in which they are finished.

   Lower bound for 1000 numbers: 1.5 ns, because 4 bytes are read and 1.25 to 2.3 bytes
   are written for each. Measured for 1000 numbers (C = A*A with the generated A
   er:1000000,8): about 6 ns, which save 30 to 50 ns of copying over the bus. */
#include "gpu/backend/cuda_lane.cuh"
#include "gpu/backend/cuda_scan.cuh"
#include "gpu/backend/cuda_tuning.h"
#include "partition/move/deltas.h"

constexpr int THREADS = HY_DELTA_LENS; /* threads of a thread block; each encodes four
                                          numbers */
constexpr int FRAME_BYTES = HY_DELTA_LENS + 4 * HY_DELTA_FRAME;

/* Returns numbers[at] to numbers[at + 3]. Elements from numbers[count] on are replaced by
   the last number, so that their differences are 0. */
static __device__ int4 load_four(const int32_t *numbers, int64_t at, int64_t count)
{
    if (at + 4 <= count)
        return __ldcs(reinterpret_cast<const int4 *>(numbers + at));
    const int32_t last = numbers[count - 1];
    return make_int4(at < count ? numbers[at] : last,
                     at + 1 < count ? numbers[at + 1] : last,
                     at + 2 < count ? numbers[at + 2] : last, last);
}

/* Returns numbers[at - 1], or 0 if number `at` is the first of a frame. `last` is the
   last of this thread's four numbers, which the next thread gets by a shuffle. */
static __device__ int32_t number_before(const int32_t *numbers, int64_t at, int64_t count,
                                        int32_t last)
{
    const int32_t before = __shfl_up_sync(HY_ALL, last, 1);
    if (threadIdx.x % 32 > 0)
        return before;
    return threadIdx.x == 0 ? 0 : numbers[min(at, count) - 1];
}

static __device__ int bytes_of(uint32_t difference)
{
    return (39 - __clz(int(difference | 1))) / 8;
}

/* Writes the lengths and differences of this thread's four numbers to the frame. Returns
   the size of the frame in bytes. */
static __device__ int fill_frame(unsigned char *frame, const int32_t *numbers, int64_t at,
                                 int64_t count)
{
    const int4 n                = load_four(numbers, at, count);
    const int32_t before        = number_before(numbers, at, count, n.w);
    const uint32_t difference[] = {
        uint32_t(n.x) - uint32_t(before), uint32_t(n.y) - uint32_t(n.x),
        uint32_t(n.z) - uint32_t(n.y), uint32_t(n.w) - uint32_t(n.z)};
    int length[4], lengths = 0, mine = 0, all;
    for (int i = 0; i < 4; i++) {
        length[i] = bytes_of(difference[i]);
        lengths |= (length[i] - 1) << (2 * i);
        mine += length[i];
    }
    unsigned char *to  = frame + HY_DELTA_LENS + block_scan<THREADS>(mine, &all);
    frame[threadIdx.x] = static_cast<unsigned char>(lengths);
    for (int i = 0; i < 4; to += length[i++])
        for (int byte = 0; byte < length[i]; byte++)
            to[byte] = static_cast<unsigned char>(difference[i] >> (8 * byte));
    return HY_DELTA_LENS + all;
}

/* Codes nothing if there are more than `most` numbers. The caller sets the first 16 bytes
   of `coded` to zero: they count the units of 16 bytes that frames take
   (partition/move/deltas.h). */
static __global__ void __launch_bounds__(THREADS)
    encode_deltas(const int32_t *numbers, const int64_t *count_at, int64_t most,
                  char *coded)
{
    __shared__ uint4 frame[(FRAME_BYTES + HY_DELTA_UNIT - 1) / HY_DELTA_UNIT];
    __shared__ unsigned start;
    const int64_t count = *count_at <= most ? *count_at : 0;
    uint4 *frames       = reinterpret_cast<uint4 *>(coded + hy_deltas_head(count));
    uint32_t *starts    = reinterpret_cast<uint32_t *>(coded + HY_DELTA_UNIT);
    for (int64_t f = blockIdx.x; f < hy_deltas_frames(count); f += gridDim.x) {
        const int64_t at = f * HY_DELTA_FRAME + 4 * int(threadIdx.x);
        const int bytes =
            fill_frame(reinterpret_cast<unsigned char *>(frame), numbers, at, count);
        const int units = (bytes + HY_DELTA_UNIT - 1) / HY_DELTA_UNIT;
        if (threadIdx.x == 0)
            starts[f] = start =
                unsigned(atomicAdd(reinterpret_cast<unsigned long long *>(coded), units));
        __syncthreads();
        for (int i = int(threadIdx.x); i < units; i += THREADS)
            frames[start + i] = frame[i];
        __syncthreads();
    }
}

hybrid_status hy_code_deltas(hy_lane *self, const int32_t *numbers, const int64_t *count,
                             int64_t most, void *coded, int64_t *units)
{
    const int64_t room = int64_t(hy_width(self)) * (HY_SM_THREADS / THREADS);
    HY_TRY(hy_lane_enter(self));
    HY_CUDA(self->backend,
            cudaMemsetAsync(coded, 0, hy_deltas_head(most), hy_stream(self)));
    encode_deltas<<<hy_blocks(hy_deltas_frames(most), 1, room), THREADS, 0,
                    hy_stream(self)>>>(numbers, count, most, static_cast<char *>(coded));
    HY_TRY(hy_launched(self, "code_deltas"));
    return hy_publish(self, units, static_cast<const int64_t *>(coded));
}
