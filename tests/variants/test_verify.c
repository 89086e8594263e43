/* tests/variants/test_verify.c - verification of products, and information about
   patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/inputs/cases.h"
#include "support/engines/host_engine.h"

static void verify_finds_one_wrong_entry(void **state)
{
    hybrid_csr A, C;
    int64_t row;

    (void)state;
    assert_int_equal(hybrid_generate(engine, "er:500,6", HYBRID_F32, 3, &A), HYBRID_OK);
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_OK);
    const int64_t *ptr = C.row_ptr;
    int64_t i          = 250;
    while (ptr[i + 1] == ptr[i])
        i++;
    ((float *)C.val)[ptr[i]] *= 1.01f;
    assert_int_equal(hybrid_verify_spgemm(engine, &A, &A, &C, 2, 7, &row), HYBRID_OK);
    assert_int_equal(row, i);
    hybrid_csr_free(engine, &C);
    hybrid_csr_free(engine, &A);
}

/* A product Y = A*X with a generated A of 900 columns. */
typedef struct spmm {
    hybrid_csr A;
    hybrid_dense X, Y;
} spmm;

static void fill_x(spmm *p)
{
    assert_int_equal(hybrid_dense_random(engine, 5, &p->X), HYBRID_OK);
}

static void multiply(const hybrid_csr *A, spmm *p)
{
    assert_int_equal(hybrid_spmm(engine, 1, A, &p->X, 0, &p->Y), HYBRID_OK);
}

static void open_spmm(const char *words, hybrid_type type, int64_t cols,
                      hybrid_order x_order, spmm *p)
{
    assert_int_equal(hybrid_generate(engine, words, type, 3, &p->A), HYBRID_OK);
    assert_int_equal(hybrid_dense_create(engine, 900, cols, x_order, type, &p->X), 0);
    assert_int_equal(
        hybrid_dense_create(engine, 900, cols, HYBRID_ROW_MAJOR, type, &p->Y), 0);
    fill_x(p);
}

static void close_spmm(spmm *p)
{
    hybrid_dense_free(engine, &p->X);
    hybrid_dense_free(engine, &p->Y);
    hybrid_csr_free(engine, &p->A);
}

typedef hybrid_status (*verify_fn)(hybrid_engine *engine, const hybrid_csr *A,
                                   const hybrid_dense *X, const hybrid_dense *Y,
                                   int rounds, uint64_t seed, int64_t *row);

/* Returns the row that verification finds wrong, or -1. */
static int64_t wrong_row(verify_fn verify, const spmm *p)
{
    int64_t row;

    assert_int_equal(verify(engine, &p->A, &p->X, &p->Y, 2, 7, &row), HYBRID_OK);
    return row;
}

static void verify_finds_one_wrong_element_of_y(void **state)
{
    spmm p;

    (void)state;
    open_spmm("road:30", HYBRID_F64, 5, HYBRID_COL_MAJOR, &p);
    multiply(&p.A, &p);
    assert_int_equal(wrong_row(hybrid_verify_spmm, &p), -1);
    ((double *)p.Y.data)[77 * 5 + 2] += 1e-9;
    assert_int_equal(wrong_row(hybrid_verify_spmm, &p), 77);
    close_spmm(&p);
}

/* The first of two wrong rows is reported, whichever trial finds which. */
static void verify_tells_the_first_of_two_wrong_rows(void **state)
{
    int64_t row;
    spmm p;

    (void)state;
    open_spmm("road:30", HYBRID_F64, 5, HYBRID_COL_MAJOR, &p);
    multiply(&p.A, &p);
    ((double *)p.Y.data)[33 * 5 + 0] += 1; /* both errors of row 33 cancel in half of all
                                              trials */
    ((double *)p.Y.data)[33 * 5 + 2] += 1;
    ((double *)p.Y.data)[77 * 5 + 2] += 1; /* every trial finds the error of row 77 */
    for (uint64_t seed = 0; seed < 40; seed++) {
        assert_int_equal(hybrid_verify_spmm(engine, &p.A, &p.X, &p.Y, 20, seed, &row),
                         HYBRID_OK);
        assert_int_equal(row, 33);
    }
    close_spmm(&p);
}

