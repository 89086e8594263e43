/* gpu/backend/cuda_hash.cu - hashes a pattern in device memory as base/data/csr_hash.c
   does.

   A block is HY_HASH_BLOCK offsets or columns. Its hash has HY_HASH_LANES chains of words
   that do not depend on each other; a thread computes one chain. */
#include "base/data/hash_words.h"
#include "gpu/backend/cuda_backend.cuh"
#include "gpu/backend/cuda_tuning.h"

/* Adds the hash of a block of offsets or columns to *sum, if the block is `inside` the
   array. `lane` is the hash of one chain of the block, which this thread computed; eight
   neighbouring threads have the eight chains. `seed` identifies the block. All threads of
   the warp call it. */
static __device__ void add_block(uint64_t lane, uint64_t seed, bool inside,
                                 unsigned long long *sum)
{
    for (int i = 0; i < HY_HASH_LANES; i++)
        seed = hy_hash_mixed(seed, __shfl_sync(0xffffffff, lane, i, HY_HASH_LANES));
    if (inside && threadIdx.x % HY_HASH_LANES == 0)
        atomicAdd(sum, static_cast<unsigned long long>(hy_hash_mixed(seed, HY_HASH_ODD)));
}

static __device__ int64_t block_begin()
{
    const int64_t thread = int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x;
    return thread / HY_HASH_LANES * HY_HASH_BLOCK;
}

template <typename T>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    hash_offsets(const T *offsets, int64_t count, unsigned long long *sum)
{
    const int64_t begin = block_begin();
    const int64_t end   = begin + HY_HASH_BLOCK < count ? begin + HY_HASH_BLOCK : count;
    uint64_t lane       = 0;
    for (int64_t i = begin + threadIdx.x % HY_HASH_LANES; i < end; i += HY_HASH_LANES)
        lane = hy_hash_mixed(lane, uint64_t(int64_t(offsets[i])));
    add_block(lane, 2 * uint64_t(begin), begin < count, sum);
}

/* Adds the hashes of all blocks of columns to *sum. Columns of 32 and 64 bits give the
   same hash. */
template <typename T>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    hash_columns(const T *col, int64_t count, unsigned long long *sum)
{
    const int64_t begin = block_begin();
    const int64_t end   = begin + HY_HASH_BLOCK < count ? begin + HY_HASH_BLOCK : count;
    const int mine      = int(threadIdx.x % HY_HASH_LANES);
    uint64_t lane       = 0;
    int64_t k           = begin;
    for (; k + 2 * HY_HASH_LANES <= end; k += 2 * HY_HASH_LANES) {
        const uint64_t low = uint32_t(col[k + 2 * mine]);
        lane = hy_hash_mixed(lane, low | uint64_t(uint32_t(col[k + 2 * mine + 1])) << 32);
    }
    for (k += mine; k < end; k += HY_HASH_LANES)
        lane = hy_hash_mixed(lane, uint32_t(col[k]));
    add_block(lane, 2 * uint64_t(begin) + 1, begin < count, sum);
}

static unsigned blocks_for(int64_t count)
{
    const int64_t of_words = (count + HY_HASH_BLOCK - 1) / HY_HASH_BLOCK;
    return hy_blocks(of_words * HY_HASH_LANES, HY_CUDA_THREADS);
}

static void launch(const hybrid_csr *A, unsigned long long *sum, cudaStream_t stream)
{
    const unsigned rows = blocks_for(A->rows + 1);
    if (A->offset_type == HYBRID_I64)
        hash_offsets<<<rows, HY_CUDA_THREADS, 0, stream>>>(
            static_cast<const int64_t *>(A->row_ptr), A->rows + 1, sum);
    else
        hash_offsets<<<rows, HY_CUDA_THREADS, 0, stream>>>(
            static_cast<const int32_t *>(A->row_ptr), A->rows + 1, sum);
    if (A->nnz > 0 && A->col_type == HYBRID_I64)
        hash_columns<<<blocks_for(A->nnz), HY_CUDA_THREADS, 0, stream>>>(
            static_cast<const int64_t *>(A->col), A->nnz, sum);
    else if (A->nnz > 0)
        hash_columns<<<blocks_for(A->nnz), HY_CUDA_THREADS, 0, stream>>>(
            static_cast<const int32_t *>(A->col), A->nnz, sum);
}

static hybrid_status hash_to(hy_backend *self, const hybrid_csr *A,
                             unsigned long long *sum, uint64_t *out)
{
    const cudaStream_t stream = hy_cuda_mine(self)->clock;
    HY_CUDA(self, cudaMemsetAsync(sum, 0, sizeof *sum, stream));
    launch(A, sum, stream);
    HY_TRY(hy_cuda_check(self, cudaGetLastError(), "hashing a pattern"));
    HY_CUDA(self, cudaMemcpyAsync(out, sum, sizeof *sum, cudaMemcpyDefault, stream));
    HY_CUDA(self, cudaStreamSynchronize(stream));
    return HYBRID_OK;
}

hybrid_status hy_cuda_hash(hy_backend *self, const hybrid_csr *A, uint64_t *out)
{
    hy_buffer word = {};
    HY_TRY(hy_cuda_enter(hy_cuda_mine(self)));
    HY_TRY(self->ops->alloc(self, HY_DEVICE, sizeof(uint64_t), "the hash of a pattern",
                            &word));
    const hybrid_status status =
        hash_to(self, A, static_cast<unsigned long long *>(word.ptr), out);
    self->ops->free(self, &word);
    return status;
}
