/* tests/support/device/cuda_operands.c - operands in the memory of the first GPU. */
#include "tests/support/device/cuda_operands.h"

#include <stdlib.h>

#include "base/data/csr.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/device/cuda_arrays.h"

size_t cuda_dense_bytes(const hybrid_dense *X)
{
    const int64_t lines = X->order == HYBRID_ROW_MAJOR ? X->rows : X->cols;
    return (size_t)(lines * X->ld) * hy_value_size(X->type);
}

hybrid_dense cuda_dense(const hybrid_dense *X, size_t skew)
{
    hybrid_dense there = *X;

    there.data  = cuda_array(X->data, cuda_dense_bytes(X), skew);
    there.space = HYBRID_SPACE_DEVICE;
    return there;
}

hybrid_csr cuda_csr(const hybrid_csr *A, size_t skew)
{
    hybrid_csr there = *A;

    there.row_ptr = cuda_array(A->row_ptr, (size_t)(A->rows + 1) * hy_offset_size(A), 0);
    there.col     = cuda_array(A->col, (size_t)A->nnz * hy_col_size(A), skew);
    there.val     = cuda_array(A->val, (size_t)A->nnz * hy_value_size(A->type), skew);
    there.space   = HYBRID_SPACE_DEVICE;
    return there;
}

hybrid_csr cuda_wide_csr(const hybrid_csr *A, size_t skew)
{
    const hybrid_csr wide  = matrix_widen(A);
    const hybrid_csr there = cuda_csr(&wide, skew);

    free(wide.col);
    return there;
}

void cuda_csr_free(hybrid_csr *A, size_t skew)
{
    cuda_array_free(A->row_ptr, 0);
    cuda_array_free(A->col, skew);
    cuda_array_free(A->val, skew);
}

hybrid_csr cuda_csr_fetch(const hybrid_csr *C)
{
    hybrid_csr here = *C;

    here.row_ptr = malloc((size_t)(C->rows + 1) * hy_offset_size(C));
    here.col     = malloc((size_t)C->nnz * hy_col_size(C) + 1);
    here.val     = malloc((size_t)C->nnz * hy_value_size(C->type) + 1);
    if (!here.row_ptr || !here.col || !here.val)
        abort();
    cuda_array_read(here.row_ptr, C->row_ptr, (size_t)(C->rows + 1) * hy_offset_size(C));
    cuda_array_read(here.col, C->col, (size_t)C->nnz * hy_col_size(C));
    cuda_array_read(here.val, C->val, (size_t)C->nnz * hy_value_size(C->type));
    here.space = HYBRID_SPACE_HOST;
    return here;
}
