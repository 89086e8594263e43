/* bench/baselines_spgemm.cu - C = A*B by cuSPARSE's three algorithms, in its call order.

   ALG1 allocates for all scalar products at once; ALG2 and ALG3 ask first how much they
   need, ALG3 for a share of the products at a time. */
#include <stdio.h>

#include "bench/baselines.cuh"

static const float CHUNK_FRACTION = 0.2f;

struct product {
    cusparseConstSpMatDescr_t A, B;
    cusparseSpMatDescr_t C;
    cusparseSpGEMMDescr_t work;
    cusparseSpGEMMAlg_t algorithm;
};

/* What every step of the product begins with. */
#define STEP(d, p)                                                                       \
    (d)->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,     \
        (d)->one, (p)->A, (p)->B, (d)->zero, (p)->C, (d)->type, (p)->algorithm,          \
        (p)->work

static bool open_product(peer_device *d, int algorithm, product *p)
{
    static const cusparseSpGEMMAlg_t algorithms[] = {
        CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2, CUSPARSE_SPGEMM_ALG3};
    void *row_ptr;

    p->algorithm = algorithms[algorithm];
    d->C         = {d->A.rows, d->B.cols, 0, NULL, NULL, NULL};
    if (!peer_csr_view(d, &d->A, &p->A) || !peer_csr_view(d, &d->B, &p->B) ||
        !peer_alloc(d, ((size_t)d->A.rows + 1) * 4, &row_ptr))
        return false;
    d->C.row_ptr = static_cast<int32_t *>(row_ptr);
    SPARSE_TRY(d, cusparseCreateCsr, &p->C, d->C.rows, d->C.cols, 0, row_ptr, NULL, NULL,
               CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, d->type);
    SPARSE_TRY(d, cusparseSpGEMM_createDescr, &p->work);
    return true;
}

static void close_product(product *p)
{
    if (p->work)
        (void)cusparseSpGEMM_destroyDescr(p->work);
    if (p->A)
        (void)cusparseDestroySpMat(p->A);
    if (p->B)
        (void)cusparseDestroySpMat(p->B);
    if (p->C)
        (void)cusparseDestroySpMat(p->C);
}

static bool inspect(peer_device *d, product *p)
{
    size_t bytes = 0;
    void *buffer;

    SPARSE_TRY(d, cusparseSpGEMM_workEstimation, STEP(d, p), &bytes, NULL);
    if (!peer_alloc(d, bytes, &buffer))
        return false;
    SPARSE_TRY(d, cusparseSpGEMM_workEstimation, STEP(d, p), &bytes, buffer);
    return true;
}

/* Bytes that multiply() needs, for the algorithms that can tell. */
static bool estimate(peer_device *d, product *p, size_t *out)
{
    const int before = d->count;
    size_t bytes     = 0;
    void *buffer;

    SPARSE_TRY(d, cusparseSpGEMM_estimateMemory, STEP(d, p), CHUNK_FRACTION, &bytes, NULL,
               NULL);
    if (!peer_alloc(d, bytes, &buffer))
        return false;
    SPARSE_TRY(d, cusparseSpGEMM_estimateMemory, STEP(d, p), CHUNK_FRACTION, &bytes,
               buffer, out);
    peer_release(d, before);
    return true;
}

static bool multiply(peer_device *d, product *p)
{
    size_t bytes = 0;
    void *buffer;

    if (p->algorithm == CUSPARSE_SPGEMM_ALG1)
        SPARSE_TRY(d, cusparseSpGEMM_compute, STEP(d, p), &bytes, NULL);
    else if (!estimate(d, p, &bytes))
        return false;
    if (!peer_alloc(d, bytes, &buffer))
        return false;
    SPARSE_TRY(d, cusparseSpGEMM_compute, STEP(d, p), &bytes, buffer);
    return true;
}

static bool store(peer_device *d, product *p)
{
    void *col, *val;
    int64_t rows, cols, nnz;

    SPARSE_TRY(d, cusparseSpMatGetSize, p->C, &rows, &cols, &nnz);
    if (nnz < 0 || nnz > INT32_MAX) {
        snprintf(d->error, sizeof d->error, "%lld entries of C exceed 32-bit offsets",
                 (long long)nnz);
        return false;
    }
    d->C.nnz = nnz;
    if (!peer_alloc(d, (size_t)nnz * 4, &col) ||
        !peer_alloc(d, (size_t)nnz * d->problem->value_size, &val))
        return false;
    d->C.col = static_cast<int32_t *>(col);
    d->C.val = val;
    SPARSE_TRY(d, cusparseCsrSetPointers, p->C, d->C.row_ptr, col, val);
    SPARSE_TRY(d, cusparseSpGEMM_copy, STEP(d, p));
    return true;
}

bool peer_spgemm(peer_device *d, int algorithm, peer_call *call)
{
    product p = {};

    const bool ok = peer_clock_start(d) && open_product(d, algorithm, &p) &&
                    inspect(d, &p) && multiply(d, &p) && store(d, &p) &&
                    peer_clock_stop(d, &call->seconds);
    call->nnz_out = d->C.nnz;
    close_product(&p);
    return ok;
}
