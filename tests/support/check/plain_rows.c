/* tests/support/check/plain_rows.c - C = A*B by the plainest loop, and comparison of
   bits. */
#include "tests/support/check/plain_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "tests/support/inputs/builder.h"

void matrix_set_odd(hybrid_csr *A)
{
    const double tiny  = A->type == HYBRID_F64 ? 1e-200 : 1e-30;
    const double odd[] = {0.0, -0.0, tiny, -tiny, 1, -1, INFINITY, -INFINITY, NAN};

    for (int64_t k = 0; k < A->nnz; k++) {
        const int is_last  = k > A->nnz / 2 && test_below(3, (uint64_t)k, 16) == 0;
        const int64_t dice = test_below(17, (uint64_t)k, is_last ? 3 : 6);
        value_set(A->val, A->type, k, odd[(is_last ? 6 : 0) + dice]);
    }
}

/* ---- the loop ---- */

/* One row of C as an array over all columns: the sum of each column, and a flag that the
   column has an entry. */
typedef struct plain_row {
    double *sum;
    uint8_t *there;
} plain_row;

static void *allocate(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);

    if (!memory) {
        fprintf(stderr, "no memory for the plainest loop\n");
        abort();
    }
    return memory;
}

static void add_row(const hybrid_csr *A, const hybrid_csr *B, int64_t i, plain_row *p)
{
    for (int64_t k = hy_offset(A, i); k < hy_offset(A, i + 1); k++)
        for (int64_t l = hy_offset(B, hy_cols(A)[k]); l < hy_offset(B, hy_cols(A)[k] + 1);
             l++) {
            const double a = value_at(A->val, A->type, k),
                         b = value_at(B->val, B->type, l);
            double *sum    = &p->sum[hy_cols(B)[l]];
            if (A->type == HYBRID_F64) {
                const volatile double product = a * b;
                *sum += product;
            } else {
                const volatile float product = (float)a * (float)b;
                *sum                         = (float)*sum + product;
            }
            p->there[hy_cols(B)[l]] = 1;
        }
}

/* Appends row i of C, which `p` holds, to C, and clears `p`. */
static void take_row(plain_rows *c, int64_t i, plain_row *p)
{
    int64_t n = c->row_ptr[i];

    for (int64_t j = 0; j < c->cols; j++) {
        if (!p->there[j])
            continue;
        c->col[n]   = (int32_t)j;
        c->val[n++] = p->sum[j];
        p->sum[j]   = 0;
        p->there[j] = 0;
    }
    c->row_ptr[i + 1] = n;
}

static int64_t count_products(const hybrid_csr *A, const hybrid_csr *B)
{
    int64_t products = 0;

    for (int64_t k = 0; k < A->nnz; k++)
        products += hy_offset(B, hy_cols(A)[k] + 1) - hy_offset(B, hy_cols(A)[k]);
    return products;
}

void plain_rows_make(const hybrid_csr *A, const hybrid_csr *B, plain_rows *out)
{
    const int64_t most = count_products(A, B);
    plain_row row      = {allocate(B->cols, sizeof *row.sum),
                          allocate(B->cols, sizeof *row.there)};

    *out         = (plain_rows){.rows = A->rows, .cols = B->cols, .type = A->type};
    out->row_ptr = allocate(A->rows + 1, sizeof *out->row_ptr);
    out->col     = allocate(most, sizeof *out->col);
    out->val     = allocate(most, sizeof *out->val);
    for (int64_t i = 0; i < A->rows; i++) {
        add_row(A, B, i, &row);
        take_row(out, i, &row);
    }
    free(row.sum);
    free(row.there);
}

void plain_rows_free(plain_rows *rows)
{
    free(rows->row_ptr);
    free(rows->col);
    free(rows->val);
}

/* ---- checks ---- */

int plain_same_bits(hybrid_type type, const void *values, int64_t k, double expected)
{
    const double d    = expected;
    const float f     = (float)expected;
    const int f64     = type == HYBRID_F64;
    const size_t size = f64 ? sizeof d : sizeof f;
    const void *right = f64 ? (const void *)&d : (const void *)&f;

    if (isnan(expected))
        return isnan(value_at(values, type, k));
    return memcmp((const char *)values + k * (int64_t)size, right, size) == 0;
}

const char *plain_rows_differ(const plain_rows *right, const hybrid_csr *C)
{
    static char sentence[128];
    const int64_t nnz = right->row_ptr[right->rows];

    if (C->rows != right->rows || C->cols != right->cols || C->type != right->type)
        return "C has another shape or type";
    for (int64_t i = 0; i <= right->rows; i++)
        if (hy_offset(C, i) != right->row_ptr[i]) {
            snprintf(sentence, sizeof sentence, "row_ptr[%lld] is %lld, not %lld",
                     (long long)i, (long long)hy_offset(C, i),
                     (long long)right->row_ptr[i]);
            return sentence;
        }
    for (int64_t k = 0; k < nnz; k++)
        if (hy_cols(C)[k] != right->col[k] ||
            !plain_same_bits(C->type, C->val, k, right->val[k])) {
            snprintf(sentence, sizeof sentence, "entry %lld has other bits",
                     (long long)k);
            return sentence;
        }
    return C->nnz == nnz ? NULL : "nnz is not the last offset";
}
