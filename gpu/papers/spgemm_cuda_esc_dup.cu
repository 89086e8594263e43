/* gpu/papers/spgemm_cuda_esc_dup.cu - C = A*B as in hySpMM: the CPU duplicates rows of B.

   prepare()   CPU: for each entry of A the number of its products, and a copy of its row
               of B behind the previous one (partition/format/pack_dup.c)
   multiply()  C'[t] = a[owner(t)] * dup_B[t], in place; puts rows into bins;
               writes the sort keys of long rows (esc_expand.cuh)
   finish()    sorts by column within rows, adds equal columns, closes the gaps

   The GPU reads nothing through an index; B is neither on the device nor gathered. The
   price is bus traffic: 4 + s bytes for each product, where s is the bytes of a value.
   spgemm.cuda.esc sends as much for each entry of A. Sort and compress are those of esc
   (esc_sort.cuh).

   Blocks. The paper (Wu 2015, Eq. 5) cuts A and B into nb blocks, np of them in flight,
   such that for each block

       (nnz_A + nnz_B) / nb + nnz(C'_block) <= 0.9 M / np

   where M is the device memory in entries, nnz_B the entries of the rows of B that take
   part, and nnz(C'_block) is a bound on the products (here their exact number). Chunks
   here fit slots of M / np. Let e = 4 + s be the bytes of an entry, and n and p the
   entries of A and the products of a chunk. Its pack is at least e (n + p) and its
   scratch (hy_pack_dup_work) at least 11/9 e (n + p), so a chunk that fits its slot has n
   + p <= 0.45 M / np. Each entry of A brings a row of B, so nnz_B is at most the sum of
   p. The first term is therefore at most the mean of n + p over the chunks, which is at
   most 0.45 M / np. The second term is at most that as well.
   tests/unit/partition/test_esc_dup.c asserts the inequality.

   Source: X. Wu, Optimizing Sparse Matrix-Matrix Multiplication on a Heterogeneous
   CPU-GPU Platform, 2015. */
#include "base/data/csr.h"
#include "gpu/spgemm/esc_sort.cuh"

/* ---- multiply ---- */

/* Multiplies the expanded values of B by the values of A, in place. Blocks take equal
   shares of scalar products, whatever the rows of B. A block finds the entries of A of
   its first and last product, and a thread searches between them. */
template <typename T>
__global__ void __launch_bounds__(HY_CUDA_THREADS)
    dup_multiply(const int *start, int nnz, int products, const T *a, T *val)
{
    __shared__ int owners[2];
    const int begin = blockIdx.x * HY_ESC_TILE;
    const int end   = min(begin + HY_ESC_TILE, products);

    if (threadIdx.x < 2)
        owners[threadIdx.x] = hy_owner(start, 0, nnz, threadIdx.x == 0 ? begin : end - 1);
    __syncthreads();
    for (int t = begin + threadIdx.x; t < end; t += HY_CUDA_THREADS)
        val[t] *= a[hy_owner(start, owners[0], owners[1] + 1, t)];
}

template <typename T> static hy_esc<T> esc_of(const hy_job *job)
{
    const hy_dup_view d = hy_packed_dup(job);
    hy_scratch temp;
    hy_esc<T> e = hy_esc_of<T>(job, &temp);

    e.expanded = d.row_start;
    e.b_col    = d.col;
    e.b_val    = static_cast<const T *>(d.val);
    return e;
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, const hy_job *job)
{
    const hy_dup_view d = hy_packed_dup(job);

    if (d.products > 0) {
        dup_multiply<<<hy_blocks(d.products, HY_ESC_TILE), HY_CUDA_THREADS, 0,
                       hy_stream(lane)>>>(d.start, int(d.nnz), int(d.products),
                                          static_cast<const T *>(d.a_val),
                                          static_cast<T *>(d.val));
        HY_TRY(hy_launched(lane, "dup_multiply"));
    }
    return hy_esc_bin_rows(lane, job, esc_of<T>(job));
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_esc_check(lane, job));
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->chunk->features.type, multiply_as, lane, job);
}

/* ---- finish ---- */

template <typename T> static hybrid_status finish_as(hy_lane *lane, hy_job *job)
{
    return hy_esc_finish(lane, job, esc_of<T>(job));
}

static hybrid_status finish(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->chunk->features.type, finish_as, lane, job);
}

/* ---- the variant ---- */

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const double value = double(hy_value_size(f->type));
    const size_t room  = hy_pack_dup_work(f);
    hy_cost c          = hy_esc_cost(f, r);

    if (c.work_bytes < room)
        c.work_bytes = room;
    c.pack_bytes = hy_pack_dup_bytes(f);
    c.prepare_s  = double(c.pack_bytes) / HY_PACK_BPS + HY_DUP_ROW_S * double(f->nnz);
    c.multiply_s += r->launch_s + double(f->products) * (4 + 2 * value) / r->mem_Bps;
    return c;
}

extern "C" const hy_variant hy_spgemm_cuda_esc_dup = {
    .name    = "spgemm.cuda.esc_dup",
    .summary = "the CPU duplicates rows of B; multiply, sort and add without indirection",
    .source  = "Wu 2015 (hySpMM)",
    .op      = HY_SPGEMM,
    .in_place = 0,
    .by_name  = 1,
    .refuse   = hy_esc_refuse,
    .cost     = cost,
    .prepare  = hy_pack_dup,
    .multiply = multiply,
    .finish   = finish,
};
