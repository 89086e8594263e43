/* tests/support/device/cuda_operands.h - operands in the memory of the first GPU.

   They are copies of host operands. Arrays, except row offsets, begin `skew` bytes after
   an address that CUDA aligned. */
#ifndef CUDA_OPERANDS_H
#define CUDA_OPERANDS_H

#include "hybrid_spmm.h"

/* Returns the bytes of a dense matrix including its gaps. */
size_t cuda_dense_bytes(const hybrid_dense *X);

/* Returns a device copy of X. cuda_array_free() frees its data. */
hybrid_dense cuda_dense(const hybrid_dense *X, size_t skew);

/* Return a copy of A in GPU memory; cuda_wide_csr() also converts its column indices to
   64 bits. cuda_csr_free() frees the arrays. */
hybrid_csr cuda_csr(const hybrid_csr *A, size_t skew);
hybrid_csr cuda_wide_csr(const hybrid_csr *A, size_t skew);
void cuda_csr_free(hybrid_csr *A, size_t skew);

/* Returns a host copy of a device result. matrix_free() frees it. */
hybrid_csr cuda_csr_fetch(const hybrid_csr *C);

#endif /* CUDA_OPERANDS_H */
