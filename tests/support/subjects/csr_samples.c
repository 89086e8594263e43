/* tests/support/subjects/csr_samples.c - matrices for tests of functions on CSR. */
#include "tests/support/subjects/csr_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "tests/support/engines/group.h"

void sample_check(const hybrid_csr *A, hybrid_status status, const char *sentence)
{
    hy_message_clear(&ctx->message);
    assert_int_equal(hy_csr_check(ctx, A, "A"), status);
    assert_string_equal(ctx->message.text, sentence);
}

int32_t sample_ptr[] = {0, 2, 2, 4, 7};
int32_t sample_col[] = {1, 2, 0, 2, 0, 1, 2};
double sample_val[]  = {1, 2, 3, 4, 5, 6, 7};

hybrid_csr sample_small(void)
{
    return (hybrid_csr){4,          3,          7,          HYBRID_I32,
                        sample_ptr, sample_col, sample_val, HYBRID_F64};
}

uint64_t sample_mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

hybrid_csr sample_random(int64_t rows, int64_t cols, int64_t most, hybrid_type type)
{
    hybrid_csr A;

    assert_int_equal(hy_csr_alloc(ctx, rows, cols, rows * most, type, &A), HYBRID_OK);
    int64_t *ptr = A.row_ptr, k = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t j = -1;
        ptr[i]    = k;
        for (int64_t e = 0; e < most && i % 5 != 4; e++, k++) {
            j += 1 + (int64_t)(sample_mix((uint64_t)(i * most + e)) %
                               (uint64_t)(2 * cols / most));
            if (j >= cols)
                break;
            hy_cols(&A)[k] = (int32_t)j;
            if (type == HYBRID_F64)
                ((double *)A.val)[k] = (double)k;
            else
                ((float *)A.val)[k] = (float)k;
        }
    }
    ptr[rows] = A.nnz = k;
    return A;
}

void csr_same(const hybrid_csr *A, const hybrid_csr *B)
{
    assert_int_equal(A->type, B->type);
    assert_int_equal(A->rows, B->rows);
    assert_int_equal(A->cols, B->cols);
    assert_int_equal(A->nnz, B->nnz);
    assert_memory_equal(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * 8);
    if (A->nnz == 0)
        return;
    assert_memory_equal(A->col, B->col, (size_t)A->nnz * 4);
    assert_memory_equal(A->val, B->val, (size_t)A->nnz * hy_value_size(A->type));
}
