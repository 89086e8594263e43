/* tests/support/device/on_device.c - operands in the memory of a fake device. */
#include "tests/support/device/on_device.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/fake/fake_memory.h"

hybrid_csr on_device_csr(int device, const hybrid_csr *A, size_t skew)
{
    const size_t size = hy_value_size(A->type);
    hybrid_csr there  = *A;

    there.row_ptr =
        fake_memory(device, A->row_ptr, (size_t)(A->rows + 1) * hy_offset_size(A),
                    skew * hy_offset_size(A));
    there.col   = fake_memory(device, A->col, (size_t)A->nnz * hy_col_size(A),
                              skew * hy_col_size(A));
    there.val   = fake_memory(device, A->val, (size_t)A->nnz * size, skew * size);
    there.space = HYBRID_SPACE_DEVICE;
    return there;
}

hybrid_csr on_device_wide(int device, const hybrid_csr *A, size_t skew)
{
    const hybrid_csr wide  = matrix_widen(A);
    const hybrid_csr there = on_device_csr(device, &wide, skew);

    free(wide.col);
    return there;
}

void on_device_csr_free(hybrid_csr *A)
{
    fake_memory_free(A->row_ptr);
    fake_memory_free(A->col);
    fake_memory_free(A->val);
    memset(A, 0, sizeof *A);
}

static size_t dense_bytes(const hybrid_dense *X)
{
    const int64_t lines = X->order == HYBRID_ROW_MAJOR ? X->rows : X->cols;
    return (size_t)(lines * X->ld) * hy_value_size(X->type);
}

hybrid_dense on_device_dense(int device, const hybrid_dense *X, size_t skew)
{
    hybrid_dense there = *X;

    there.data =
        fake_memory(device, X->data, dense_bytes(X), skew * hy_value_size(X->type));
    there.space = HYBRID_SPACE_DEVICE;
    return there;
}

void on_device_read(const hybrid_dense *there, hybrid_dense *to)
{
    fake_memory_open();
    memcpy(to->data, there->data, dense_bytes(there));
    fake_memory_close();
}

void on_device_take(hybrid_dense *there, hybrid_dense *to)
{
    on_device_read(there, to);
    fake_memory_free(there->data);
    memset(there, 0, sizeof *there);
}

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes > 0 ? bytes : 1);

    if (!to)
        abort();
    if (bytes > 0)
        memcpy(to, from, bytes);
    return to;
}

hybrid_csr on_device_fetch(const hybrid_csr *C)
{
    hybrid_csr here = *C;

    fake_memory_open();
    here.row_ptr = copy_of(C->row_ptr, (size_t)(C->rows + 1) * hy_offset_size(C));
    here.col     = copy_of(C->col, (size_t)C->nnz * hy_col_size(C));
    here.val     = copy_of(C->val, (size_t)C->nnz * hy_value_size(C->type));
    fake_memory_close();
    here.space = HYBRID_SPACE_HOST;
    return here;
}
