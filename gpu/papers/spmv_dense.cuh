/* gpu/papers/spmv_dense.cuh - kernels of SpMV in blocks on a dense matrix, for measuring
   the execution model (partition/blocks/choi_model.h). */
#ifndef HY_SPMV_DENSE_CUH
#define HY_SPMV_DENSE_CUH

#include "gpu/backend/cuda_lane.cuh"
#include "partition/blocks/block_choice.h"

/* A dense matrix of blocks of r x c, and room for the arrays of the format. */
struct hy_dense_blocks {
    hybrid_type type;
    hy_block_shape shape;
    int threads;           /* R: threads of a thread block */
    int64_t thread_blocks; /* L: number of thread blocks */
    int64_t steps;         /* N: blocks of r x c of each thread */
    void *index;           /* hy_dense_index_bytes() bytes: what the format needs besides
                              columns and values */
    int32_t *col;          /* first column of each block of r x c */
    const void *val, *x;
    void *y;
};

/* Functions of a format. `fill` enqueues the writing of index and col, and `launch` the
   kernel. `registers` sets *out to the registers of a thread of that kernel. */
struct hy_dense_kernel {
    hy_choi_format format;
    size_t (*index_bytes)(const hy_dense_blocks *d);
    hybrid_status (*fill)(hy_lane *lane, const hy_dense_blocks *d);
    hybrid_status (*launch)(hy_lane *lane, const hy_dense_blocks *d);
    hybrid_status (*registers)(hy_context *ctx, const hy_dense_blocks *d, int *out);
};

extern const hy_dense_kernel hy_bellpack_dense, hy_bcsr_dense;

#endif /* HY_SPMV_DENSE_CUH */
