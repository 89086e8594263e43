/* gpu/backend/cuda_scan.cuh - prefix sums over the threads of a warp and of a block. */
#ifndef HY_CUDA_SCAN_CUH
#define HY_CUDA_SCAN_CUH

constexpr unsigned HY_ALL = 0xffffffffu; /* mask of all 32 threads (lanes) of a warp */

/* Returns the sum of `mine` over the threads of the warp with lower numbers, and sets
 *sum to the sum over all 32. */
__device__ inline int warp_scan(int mine, int *sum)
{
    const int lane = threadIdx.x % 32;
    int upto       = mine;
    for (int d = 1; d < 32; d *= 2) {
        const int left = __shfl_up_sync(HY_ALL, upto, d);
        if (lane >= d)
            upto += left;
    }
    *sum = __shfl_sync(HY_ALL, upto, 31);
    return upto - mine;
}

/* Returns the sum of `mine` over the threads of the block with lower numbers, and sets
 *sum to the sum over all threads. All threads must call it. */
template <int THREADS> __device__ int block_scan(int mine, int *sum)
{
    constexpr int WARPS = THREADS / 32;
    /* aligned, because the compiler reads it in vectors that extend beyond its end */
    __shared__ alignas(16) int part[WARPS];
    int in_warp, total = 0, before = 0;
    const int rank = warp_scan(mine, &in_warp);
    __syncthreads(); /* until here, threads may read `part` of the previous scan */
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = in_warp;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) {
        if (w == int(threadIdx.x) / 32)
            before = total;
        total += part[w];
    }
    *sum = total;
    return before + rank;
}

#endif /* HY_CUDA_SCAN_CUH */
