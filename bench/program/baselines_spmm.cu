/* bench/program/baselines_spmm.cu - Y = A*X and y = A*x with cuSPARSE's algorithms for
   CSR.

   If A was preprocessed, a long copy delays the timed work until the host has enqueued
   all of it (hold.cu). The time is then that of the kernels only. */
#include "bench/program/baselines.cuh"

static const cusparseOperation_t AS_IS = CUSPARSE_OPERATION_NON_TRANSPOSE;

/* ---- SpMM ------------------------------------------------------------------------- */

struct mm {
    cusparseConstSpMatDescr_t A;
    cusparseConstDnMatDescr_t X;
    cusparseDnMatDescr_t Y;
    cusparseSpMMAlg_t algorithm;
};

static bool open_mm(peer_device *d, int algorithm, mm *p)
{
    static const cusparseSpMMAlg_t algorithms[] = {
        CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2,
        CUSPARSE_SPMM_CSR_ALG3};
    const bool col_major        = d->problem->col_major;
    const int64_t n             = d->problem->cols;
    const cusparseOrder_t order = col_major ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;

    p->algorithm = algorithms[algorithm];
    if (!peer_csr_view(d, &d->A, &p->A))
        return false;
    SPARSE_TRY(d, cusparseCreateConstDnMat, &p->X, d->A.cols, n,
               col_major ? d->A.cols : n, d->X, d->type, order);
    SPARSE_TRY(d, cusparseCreateDnMat, &p->Y, d->A.rows, n, col_major ? d->A.rows : n,
               d->Y, d->type, order);
    return true;
}

static void close_mm(mm *p)
{
    if (p->A)
        (void)cusparseDestroySpMat(p->A);
    if (p->X)
        (void)cusparseDestroyDnMat(p->X);
    if (p->Y)
        (void)cusparseDestroyDnMat(p->Y);
}

static bool run_mm(peer_device *d, mm *p, bool preprocess, peer_call *call)
{
    const double begin = peer_now();
    size_t bytes       = 0;
    void *buffer;

    SPARSE_TRY(d, cusparseSpMM_bufferSize, d->handle, AS_IS, AS_IS, d->one, p->A, p->X,
               d->zero, p->Y, d->type, p->algorithm, &bytes);
    if (!peer_alloc(d, bytes, &buffer))
        return false;
    if (preprocess) {
        SPARSE_TRY(d, cusparseSpMM_preprocess, d->handle, AS_IS, AS_IS, d->one, p->A,
                   p->X, d->zero, p->Y, d->type, p->algorithm, buffer);
        CUDA_TRY(d, cudaDeviceSynchronize());
        call->prepare_s = peer_now() - begin;
    }
    if (!(preprocess ? peer_held_clock_start(d) : peer_clock_start(d)))
        return false;
    SPARSE_TRY(d, cusparseSpMM, d->handle, AS_IS, AS_IS, d->one, p->A, p->X, d->zero,
               p->Y, d->type, p->algorithm, buffer);
    return peer_clock_stop(d, &call->seconds);
}

bool peer_spmm(peer_device *d, int algorithm, bool preprocess, peer_call *call)
{
    mm p = {};

    const bool ok = open_mm(d, algorithm, &p) && run_mm(d, &p, preprocess, call);
    call->nnz_out = d->A.rows * d->problem->cols;
    close_mm(&p);
    return ok;
}

/* ---- SpMV ------------------------------------------------------------------------ */

struct mv {
    cusparseConstSpMatDescr_t A;
    cusparseConstDnVecDescr_t x;
    cusparseDnVecDescr_t y;
    cusparseSpMVAlg_t algorithm;
};

static bool open_mv(peer_device *d, int algorithm, mv *p)
{
    static const cusparseSpMVAlg_t algorithms[] = {
        CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2};

    p->algorithm = algorithms[algorithm];
    if (!peer_csr_view(d, &d->A, &p->A))
        return false;
    SPARSE_TRY(d, cusparseCreateConstDnVec, &p->x, d->A.cols, d->X, d->type);
    SPARSE_TRY(d, cusparseCreateDnVec, &p->y, d->A.rows, d->Y, d->type);
    return true;
}

static void close_mv(mv *p)
{
    if (p->A)
        (void)cusparseDestroySpMat(p->A);
    if (p->x)
        (void)cusparseDestroyDnVec(p->x);
    if (p->y)
        (void)cusparseDestroyDnVec(p->y);
}

static bool run_mv(peer_device *d, mv *p, bool preprocess, peer_call *call)
{
    const double begin = peer_now();
    size_t bytes       = 0;
    void *buffer;

    SPARSE_TRY(d, cusparseSpMV_bufferSize, d->handle, AS_IS, d->one, p->A, p->x, d->zero,
               p->y, d->type, p->algorithm, &bytes);
    if (!peer_alloc(d, bytes, &buffer))
        return false;
#if CUSPARSE_VERSION >= 12300 /* since CUDA 12.4, which has cusparseSpMV_preprocess() */
    if (preprocess) {
        SPARSE_TRY(d, cusparseSpMV_preprocess, d->handle, AS_IS, d->one, p->A, p->x,
                   d->zero, p->y, d->type, p->algorithm, buffer);
        CUDA_TRY(d, cudaDeviceSynchronize());
        call->prepare_s = peer_now() - begin;
    }
#else
    (void)begin, (void)preprocess;
#endif
    if (!(preprocess ? peer_held_clock_start(d) : peer_clock_start(d)))
        return false;
    SPARSE_TRY(d, cusparseSpMV, d->handle, AS_IS, d->one, p->A, p->x, d->zero, p->y,
               d->type, p->algorithm, buffer);
    return peer_clock_stop(d, &call->seconds);
}

bool peer_spmv(peer_device *d, int algorithm, bool preprocess, peer_call *call)
{
    mv p = {};

    const bool ok = open_mv(d, algorithm, &p) && run_mv(d, &p, preprocess, call);
    call->nnz_out = d->A.rows;
    close_mv(&p);
    return ok;
}
