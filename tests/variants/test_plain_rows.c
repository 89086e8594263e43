/* tests/variants/test_plain_rows.c - plain_rows_differ() notices every kind of
   difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/inputs/cases.h"
#include "support/check/plain_rows.h"

enum { ROWS = 60 };

/* Returns C = A*A with new arrays that are equal to those of `right`. */
static hybrid_csr right_c(const plain_rows *right)
{
    const int64_t nnz = right->row_ptr[right->rows];
    hybrid_csr C      = {right->rows, right->cols, nnz,  HYBRID_I64,
                         NULL,        NULL,        NULL, right->type};
    C.row_ptr         = malloc((size_t)(C.rows + 1) * 8);
    C.col             = malloc((size_t)nnz * 4);
    C.val             = malloc((size_t)nnz * 8);
    assert_true(C.row_ptr && C.col && C.val);
    memcpy(C.row_ptr, right->row_ptr, (size_t)(C.rows + 1) * 8);
    memcpy(C.col, right->col, (size_t)nnz * 4);
    for (int64_t k = 0; k < nnz; k++)
        value_set(C.val, C.type, k, right->val[k]);
    return C;
}

typedef void (*damage)(hybrid_csr *C);

static void no_entries(hybrid_csr *C)
{
    memset(C->row_ptr, 0, (size_t)(C->rows + 1) * 8);
    C->nnz = 0;
}

static void no_last_row(hybrid_csr *C)
{
    int64_t *row_ptr = C->row_ptr;

    row_ptr[C->rows] = row_ptr[C->rows - 1];
    C->nnz           = row_ptr[C->rows];
}

static void another_nnz(hybrid_csr *C)
{
    C->nnz--;
}

static void no_rows(hybrid_csr *C)
{
    C->rows = 0;
}

static void fewer_columns(hybrid_csr *C)
{
    C->cols--;
}

static void entry_in_next_row(hybrid_csr *C)
{
    ((int64_t *)C->row_ptr)[C->rows / 2]--;
}

static void another_column(hybrid_csr *C)
{
    hy_cols(C)[C->nnz / 2]++;
}

static void last_bit(hybrid_csr *C)
{
    *((unsigned char *)C->val + (C->type == HYBRID_F64 ? 8 : 4) * (C->nnz - 1)) ^= 1;
}

static void sign_of_zero(hybrid_csr *C)
{
    value_set(C->val, C->type, 0, -0.0);
}

static void whatever_is_wrong_is_seen(void **state)
{
    static const damage all[] = {no_entries,     no_last_row,   another_nnz,
                                 no_rows,        fewer_columns, entry_in_next_row,
                                 another_column, last_bit,      sign_of_zero};

    (void)state;
    for (int type = HYBRID_F32; type <= HYBRID_F64; type++) {
        const test_kind kind = {(hybrid_type)type, HYBRID_I64, 0};
        plain_rows right;
        hybrid_csr A;
        matrix_random(ROWS, ROWS, 5, 3, kind, &A);
        plain_rows_make(&A, &A, &right);
        right.val[0] = 0;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            hybrid_csr C = right_c(&right);
            assert_null(plain_rows_differ(&right, &C));
            all[i](&C);
            assert_non_null(plain_rows_differ(&right, &C));
            matrix_free(&C);
        }
        plain_rows_free(&right);
        matrix_free(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_wrong_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