/* Right results that overflow or underflow their type must pass. */
static void verify_knows_how_far_numbers_reach(void **state)
{
    static const float sizes[] = {1e-25f, 1e-20f, 3e30f};
    spmm p;

    (void)state;
    open_spmm("road:30", HYBRID_F32, 5, HYBRID_COL_MAJOR, &p);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int64_t k = 0; k < p.A.nnz; k++)
            ((float *)p.A.val)[k] = sizes[i];
        for (int64_t k = 0; k < 900 * 5; k++)
            ((float *)p.X.data)[k] = k % 3 ? sizes[i] : -sizes[i];
        multiply(&p.A, &p);
        assert_int_equal(wrong_row(hybrid_verify_spmm, &p), -1);
    }
    fill_x(&p);
    multiply(&p.A, &p);
    assert_int_equal(wrong_row(hybrid_verify_spmm, &p), -1);
    ((float *)p.Y.data)[77 * 5 + 2] = INFINITY;
    assert_int_equal(wrong_row(hybrid_verify_spmm, &p), 77);
    close_spmm(&p);
    open_spmm("road:30", HYBRID_F64, 5, HYBRID_COL_MAJOR, &p);
    for (int64_t k = 0; k < 900 * 5; k++)
        ((double *)p.X.data)[k] = 1e307; /* sums of five rows of X may overflow */
    multiply(&p.A, &p);
    assert_int_equal(wrong_row(hybrid_verify_spmm, &p), -1);
    ((double *)p.X.data)[434] = NAN; /* a NaN in a row of X that some row of A needs */
    assert_int_not_equal(wrong_row(hybrid_verify_spmm, &p), -1);
    multiply(&p.A, &p);
    assert_int_equal(wrong_row(hybrid_verify_spmm, &p), -1);
    close_spmm(&p);
}

