/* gpu/papers/hrpb_shared.cuh - the kernel of cuTeSpMM (Algorithm 1 of the paper): a block
   of A, and the rows of X that it needs, pass through shared memory.

   A thread block takes a unit and up to 128 columns of X, of which each warp has
   PAPER_TILES tiles. Loads and multiplications of a block take turns, as in the paper.
   The parts of a panel are added as in the other kernel, not by atomic additions. */
#ifndef HY_HRPB_SHARED_CUH
#define HY_HRPB_SHARED_CUH

#include "gpu/papers/hrpb_mma.cuh"
#include "gpu/papers/hrpb_model.cuh"
#include "gpu/papers/hrpb_rows.cuh"

namespace hrpb
{

struct shared_block {
    int32_t word[BLOCK_WORDS];
    float val[HY_HRPB_ROWS * HY_HRPB_COLS];
    /* The columns that pad each row of x let the lanes of a warp read a brick's rows of X
       from 32 different banks of shared memory. */
    float x[HY_HRPB_COLS][WARPS * 8 * PAPER_TILES + 8];
};

/* Loads block b of A, and `width` columns of its rows of X from column j on. Columns
   beyond the last are zeros. */
__device__ inline void block_load(const operands<float> &o, int b, int64_t j, int width,
                                  shared_block *s)
{
    const int thread = int(threadIdx.x), threads = int(blockDim.x);
    int count = 0;
    __syncthreads(); /* until here, warps may read the previous block in *s */
    if (thread < BLOCK_WORDS)
        s->word[thread] = o.block[int64_t(b) * BLOCK_WORDS + thread];
    __syncthreads();
    for (int i = 0; i < 2 * HY_HRPB_BRICKS; i++)
        count += __popc(s->word[BITS + i]);
    for (int i = thread; i < count; i += threads)
        s->val[i] = o.val[s->word[FIRST] + i];
    for (int r = thread / WARP; r < HY_HRPB_COLS; r += threads / WARP) {
        const float *from = o.x + int64_t(uint32_t(s->word[r])) * o.ld + j;
        for (int c = thread % WARP; c < width; c += WARP)
            s->x[r][c] = j + c < o.n ? from[c] : 0;
    }
    __syncthreads();
}

/* Adds the block's product with TILES tiles, which begin at column `first` of s.x. */
template <int TILES>
__device__ void block_add(const shared_block &s, int first, float (*sum)[4])
{
    const int lane     = int(threadIdx.x) % WARP;
    const unsigned own = 1u << lane;
    int at             = 0; /* index in s.val of the first value of the pattern's word
                               that is read next */
    for (int b = 0; b < HY_HRPB_BRICKS; b += 2) {
        brick_pair<float, TILES> p;
        p.any = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const unsigned bits = unsigned(s.word[BITS + 2 * b + i]);
            p.a[i]              = bits & own ? s.val[at + __popc(bits & (own - 1))] : 0;
            p.any |= bits;
            at += __popc(bits);
        }
#pragma unroll
        for (int i = 0; i < 2 * TILES; i++)
            p.x[i / 2][i % 2] = s.x[HY_HRPB_BRICK * (b + i % 2) + lane % HY_HRPB_BRICK]
                                   [first + i / 2 * 8 + lane / HY_HRPB_BRICK];
        if (p.any)
            add_product<true>(p, sum);
    }
}

/* Block (x, y) computes unit x in rounds y, y + gridDim.y, ... over the columns. */
template <int TILES>
__global__ void __launch_bounds__(HY_HRPB_THREADS) shared_kernel(const operands<float> o)
{
    __shared__ shared_block s;
    const int width      = int(blockDim.x) / WARP * 8 * TILES;
    const int first      = int(threadIdx.x) / WARP * 8 * TILES;
    const hy_hrpb_unit u = o.unit[blockIdx.x];
    for (int64_t j = int64_t(blockIdx.y) * width; j < o.n;
         j += int64_t(gridDim.y) * width) {
        float sum[TILES][4] = {};
        for (int b = u.begin; b < u.end; b++) {
            block_load(o, b, j, width, &s);
            block_add<TILES>(s, first, sum);
        }
        const int64_t j0 = j + first;
        if (all_finite<float, TILES>(sum))
            store_tiles<float, 1, TILES>(o, u, j0, sum);
        else
            add_brick_rows<float, 1>(o, u, j0 + threadIdx.x % WARP,
                                     min(j0 + 8 * TILES, o.n));
    }
}

template <int TILES> void launch_shared(hy_lane *lane, const operands<float> &o)
{
    const int64_t all    = (o.n + 8 * TILES - 1) / (8 * TILES);
    const unsigned warps = unsigned(hy_min(all, WARPS));
    const dim3 grid(hy_blocks(o.units, 1), hy_blocks(all, int(warps), MAX_ROUNDS));
    shared_kernel<TILES><<<grid, WARP * warps, 0, hy_stream(lane)>>>(o);
}

inline void launch_paper(hy_lane *lane, const operands<float> &o)
{
    const int tiles = tiles_for(HYBRID_F32, o.n, true);
    if (tiles == 4)
        launch_shared<4>(lane, o);
    else if (tiles == 2)
        launch_shared<2>(lane, o);
    else
        launch_shared<1>(lane, o);
}

} // namespace hrpb

#endif /* HY_HRPB_SHARED_CUH */
