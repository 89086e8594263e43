/* bench/program/baselines_spgemm.cu - C = A*B with cuSPARSE's three algorithms, in the
   order of calls that cuSPARSE prescribes.

   ALG1 allocates memory for all scalar products at once. ALG2 and ALG3 first ask how much
   memory they need. ALG3 processes a share of the scalar products at a time.

   The times include all cuSPARSE calls, also those that ask for sizes, but no cudaMalloc.
   The calls wait for the device, so each call is timed separately. */
#include <stdio.h>

#include "bench/program/baselines.cuh"

static const float CHUNK_FRACTION = 0.2f;

enum {
    REUSE = 3
}; /* index of the pseudo-algorithm that computes C again with other
      values of A and B */

struct product {
    cusparseConstSpMatDescr_t A, B;
    cusparseSpMatDescr_t C;
    cusparseSpGEMMDescr_t work;
    cusparseSpGEMMAlg_t algorithm;
    bool clocked;
    double seconds; /* total time of the cuSPARSE calls; measured only if the product is
                       clocked */
};

/* Makes one cuSPARSE call. If the product is clocked, adds the call's time to
   p->seconds. */
#define TIMED(d, p, function, ...)                                                       \
    do {                                                                                 \
        if ((p)->clocked && !peer_held_clock_start(d))                                   \
            return false;                                                                \
        SPARSE_TRY(d, function, __VA_ARGS__);                                            \
        if ((p)->clocked && !add_clock((d), &(p)->seconds))                              \
            return false;                                                                \
    } while (0)

static bool add_clock(peer_device *d, double *sum)
{
    double seconds;

    if (!peer_clock_stop(d, &seconds))
        return false;
    *sum += seconds;
    return true;
}

/* First arguments of each cuSPARSE call of the product. */
#define STEP(d, p)                                                                       \
    (d)->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,     \
        (d)->one, (p)->A, (p)->B, (d)->zero, (p)->C, (d)->type, (p)->algorithm,          \
        (p)->work

static bool open_product(peer_device *d, int algorithm, product *p)
{
    static const cusparseSpGEMMAlg_t algorithms[] = {
        CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2, CUSPARSE_SPGEMM_ALG3,
        CUSPARSE_SPGEMM_DEFAULT};
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

    TIMED(d, p, cusparseSpGEMM_workEstimation, STEP(d, p), &bytes, NULL);
    if (!peer_alloc(d, bytes, &buffer))
        return false;
    TIMED(d, p, cusparseSpGEMM_workEstimation, STEP(d, p), &bytes, buffer);
    return true;
}

/* Finds the bytes that multiply() needs, for algorithms that can estimate them. */
static bool estimate(peer_device *d, product *p, size_t *out)
{
    const int before = d->count;
    size_t bytes     = 0;
    void *buffer;

    TIMED(d, p, cusparseSpGEMM_estimateMemory, STEP(d, p), CHUNK_FRACTION, &bytes, NULL,
          NULL);
    if (!peer_alloc(d, bytes, &buffer))
        return false;
    TIMED(d, p, cusparseSpGEMM_estimateMemory, STEP(d, p), CHUNK_FRACTION, &bytes, buffer,
          out);
    peer_release(d, before);
    return true;
}

static bool multiply(peer_device *d, product *p)
{
    size_t bytes = 0;
    void *buffer;

    if (p->algorithm == CUSPARSE_SPGEMM_ALG1)
        TIMED(d, p, cusparseSpGEMM_compute, STEP(d, p), &bytes, NULL);
    else if (!estimate(d, p, &bytes))
        return false;
    if (!peer_alloc(d, bytes, &buffer))
        return false;
    TIMED(d, p, cusparseSpGEMM_compute, STEP(d, p), &bytes, buffer);
    return true;
}

/* Allocates the entries of C, whose number is known by now. */
static bool make_result(peer_device *d, product *p)
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
    return true;
}

static bool store(peer_device *d, product *p)
{
    if (!make_result(d, p))
        return false;
    TIMED(d, p, cusparseSpGEMM_copy, STEP(d, p));
    return true;
}

bool peer_spgemm(peer_device *d, int algorithm, bool clocked, peer_call *call)
{
    product p = {};

    p.clocked     = clocked;
    const bool ok = open_product(d, algorithm, &p) && inspect(d, &p) && multiply(d, &p) &&
                    store(d, &p);
    call->seconds = p.seconds;
    call->nnz_out = d->C.nnz;
    close_product(&p);
    return ok;
}

/* ---- the same pattern with other values ------------------------------------------ */

/* First arguments of each cuSPARSE call that uses a known pattern of C. */
#define PATTERN(d, p)                                                                    \
    (d)->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,     \
        (p)->A, (p)->B, (p)->C, (p)->algorithm, (p)->work

static bool find_pattern(peer_device *d, product *p)
{
    size_t bytes[5] = {0, 0, 0, 0, 0};
    void *buffer[5] = {NULL, NULL, NULL, NULL, NULL};

    SPARSE_TRY(d, cusparseSpGEMMreuse_workEstimation, PATTERN(d, p), &bytes[0], NULL);
    if (!peer_alloc(d, bytes[0], &buffer[0]))
        return false;
    SPARSE_TRY(d, cusparseSpGEMMreuse_workEstimation, PATTERN(d, p), &bytes[0],
               buffer[0]);
    SPARSE_TRY(d, cusparseSpGEMMreuse_nnz, PATTERN(d, p), &bytes[1], NULL, &bytes[2],
               NULL, &bytes[3], NULL);
    for (int i = 1; i < 4; i++)
        if (!peer_alloc(d, bytes[i], &buffer[i]))
            return false;
    SPARSE_TRY(d, cusparseSpGEMMreuse_nnz, PATTERN(d, p), &bytes[1], buffer[1], &bytes[2],
               buffer[2], &bytes[3], buffer[3]);
    if (!make_result(d, p))
        return false;
    SPARSE_TRY(d, cusparseSpGEMMreuse_copy, PATTERN(d, p), &bytes[4], NULL);
    if (!peer_alloc(d, bytes[4], &buffer[4]))
        return false;
    SPARSE_TRY(d, cusparseSpGEMMreuse_copy, PATTERN(d, p), &bytes[4], buffer[4]);
    return true;
}

static bool compute_values(peer_device *d, product *p)
{
    TIMED(d, p, cusparseSpGEMMreuse_compute, STEP(d, p));
    return true;
}

bool peer_spgemm_reuse(peer_device *d, bool clocked, peer_call *call)
{
    product p = {};

    p.clocked = clocked;
    const bool ok =
        open_product(d, REUSE, &p) && find_pattern(d, &p) && compute_values(d, &p);
    call->seconds = p.seconds;
    call->nnz_out = d->C.nnz;
    close_product(&p);
    return ok;
}