/* Returns `v` rounded to the 11 bits of TF32, halves away from zero. */
static float to_tf32(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    bits = (bits + 0x1000u) & 0xffffe000u;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void round_all(float *v, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        v[k] = to_tf32(v[k]);
}

/* Verification with the TF32 bound accepts a product of operands that are rounded to
   TF32, which the bound of f32 does not, and still finds an error of 0.1. */
static void verify_allows_for_operands_rounded_to_tf32(void **state)
{
    hybrid_csr rounded;
    spmm p;

    (void)state;
    open_spmm("er:900,5", HYBRID_F32, 5, HYBRID_ROW_MAJOR, &p);
    assert_int_equal(hybrid_generate(engine, "er:900,5", HYBRID_F32, 3, &rounded), 0);
    round_all(rounded.val, rounded.nnz);
    round_all(p.X.data, p.X.rows * p.X.cols);
    multiply(&rounded, &p);
    fill_x(&p);
    assert_true(wrong_row(hybrid_verify_spmm, &p) >= 0);
    assert_int_equal(wrong_row(hybrid_verify_spmm_tf32, &p), -1);
    ((float *)p.Y.data)[77 * 5 + 2] += 0.1f;
    assert_int_equal(wrong_row(hybrid_verify_spmm_tf32, &p), 77);
    close_spmm(&p);
    hybrid_csr_free(engine, &rounded);
}

/* f64 is never rounded to TF32, so that the larger bound does not apply. */
static void verify_of_f64_knows_no_tf32(void **state)
{
    spmm p;

    (void)state;
    open_spmm("road:30", HYBRID_F64, 1, HYBRID_ROW_MAJOR, &p);
    multiply(&p.A, &p);
    ((double *)p.Y.data)[77] += 1e-9;
    assert_int_equal(wrong_row(hybrid_verify_spmm_tf32, &p), 77);
    close_spmm(&p);
}

/* Returns 1.1 times the error in row i of Y that docs/manual.md promises to find. */
static double found_from(const spmm *p, int64_t i, int tf32)
{
    const int64_t *ptr = p->A.row_ptr;
    const double k     = (double)(ptr[i + 1] - ptr[i]) + 6;
    const double eps   = p->A.type == HYBRID_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    double size        = 0;

    for (int64_t e = ptr[i]; e < ptr[i + 1]; e++) {
        double sum = 0, squares = 0;
        for (int64_t j = 0; j < p->X.cols; j++) {
            const double x = dense_at(&p->X, hy_cols(&p->A)[e], j);
            sum += fabs(x);
            squares += x * x;
        }
        size += fabs(value_at(p->A.val, p->A.type, e)) * fmin(sum, 8 * sqrt(squares));
    }
    return 1.1 * (tf32 ? 4 * k * eps + 0x1p-8 : 2 * k * eps) * size;
}

/* Returns how many of 200 seeds find an error of that size in element (77, 2) with one
   trial. */
static int seeds_that_find(verify_fn verify, spmm *p, double error)
{
    const int64_t at =
        p->Y.order == HYBRID_ROW_MAJOR ? 77 * p->Y.ld + 2 : 77 + 2 * p->Y.ld;
    const double right = value_at(p->Y.data, p->Y.type, at);
    int found          = 0;

    value_set(p->Y.data, p->Y.type, at, right + error);
    for (uint64_t seed = 0; seed < 200; seed++) {
        int64_t row;
        assert_int_equal(verify(engine, &p->A, &p->X, &p->Y, 1, seed, &row), HYBRID_OK);
        assert_true(row == -1 || row == 77);
        found += row == 77;
    }
    value_set(p->Y.data, p->Y.type, at, right);
    return found;
}

static void verify_finds_errors_of_the_stated_size(void **state)
{
    static const int64_t widths[] = {3, 100};
    spmm p;

    (void)state;
    for (int n = 0; n < 4; n++) {
        open_spmm("er:900,10", n & 1 ? HYBRID_F32 : HYBRID_F64, widths[n / 2],
                  n / 2 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR, &p);
        multiply(&p.A, &p);
        assert_true(seeds_that_find(hybrid_verify_spmm, &p, found_from(&p, 77, 0)) >= 80);
        if (p.A.type == HYBRID_F32)
            assert_true(seeds_that_find(hybrid_verify_spmm_tf32, &p,
                                        found_from(&p, 77, 1)) >= 80);
        assert_int_equal(seeds_that_find(hybrid_verify_spmm, &p, 0), 0);
        close_spmm(&p);
    }
}

/* ---- errors that no sum reveals ---- */

/* Infinity times an empty row of B, or times an X without columns, gives no scalar
   product. */
static void verify_lets_empty_rows_meet_infinity(void **state)
{
    int64_t a_ptr[] = {0, 1, 2, 3}, b_ptr[] = {0, 0, 1, 2}, c_ptr[] = {0, 0, 1, 1};
    int32_t a_col[] = {0, 1, 2}, b_col[] = {1, 2}, c_col[] = {1};
    double a[] = {INFINITY, 1, NAN}, b[] = {1, 0}, c[] = {1}, nothing[1] = {0};
    const hybrid_csr A   = {3, 3, 3, HYBRID_I64, a_ptr, a_col, a, HYBRID_F64};
    const hybrid_csr B   = {3, 3, 2, HYBRID_I64, b_ptr, b_col, b, HYBRID_F64};
    const hybrid_csr C   = {3, 3, 1, HYBRID_I64, c_ptr, c_col, c, HYBRID_F64};
    const hybrid_dense X = {3, 0, 0, HYBRID_ROW_MAJOR, nothing, HYBRID_F64};
    int64_t row;

    (void)state;
    assert_int_equal(hybrid_verify_spgemm(engine, &A, &B, &C, 2, 1, &row), HYBRID_OK);
    assert_int_equal(row, 2); /* NaN times a stored zero is NaN, which the result lacks */
    assert_int_equal(hybrid_verify_spmm(engine, &A, &X, &X, 2, 1, &row), HYBRID_OK);
    assert_int_equal(row, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify_finds_one_wrong_entry),
        cmocka_unit_test(verify_finds_one_wrong_element_of_y),
        cmocka_unit_test(verify_tells_the_first_of_two_wrong_rows),
        cmocka_unit_test(verify_knows_how_far_numbers_reach),
        cmocka_unit_test(verify_allows_for_operands_rounded_to_tf32),
        cmocka_unit_test(verify_of_f64_knows_no_tf32),
        cmocka_unit_test(verify_finds_errors_of_the_stated_size),
        cmocka_unit_test(verify_lets_empty_rows_meet_infinity),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
