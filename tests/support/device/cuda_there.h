/* tests/support/device/cuda_there.h - operands in the memory of the first GPU, copied
   from host memory. Arrays begin `skew` bytes after where CUDA would have them. */
#ifndef CUDA_THERE_H
#define CUDA_THERE_H

#include "hybrid_spmm.h"

/* Bytes of a dense matrix with its gaps. */
size_t cuda_dense_bytes(const hybrid_dense *X);

/* A copy, whose data cuda_array_free() frees. */
hybrid_dense cuda_dense(const hybrid_dense *X, size_t skew);

/* Copies, the second with columns of 64 bits; cuda_csr_free() frees their arrays. */
hybrid_csr cuda_csr(const hybrid_csr *A, size_t skew);
hybrid_csr cuda_wide_csr(const hybrid_csr *A, size_t skew);
void cuda_csr_free(hybrid_csr *A, size_t skew);

/* A copy in host memory of a result that is there, for matrix_free(). */
hybrid_csr cuda_csr_fetch(const hybrid_csr *C);

#endif /* CUDA_THERE_H */
