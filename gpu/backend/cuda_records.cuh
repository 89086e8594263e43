/* gpu/backend/cuda_records.cuh - operands of a survey (counts for planning, made on the
   device), and the records of its thread blocks.

   A record is a hy_survey with what one thread block has found. Each thread block of a
   survey leaves one. The block that ends last adds up all records, always in the same
   order. */
#ifndef HY_CUDA_RECORDS_CUH
#define HY_CUDA_RECORDS_CUH

#include "gpu/backend/cuda_backend.cuh"
#include "gpu/backend/cuda_scan.cuh"
#include "gpu/backend/cuda_tuning.h"

namespace records
{

constexpr int THREADS = int(HY_CUDA_THREADS), WARPS = THREADS / 32;

struct indices {
    const void *at;
    bool wide; /* true: indices of 64 bits; false: of 32 bits */

    __device__ int64_t operator[](int64_t i) const
    {
        return wide ? static_cast<const int64_t *>(at)[i]
                    : int64_t(static_cast<const int32_t *>(at)[i]);
    }
};

struct operands {
    indices a_row, a_col, b_row, b_col;
    int64_t rows, inner, cols, nnz; /* A: rows x inner, nnz entries; B: inner x cols */
    int64_t b_nnz;                  /* entries of B; -1 if B is A or if there is no B */
    int64_t inner_nnz;              /* entries of B, or of A if B is A */
    unsigned *arrived;              /* number of thread blocks that have ended, in device
                                       memory; 0 between surveys */
    hy_survey *record, *out;        /* record: `records` elements, one for each thread
                                       block; out: their sum */
    int records;
    hy_survey expected; /* used with `gate`: *gate becomes 1 if the survey's result equals
                           this */
    int *gate;          /* word in device memory that the survey sets to 1 if it finds
                           `expected`, else to 0; nullptr: no such word */
};

__device__ inline int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

__device__ inline void add(hy_survey *sum, const hy_survey &s)
{
    sum->wrong |= s.wrong;
    sum->falls += s.falls;
    sum->longest = max_of(sum->longest, s.longest);
    sum->squares += s.squares;
    sum->products += s.products;
    sum->products_max = max_of(sum->products_max, s.products_max);
    sum->bound += s.bound;
    sum->drawn_products += s.drawn_products;
    sum->drawn_entries += s.drawn_entries;
}

/* Returns the `s` of another thread of the warp: the one with this thread's number XOR
   `apart`. */
__device__ inline hy_survey warp_read(const hy_survey &s, int apart)
{
    return {__shfl_xor_sync(HY_ALL, s.wrong, apart),
            __shfl_xor_sync(HY_ALL, s.falls, apart),
            __shfl_xor_sync(HY_ALL, s.longest, apart),
            __shfl_xor_sync(HY_ALL, s.squares, apart),
            __shfl_xor_sync(HY_ALL, s.products, apart),
            __shfl_xor_sync(HY_ALL, s.products_max, apart),
            __shfl_xor_sync(HY_ALL, s.bound, apart),
            __shfl_xor_sync(HY_ALL, s.drawn_products, apart),
            __shfl_xor_sync(HY_ALL, s.drawn_entries, apart)};
}

/* Returns, in thread 0, the sum of the records of all threads of a block, always added in
   the same order. */
__device__ inline hy_survey block_add(hy_survey s)
{
    __shared__ hy_survey of[WARPS];
    for (int apart = 16; apart > 0; apart /= 2)
        add(&s, warp_read(s, apart));
    __syncthreads(); /* until here, threads may read `of` of the previous call */
    if (threadIdx.x % 32 == 0)
        of[threadIdx.x / 32] = s;
    __syncthreads();
    for (int w = 1; w < WARPS && threadIdx.x == 0; w++)
        add(&s, of[w]);
    return s;
}

__device__ inline void leave_record(const operands &o, const hy_survey &mine, int64_t at)
{
    const hy_survey s = block_add(mine);
    if (threadIdx.x == 0)
        o.record[at] = s;
}

/* Called by all thread blocks of the last kernel. The block that ends last adds up all
   records. */
__device__ inline void finish(const operands &o)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(o.arrived, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return;
    hy_survey s = {};
    for (int i = int(threadIdx.x); i < o.records; i += THREADS) {
        const volatile hy_survey *from = o.record + i;
        add(&s,
            {from->wrong, from->falls, from->longest, from->squares, from->products,
             from->products_max, from->bound, from->drawn_products, from->drawn_entries});
    }
    s = block_add(s);
    if (threadIdx.x > 0)
        return;
    *o.out = s;
    if (o.gate)
        *o.gate = hy_survey_same(&s, &o.expected);
}

} // namespace records

#endif /* HY_CUDA_RECORDS_CUH */
