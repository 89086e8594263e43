/* bench/program/baselines.cu - cuSPARSE as a user calls it: device, memory, copies,
   complete calls. */
#include "bench/program/baselines.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double peer_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- checks ------------------------------------------------------------------------ */

bool peer_cuda_ok(peer_device *d, cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return true;
    snprintf(d->error, sizeof d->error, "%.*s: %s", (int)strcspn(call, "("), call,
             cudaGetErrorString(error));
    (void)cudaGetLastError(); /* clears the error, which is reported above, so that the
                                 next call starts without one */
    return false;
}

bool peer_sparse_ok(peer_device *d, cusparseStatus_t status, const char *call)
{
    if (status == CUSPARSE_STATUS_SUCCESS)
        return true;
    snprintf(d->error, sizeof d->error, "%s: %s", call, cusparseGetErrorString(status));
    (void)cudaGetLastError();
    return false;
}

/* ---- memory ---------------------------------------------------------------------- */

bool peer_alloc(peer_device *d, size_t bytes, void **out)
{
    *out = NULL;
    if (d->count == PEER_BLOCKS) {
        snprintf(d->error, sizeof d->error, "more than %d blocks of device memory",
                 PEER_BLOCKS);
        return false;
    }
    const cudaError_t error = cudaMalloc(out, bytes ? bytes : 1);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        snprintf(d->error, sizeof d->error, "cudaMalloc of %zu bytes: %s", bytes,
                 cudaGetErrorString(error));
        return false;
    }
    d->blocks[d->count].ptr     = *out;
    d->blocks[d->count++].bytes = bytes;
    d->bytes += bytes;
    d->peak = d->bytes > d->peak ? d->bytes : d->peak;
    return true;
}

void peer_release(peer_device *d, int count)
{
    while (d->count > count) {
        d->count--;
        d->bytes -= d->blocks[d->count].bytes;
        if (cudaFree(d->blocks[d->count].ptr) != cudaSuccess)
            (void)cudaGetLastError(); /* clears the error: it is of an earlier kernel and
                                         already reported */
    }
}

/* ---- time ------------------------------------------------------------------------ */

bool peer_clock_start(peer_device *d)
{
    CUDA_TRY(d, cudaEventRecord(d->begin));
    return true;
}

bool peer_clock_stop(peer_device *d, double *seconds)
{
    float ms;

    CUDA_TRY(d, cudaEventRecord(d->end));
    CUDA_TRY(d, cudaEventSynchronize(d->end));
    CUDA_TRY(d, cudaEventElapsedTime(&ms, d->begin, d->end));
    *seconds = ms * 1e-3;
    return true;
}

/* ---- device ---------------------------------------------------------------------- */

static bool open_device(peer_device *d)
{
    cudaDeviceProp properties;

    CUDA_TRY(d, cudaGetDeviceProperties(&properties, 0));
    snprintf(d->name, sizeof d->name, "%s", properties.name);
    CUDA_TRY(d, cudaSetDevice(0));
    CUDA_TRY(d, cudaEventCreate(&d->begin));
    CUDA_TRY(d, cudaEventCreate(&d->end));
    SPARSE_TRY(d, cusparseCreate, &d->handle);
    return true;
}

peer_device *peer_open(char *error, size_t size)
{
    peer_device *d = static_cast<peer_device *>(calloc(1, sizeof *d));

    if (!d) {
        snprintf(error, size, "no memory");
        return NULL;
    }
    if (open_device(d))
        return d;
    snprintf(error, size, "%s", d->error);
    peer_close(d);
    return NULL;
}

void peer_close(peer_device *d)
{
    if (!d)
        return;
    peer_release(d, 0);
    peer_hold_close(d->hold);
    if (d->handle)
        (void)cusparseDestroy(d->handle);
    if (d->begin)
        (void)cudaEventDestroy(d->begin);
    if (d->end)
        (void)cudaEventDestroy(d->end);
    free(d);
}

const char *peer_error(const peer_device *d)
{
    return d->error;
}

const char *peer_name(const peer_device *d)
{
    return d->name;
}

