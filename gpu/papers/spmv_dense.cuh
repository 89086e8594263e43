/* gpu/papers/spmv_dense.cuh - kernels of SpMV in blocks on a dense matrix, for measuring
   the execution model (partition/blocks/choi_model.h). */
#ifndef HY_SPMV_DENSE_CUH
#define HY_SPMV_DENSE_CUH

#include "gpu/papers/spmv_blocks.cuh"

/* A dense matrix of blocks of r x c, and room for the arrays of the format. */
struct hy_dense_blocks {
    hybrid_type type;
    hy_block_shape shape;
    int threads;           /* R: threads of a thread block */
    int64_t thread_blocks; /* L: number of thread blocks */
    int64_t steps;         /* N: blocks of r x c of each thread */
    void *index;           /* hy_dense_index_bytes() bytes: the arrays of the format
                              besides columns and values */
    int32_t *col;          /* first column of each block of r x c */
    const void *val, *x;
    void *y;
};

/* Functions of a format (BELLPACK or BCSR) for a dense matrix. `fill` enqueues the
   writing of index and col, and `launch` the kernel. `registers` sets *out to the
   registers of a thread of that kernel. */
struct hy_dense_kernel {
    hy_choi_format format;
    size_t (*index_bytes)(const hy_dense_blocks *d);
    hybrid_status (*fill)(hy_lane *lane, const hy_dense_blocks *d);
    hybrid_status (*launch)(hy_lane *lane, const hy_dense_blocks *d);
    hybrid_status (*registers)(const hy_backend *device, const hy_dense_blocks *d,
                               int *out);
};

extern const hy_dense_kernel hy_bellpack_dense, hy_bcsr_dense;

/* The functions `launch` and `registers` of a format (hy_dense_kernel), made from its
   class Launcher. Launcher<T> has of_dense(), which returns the launcher for a dense
   matrix, run<ROWS, COLS>(), and kernel<ROWS, COLS>(), the kernel that run() launches. */
namespace dense
{

template <typename L> struct asking {
    cudaFuncAttributes *out;
    cudaError_t *error;

    template <int ROWS, int COLS> void run() const
    {
        *error = cudaFuncGetAttributes(out, L::template kernel<ROWS, COLS>());
    }
};

/* Functions of a kernel for one value type, which launch() and registers() select. */
template <template <typename> class Launcher> struct instances {
    template <typename T> static void launch(hy_lane *lane, const hy_dense_blocks *d)
    {
        blocks::with_shape(d->shape, Launcher<T>::of_dense(lane, d));
    }

    template <typename T>
    static void ask(const hy_dense_blocks *d, cudaFuncAttributes *out, cudaError_t *error)
    {
        blocks::with_shape(d->shape, asking<Launcher<T>>{out, error});
    }
};

template <template <typename> class Launcher>
hybrid_status launch(hy_lane *lane, const hy_dense_blocks *d)
{
    HY_CALL_BY_TYPE(d->type, instances<Launcher>::template launch, lane, d);
    return hy_launched(lane, "spmv_dense");
}

template <template <typename> class Launcher>
hybrid_status registers(const hy_backend *device, const hy_dense_blocks *d, int *out)
{
    cudaFuncAttributes found = {};
    cudaError_t error        = cudaSuccess;
    HY_CALL_BY_TYPE(d->type, instances<Launcher>::template ask, d, &found, &error);
    HY_CUDA(device, error);
    *out = found.numRegs;
    return HYBRID_OK;
}

} // namespace dense

#endif /* HY_SPMV_DENSE_CUH */
