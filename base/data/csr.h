/* base/data/csr.h - reads, checks and transposes compressed sparse rows. */
#ifndef HY_CSR_H
#define HY_CSR_H

#include "base/data/value_type.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns offset i of A, from 32 or 64 bits. */
static inline int64_t hy_offset(const hybrid_csr *A, int64_t i)
{
    return A->offset_type == HYBRID_I32 ? ((const int32_t *)A->row_ptr)[i]
                                        : ((const int64_t *)A->row_ptr)[i];
}

static inline size_t hy_offset_size(const hybrid_csr *A)
{
    return A->offset_type == HYBRID_I32 ? 4 : 8;
}

/* Returns the column indices of a matrix that has 32-bit ones. A public call converts
   64-bit indices first (engine/api/narrow.h). */
static inline int32_t *hy_cols(const hybrid_csr *A)
{
    return (int32_t *)A->col;
}

/* Returns column index k of A, from 32 or 64 bits. */
static inline int64_t hy_col(const hybrid_csr *A, int64_t k)
{
    return A->col_type == HYBRID_I64 ? ((const int64_t *)A->col)[k]
                                     : ((const int32_t *)A->col)[k];
}

static inline size_t hy_index_size(hybrid_index type)
{
    return type == HYBRID_I64 ? 8 : 4;
}

static inline size_t hy_col_size(const hybrid_csr *A)
{
    return hy_index_size(A->col_type);
}

/* Returns the bytes of a matrix in CSR with 64-bit offsets and 32-bit column indices. */
static inline int64_t hy_csr_bytes(int64_t rows, int64_t nnz, hybrid_type type)
{
    return (rows + 1) * 8 + nnz * (4 + (int64_t)hy_value_size(type));
}

/* Returns the address of element k of the matrix's array. */
static inline char *hy_dense_at(const hybrid_dense *matrix, int64_t k)
{
    return (char *)matrix->data + (size_t)k * hy_value_size(matrix->type);
}

/* Checks sizes, types, and that pointers are aligned and not NULL; does not read the
   arrays. `name` is "A" or "B". BAD_ARGUMENT or BAD_MATRIX, with a sentence.
   engine/api/check.h decides which valid matrices the library accepts. */
hybrid_status hy_csr_check_header(hy_context *ctx, const hybrid_csr *A, const char *name);

/* All functions from here on require arrays in host memory.

   Checks, in parallel, that offsets begin at 0, never decrease and end at nnz. The
   message of BAD_MATRIX names the first bad row. The caller must have checked the
   header. */
hybrid_status hy_csr_check_offsets(hy_context *ctx, const hybrid_csr *A,
                                   const char *name);

/* Checks all rules of hybrid_csr, in parallel. BAD_MATRIX names the first bad row and
   entry. */
hybrid_status hy_csr_check(hy_context *ctx, const hybrid_csr *A, const char *name);

/* Checks the column indices of A, which holds some rows of a matrix. The offsets must be
   valid. Messages call row i of A row first + i, or listed[i] if `listed` is not NULL. */
hybrid_status hy_csr_check_rows(hy_context *ctx, const hybrid_csr *A, const char *name,
                                int64_t first, const int32_t *listed);

/* Returns the first row of A that begins with entry `wanted` or a later one; A->rows if
   there is none. */
int64_t hy_csr_row_at(const hybrid_csr *A, int64_t wanted);

/* Computes a 64-bit hash of A's pattern, in parallel and without allocating. Equal
   offsets (of either width) and columns give equal hashes; different patterns almost
   always give different ones. Columns have 32 bits. */
hybrid_status hy_csr_hash(hy_context *ctx, const hybrid_csr *A, uint64_t *out);

/* Allocates the three arrays as results: 64-bit offsets, 32-bit columns. NO_MEMORY if
   they do not fit. */
hybrid_status hy_csr_alloc(hy_context *ctx, int64_t rows, int64_t cols, int64_t nnz,
                           hybrid_type type, hybrid_csr *out);
void hy_csr_free(hy_context *ctx, hybrid_csr *matrix);

/* Sets *T to the transpose of A, in parallel. Columns of A have 32 bits; columns of T
   ascend in each row. The caller frees T. */
hybrid_status hy_csr_transpose(hy_context *ctx, const hybrid_csr *A, hybrid_csr *T);

/* Replaces the counts count[0] to count[n - 1] by count[0..n], the sums of all counts
   before each: [c0, c1, ..., ?] becomes [0, c0, c0+c1, ...]. The value of count[n] is
   ignored on input. Parallel if n is large. */
hybrid_status hy_prefix_sum(hy_context *ctx, int64_t *count, int64_t n);

#ifdef __cplusplus
}
#endif
#endif /* HY_CSR_H */