void peer_versions(char *text, size_t size)
{
    int driver = 0, runtime = 0, part[3] = {0, 0, 0};
    const libraryPropertyType parts[3] = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};

    bool known = cudaDriverGetVersion(&driver) == cudaSuccess &&
                 cudaRuntimeGetVersion(&runtime) == cudaSuccess;
    for (int i = 0; i < 3; i++)
        known =
            known && cusparseGetProperty(parts[i], &part[i]) == CUSPARSE_STATUS_SUCCESS;
    snprintf(text, size, ", CUDA of unknown version");
    if (known)
        snprintf(text, size, ", CUDA driver %d.%d, runtime %d.%d, cuSPARSE %d.%d.%d",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10,
                 part[0], part[1], part[2]);
}

const char *peer_algorithm(peer_op op, int i)
{
    static const char *const names[3][5] = {
        {"spgemm.alg1", "spgemm.alg2", "spgemm.alg3", PEER_REUSE, NULL},
        {"spmm.default", "spmm.csr_alg1", "spmm.csr_alg2", "spmm.csr_alg3", NULL},
        {"spmv.default", "spmv.csr_alg1", "spmv.csr_alg2", NULL, NULL},
    };
    return i < 0 || i > 4 ? NULL : names[op][i];
}

/* ---- operands -------------------------------------------------------------------- */

static bool up(peer_device *d, const void *from, size_t bytes, void **to)
{
    if (!peer_alloc(d, bytes, to))
        return false;
    if (bytes > 0)
        CUDA_TRY(d, cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice));
    return true;
}

static bool load_csr(peer_device *d, const peer_csr *m, peer_matrix *out)
{
    const size_t nnz = (size_t)m->nnz;
    void *row_ptr, *col, *val;

    if (!up(d, m->row_ptr, ((size_t)m->rows + 1) * 4, &row_ptr) ||
        !up(d, m->col, nnz * 4, &col) ||
        !up(d, m->val, nnz * d->problem->value_size, &val))
        return false;
    *out = {m->rows,
            m->cols,
            m->nnz,
            static_cast<int32_t *>(row_ptr),
            static_cast<int32_t *>(col),
            val};
    return true;
}

static bool load(peer_device *d, const peer_problem *p)
{
    static const float one_f32 = 1, zero_f32 = 0;
    static const double one_f64 = 1, zero_f64 = 0;
    const bool f64 = p->value_size == 8;

    d->problem = p;
    d->type    = f64 ? CUDA_R_64F : CUDA_R_32F;
    d->one     = f64 ? static_cast<const void *>(&one_f64) : &one_f32;
    d->zero    = f64 ? static_cast<const void *>(&zero_f64) : &zero_f32;
    d->peak    = d->bytes;
    if (!load_csr(d, &p->A, &d->A))
        return false;
    d->B = d->A;
    if (p->op == PEER_SPGEMM)
        return !p->B.row_ptr || load_csr(d, &p->B, &d->B);
    return up(d, p->X, (size_t)p->A.cols * (size_t)p->cols * p->value_size, &d->X);
}

bool peer_csr_view(peer_device *d, const peer_matrix *m, cusparseConstSpMatDescr_t *out)
{
    SPARSE_TRY(d, cusparseCreateConstCsr, out, m->rows, m->cols, m->nnz, m->row_ptr,
               m->col, m->val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
               CUSPARSE_INDEX_BASE_ZERO, d->type);
    return true;
}

int peer_load(peer_device *d, const peer_problem *problem)
{
    if (load(d, problem))
        return 0;
    peer_release(d, 0);
    return -1;
}

void peer_unload(peer_device *d)
{
    peer_release(d, 0);
}

/* ---- calls ----------------------------------------------------------------------- */

/* Computes with one algorithm. `alone`: true: sets call->seconds to the time of the
   kernels (SpGEMM: of the cuSPARSE calls) without allocations; SpMM and SpMV preprocess A
   before that. */
