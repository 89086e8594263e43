/* base/data/csr.h - reading, checking and transposing compressed sparse rows. */
#ifndef HY_CSR_H
#define HY_CSR_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Offset i of A, whichever width its offsets have. */
static inline int64_t hy_offset(const hybrid_csr *A, int64_t i)
{
    return A->offset_type == HYBRID_I32 ? ((const int32_t *)A->row_ptr)[i]
                                        : ((const int64_t *)A->row_ptr)[i];
}

static inline size_t hy_offset_size(const hybrid_csr *A)
{
    return A->offset_type == HYBRID_I32 ? 4 : 8;
}

/* The columns of a matrix that a public call has taken (engine/api/narrow.h), or that the
   library has made: they have 32 bits. */
static inline int32_t *hy_cols(const hybrid_csr *A)
{
    return (int32_t *)A->col;
}

/* Column k of any matrix, whichever width its columns have. */
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

static inline size_t hy_value_size(hybrid_type type)
{
    return type == HYBRID_F64 ? 8 : 4;
}

/* Of a matrix as CSR with 64-bit offsets. */
static inline int64_t hy_csr_bytes(int64_t rows, int64_t nnz, hybrid_type type)
{
    return (rows + 1) * 8 + nnz * (4 + (int64_t)hy_value_size(type));
}

/* Element k of its array. */
static inline char *hy_dense_at(const hybrid_dense *matrix, int64_t k)
{
    return (char *)matrix->data + (size_t)k * hy_value_size(matrix->type);
}

/* Sizes, types, pointers that are NULL or not aligned; does not look at the arrays. `name`
   is "A" or "B". Whether the library computes with such a matrix is for
   engine/api/check.h to say. */
hybrid_status hy_csr_check_header(hy_context *ctx, const hybrid_csr *A, const char *name);

/* Of this and what follows the arrays are in host memory. Offsets go from 0 to nnz and never
   fall, in parallel. Names the first offending row. The header is checked. */
hybrid_status hy_csr_check_offsets(hy_context *ctx, const hybrid_csr *A,
                                   const char *name);

/* All rules of hybrid_csr, in parallel. Names the first offending row and index. */
hybrid_status hy_csr_check(hy_context *ctx, const hybrid_csr *A, const char *name);

/* Columns of some rows of a matrix, whose offsets are right; sentences call row i first + i,
   or listed[i] unless that is NULL. */
hybrid_status hy_csr_check_rows(hy_context *ctx, const hybrid_csr *A, const char *name,
                                int64_t first, const int32_t *listed);

/* Of what follows columns have 32 bits. */

/* 64 bits that stand for A's pattern: equal for equal offsets (of either width) and
   columns, different for almost all others. In parallel; allocates nothing. */
hybrid_status hy_csr_hash(hy_context *ctx, const hybrid_csr *A, uint64_t *out);

/* Allocate the three arrays from the results; 64-bit offsets, 32-bit columns. */
hybrid_status hy_csr_alloc(hy_context *ctx, int64_t rows, int64_t cols, int64_t nnz,
                           hybrid_type type, hybrid_csr *out);
void hy_csr_free(hy_context *ctx, hybrid_csr *matrix);

/* T = transpose of A, in parallel; columns of T ascend. */
hybrid_status hy_csr_transpose(hy_context *ctx, const hybrid_csr *A, hybrid_csr *T);

/* sum[0] = 0, sum[i+1] = sum[i] + count[i]; in place over count's n+1 words, of
   which the last is ignored: [c0, c1, ..., ?] becomes [0, c0, c0+c1, ...]. In
   parallel for large n. */
hybrid_status hy_prefix_sum(hy_context *ctx, int64_t *count, int64_t n);

#ifdef __cplusplus
}
#endif
#endif /* HY_CSR_H */
