/* bench/program/baselines.cuh - device, memory and checks for cuSPARSE products. */
#ifndef BENCH_BASELINES_CUH
#define BENCH_BASELINES_CUH

#include <cuda_runtime.h>
#include <cusparse.h>

#include "bench/program/peers.h"

enum { PEER_BLOCKS = 24, PEER_TEXT = 384 };

struct peer_matrix {
    int64_t rows, cols, nnz;
    int32_t *row_ptr, *col;
    void *val;
};

struct peer_device {
    cusparseHandle_t handle;
    cudaEvent_t begin, end;
    peer_hold *hold; /* a long copy that delays the timed work until the host has enqueued
                        all of it (hold.cu); NULL until it is first used */
    char name[256], error[PEER_TEXT];
    const peer_problem *problem;
    cudaDataType type;
    const void *one, *zero; /* 1 and 0 in host memory, of `type` */
    peer_matrix A, B, C;
    void *X, *Y;
    struct {
        void *ptr;
        size_t bytes;
    } blocks[PEER_BLOCKS]; /* stack of allocated blocks of device memory */
    int count;
    size_t bytes, peak;
};

/* Return true if the call succeeded; otherwise d->error has the sentence. */
bool peer_cuda_ok(peer_device *d, cudaError_t error, const char *call);
bool peer_sparse_ok(peer_device *d, cusparseStatus_t status, const char *call);

#define CUDA_TRY(d, call)                                                                \
    do {                                                                                 \
        if (!peer_cuda_ok((d), (call), #call))                                           \
            return false;                                                                \
    } while (0)
#define SPARSE_TRY(d, function, ...)                                                     \
    do {                                                                                 \
        if (!peer_sparse_ok((d), function(__VA_ARGS__), #function))                      \
            return false;                                                                \
    } while (0)

/* Allocates device memory. Blocks are freed in reverse order. */
bool peer_alloc(peer_device *d, size_t bytes, void **out);
void peer_release(peer_device *d, int count); /* frees all but `count` blocks */

/* Measure device time between two points of the default stream. peer_held_clock_start()
   also delays the timed work until the host has enqueued all of it (hold.cu), so that
   launches leave no gaps. */
bool peer_clock_start(peer_device *d);
bool peer_held_clock_start(peer_device *d);
bool peer_clock_stop(peer_device *d, double *seconds);

/* Compute a product of operands that are in device memory; C or Y stays there. */
bool peer_spgemm(peer_device *d, int algorithm, bool clocked, peer_call *call);
/* Repeats a product with other values. */
bool peer_spgemm_reuse(peer_device *d, bool clocked, peer_call *call);
bool peer_spmm(peer_device *d, int algorithm, bool preprocess, peer_call *call);
bool peer_spmv(peer_device *d, int algorithm, bool preprocess, peer_call *call);

/* Makes a const view of a matrix for cuSPARSE. */
bool peer_csr_view(peer_device *d, const peer_matrix *m, cusparseConstSpMatDescr_t *out);

double peer_now(void);

#endif /* BENCH_BASELINES_CUH */
