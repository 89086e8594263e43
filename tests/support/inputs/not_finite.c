/* tests/support/inputs/not_finite.c - SpMM with an infinity and a NaN in X. */
#include "tests/support/inputs/not_finite.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "tests/support/inputs/cases.h"

enum { ROWS = 200, INFINITE = 17, NO_NUMBER = 101, WIDTHS = NOT_FINITE_PRODUCTS / 2 };

/* Sets element `at` to NaN. In f32 all bits of its mantissa are set: code that rounds by
   adding to the bits, as for a number, would carry into the sign bit. */
static void set_nan(hybrid_dense *X, int64_t at)
{
    const uint32_t bits = 0x7fffffffu;

    if (X->type == HYBRID_F64)
        ((double *)X->data)[at] = (double)NAN;
    else
        memcpy((float *)X->data + at, &bits, sizeof bits);
}

/* Makes X of finite numbers, except an infinity in the last column and a NaN in column
   0. Both lie in rows of X that many rows of A use. */
static void make_x(int64_t cols, test_kind kind, hybrid_dense *X)
{
    dense_make(ROWS, cols, 0, HYBRID_ROW_MAJOR, 11, kind, X);
    value_set(X->data, X->type, INFINITE * cols + cols - 1, (double)INFINITY);
    set_nan(X, NO_NUMBER * cols);
}

static int is_right(const hybrid_csr *A, const hybrid_dense *X, int64_t i, int64_t j,
                    double got, unsigned flags)
{
    const int64_t *ptr = A->row_ptr;
    const double eps   = A->type == HYBRID_F64       ? DBL_EPSILON
                         : flags & HYBRID_ALLOW_TF32 ? 0x1p-9
                                                     : FLT_EPSILON;
    double sum = 0, size = 0;

    for (int64_t k = ptr[i]; k < ptr[i + 1]; k++) {
        const double product =
            value_at(A->val, A->type, k) * dense_at(X, hy_cols(A)[k], j);
        sum += product;
        size += fabs(product);
    }
    if (isfinite(sum))
        return fabs(got - sum) <= (double)(ptr[i + 1] - ptr[i] + 2) * eps * size;
    return isnan(sum) ? isnan(got) : got == sum;
}

static int check_y(const hybrid_csr *A, const hybrid_dense *X, const hybrid_dense *Y,
                   const char *variant, unsigned flags)
{
    for (int64_t i = 0; i < Y->rows; i++)
        for (int64_t j = 0; j < Y->cols; j++)
            if (!is_right(A, X, i, j, dense_at(Y, i, j), flags)) {
                fprintf(stderr, "%s, flags %#x, f%d, %lld columns: (%lld,%lld) is %g\n",
                        variant, flags, A->type == HYBRID_F64 ? 64 : 32,
                        (long long)Y->cols, (long long)i, (long long)j,
                        dense_at(Y, i, j));
                return 1;
            }
    return 0;
}

static int check_width(hybrid_engine *engine, const hybrid_csr *A, int64_t cols,
                       test_kind kind, const hybrid_plan_options *o)
{
    hybrid_plan *plan;
    hybrid_dense X, Y;
    int failed = 1;

    make_x(cols, kind, &X);
    dense_make(ROWS, cols, 0, HYBRID_ROW_MAJOR, 12, kind, &Y);
    if (hybrid_spmm_plan(engine, A, cols, o, &plan) == HYBRID_OK) {
        if (hybrid_spmm_run(plan, 1, A, &X, 0, &Y) == HYBRID_OK)
            failed = check_y(A, &X, &Y, o->variant, o->flags);
        hybrid_plan_destroy(plan);
    }
    dense_free(&X);
    dense_free(&Y);
    return failed;
}

int not_finite_check(hybrid_engine *engine, const char *variant, unsigned flags,
                     int64_t *checked)
{
    static const int64_t widths[WIDTHS] = {2, 20, 33, 64, 129};
    hybrid_plan_options o               = HYBRID_PLAN_OPTIONS_INIT;
    int failed                          = 0;

    o.variant = variant;
    o.flags   = flags;
    for (int f64 = 0; f64 < 2; f64++) {
        const test_kind kind = {f64 ? HYBRID_F64 : HYBRID_F32, HYBRID_I64, 0};
        hybrid_csr A;
        matrix_random(ROWS, ROWS, 7, 5, kind, &A);
        for (int w = 0; w < WIDTHS; w++, ++*checked)
            failed += check_width(engine, &A, widths[w], kind, &o);
        matrix_free(&A);
    }
    return failed;
}
