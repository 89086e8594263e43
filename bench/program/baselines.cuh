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

/* Return true if the call succeeded; otherwise d->error has a sentence for the user. Both
   also clear CUDA's last error then. */
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

/* Allocates device memory and notes it in d->blocks, at most PEER_BLOCKS. Blocks are
   freed in reverse order. */
bool peer_alloc(peer_device *d, size_t bytes, void **out);
void peer_release(peer_device *d, int count); /* frees all blocks but the first `count` */

/* Measure device time of the work that is enqueued in the default stream between start
   and stop. peer_held_clock_start() also delays this work until the host has enqueued all
   of it (hold.cu), so that launches leave no gaps. */
bool peer_clock_start(peer_device *d);
bool peer_held_clock_start(peer_device *d);
bool peer_clock_stop(peer_device *d, double *seconds);

/* Compute a product of operands that are in device memory; C or Y stays there. `clocked`:
   true: call->seconds becomes the sum of the times of all cuSPARSE calls; false: 0.
   `preprocess`: true: cuSPARSE first preprocesses A, which takes call->prepare_s and is
   no part of call->seconds. */
bool peer_spgemm(peer_device *d, int algorithm, bool clocked, peer_call *call);
/* Finds the pattern of C, then computes its values; only the latter is in
   call->seconds. */
bool peer_spgemm_reuse(peer_device *d, bool clocked, peer_call *call);
bool peer_spmm(peer_device *d, int algorithm, bool preprocess, peer_call *call);
bool peer_spmv(peer_device *d, int algorithm, bool preprocess, peer_call *call);

/* Makes a const view of a matrix for cuSPARSE, which the caller destroys. */
bool peer_csr_view(peer_device *d, const peer_matrix *m, cusparseConstSpMatDescr_t *out);

double peer_now(void);

#endif /* BENCH_BASELINES_CUH */