static bool compute(peer_device *d, int algorithm, bool alone, peer_call *call)
{
    call->prepare_s = 0;
    switch (d->problem->op) {
    case PEER_SPGEMM:
        return strcmp(peer_algorithm(PEER_SPGEMM, algorithm), PEER_REUSE) == 0
                   ? peer_spgemm_reuse(d, alone, call)
                   : peer_spgemm(d, algorithm, alone, call);
    case PEER_SPMM:
        return peer_spmm(d, algorithm, alone, call);
    default:
        return peer_spmv(d, algorithm, alone, call);
    }
}

static bool make_y(peer_device *d)
{
    const peer_problem *p = d->problem;

    if (p->op == PEER_SPGEMM)
        return true;
    return peer_alloc(d, (size_t)p->A.rows * (size_t)p->cols * p->value_size, &d->Y);
}

/* Times a call with all its allocations, whose operands and result are in device memory:
   call->new_matrix_s. */
static bool compute_new(peer_device *d, int algorithm, peer_call *call)
{
    const double begin = peer_now();

    if (!make_y(d) || !compute(d, algorithm, false, call))
        return false;
    CUDA_TRY(d, cudaDeviceSynchronize());
    call->new_matrix_s = peer_now() - begin;
    return true;
}

/* Makes room for a result of `nnz` entries; if it is sparse, with row offsets. Keeps the
   arrays of an earlier result if they suffice. */
static bool make_room(peer_device *d, peer_result *r, int64_t nnz, bool sparse)
{
    const size_t count = nnz > 0 ? (size_t)nnz : 1;

    if (r->room < nnz || !r->val) {
        peer_result_free(r);
        r->val = bench_array(count * d->problem->value_size);
        if (sparse) {
            r->col     = static_cast<int32_t *>(bench_array(count * 4));
            r->row_ptr = static_cast<int32_t *>(bench_array(((size_t)d->A.rows + 1) * 4));
        }
        r->room = nnz;
    }
    r->nnz = nnz;
    if (r->val && (!sparse || (r->col && r->row_ptr)))
        return true;
    peer_result_free(r);
    snprintf(d->error, sizeof d->error, "no host memory for %lld entries",
             (long long)nnz);
    return false;
}

void peer_result_free(peer_result *result)
{
    free(result->row_ptr);
    free(result->col);
    free(result->val);
    memset(result, 0, sizeof *result);
}

static bool down(peer_device *d, void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        CUDA_TRY(d, cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    return true;
}

static bool download(peer_device *d, peer_result *r, peer_call *call)
{
    const bool sparse = d->problem->op == PEER_SPGEMM;
    const size_t size = d->problem->value_size, rows = (size_t)d->A.rows + 1;
    const int64_t nnz  = call->nnz_out;
    const size_t count = (size_t)nnz;

    call->bytes_down = (int64_t)(count * size);
    if (!make_room(d, r, nnz, sparse))
        return false;
    if (!sparse)
        return down(d, r->val, d->Y, count * size);
    call->bytes_down += (int64_t)(count * 4 + rows * 4);
    return down(d, r->row_ptr, d->C.row_ptr, rows * 4) &&
           down(d, r->col, d->C.col, count * 4) &&
           down(d, r->val, d->C.val, count * size);
}

int peer_core(peer_device *d, int algorithm, peer_result *result, peer_call *call)
{
    const int operands = d->count;

    bool ok = compute_new(d, algorithm, call);
    peer_release(d, operands);
    ok = ok && make_y(d) && compute(d, algorithm, true, call) &&
         (!result || download(d, result, call));
    call->bytes_up = call->bytes_down = 0;
    call->device_bytes                = (int64_t)d->peak;
    peer_release(d, operands);
    return ok ? 0 : -1;
}

int peer_end(peer_device *d, const peer_problem *problem, int algorithm,
             peer_result *result, peer_call *call)
{
    const double begin = peer_now();
    bool ok            = load(d, problem);

    call->bytes_up = (int64_t)d->bytes;
    ok             = ok && make_y(d) && compute(d, algorithm, false, call) &&
         download(d, result, call);
    call->device_bytes = (int64_t)d->peak;
    peer_release(d, 0);
    call->seconds = peer_now() - begin;
    return ok ? 0 : -1;
}
