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

/* A 3 x 3 matrix and its square, in which tests break a rule. */
typedef struct square {
    int64_t ptr[2][4];
    int32_t col[2][5];
    double val[2][5];
    hybrid_csr A, C;
} square;

static square diagonal(void)
{
    return (square){.ptr = {{0, 1, 2, 3}, {0, 1, 2, 3}},
                    .col = {{0, 1, 2}, {0, 1, 2}},
                    .val = {{1, 2, 3}, {1, 4, 9}}};
}

static hybrid_status verify_square(square *s, int64_t *row)
{
    hybrid_csr *const both[] = {&s->A, &s->C};

    for (int m = 0; m < 2; m++)
        *both[m] = (hybrid_csr){3,         3,         s->ptr[m][3], HYBRID_I64,
                                s->ptr[m], s->col[m], s->val[m],    HYBRID_F64};
    return hybrid_verify_spgemm(engine, &s->A, &s->A, &s->C, 2, 1, row);
}

static void says_bad(square s, const char *words)
{
    int64_t row = 99;

    assert_int_equal(verify_square(&s, &row), HYBRID_BAD_MATRIX);
    if (!strstr(hybrid_engine_message(engine), words))
        fail_msg("\"%s\" lacks \"%s\"", hybrid_engine_message(engine), words);
    assert_int_equal(row, 99);
}

static void verify_tells_broken_patterns(void **state)
{
    static const char *const names[] = {"A: ", "C: "};

    (void)state;
    for (int m = 0; m < 2; m++) {
        square s    = diagonal();
        s.ptr[m][0] = 1;
        says_bad(s, "offsets go from 1 to 3 instead of from 0 to 3");
        s           = diagonal();
        s.ptr[m][1] = 3;
        says_bad(s, "offsets 3 and 2 decrease");
        s           = diagonal();
        s.ptr[m][1] = -1;
        says_bad(s, "offsets 0 and -1 decrease or are not in");
        s           = diagonal();
        s.col[m][1] = 3;
        says_bad(s, "column 3 is not in 0..2");
        s           = diagonal();
        s.col[m][1] = -1;
        says_bad(s, "column -1 is not in 0..2");
        s           = diagonal();
        s.ptr[m][1] = 2; /* row 0 has columns 0 and 0 */
        s.col[m][1] = 0;
        says_bad(s, "column 0 does not come after column 0");
        says_bad(s, names[m]);
    }
}

static void verify_compares_nnz_with_offsets(void **state)
{
    int64_t row = 99;

    (void)state;
    square s = diagonal();
    assert_int_equal(verify_square(&s, &row), HYBRID_OK);
    assert_int_equal(row, -1);
    s.C.nnz = 2;
    assert_int_equal(hybrid_verify_spgemm(engine, &s.A, &s.A, &s.C, 2, 1, &row),
                     HYBRID_BAD_MATRIX);
    assert_non_null(strstr(hybrid_engine_message(engine), "from 0 to 2"));
}

/* Row 1 has one scalar product. A second entry is an error even if it is 0. */
static void verify_counts_entries_of_rows(void **state)
{
    const square extra = {.ptr = {{0, 1, 2, 3}, {0, 1, 3, 4}},
                          .col = {{0, 1, 2}, {0, 1, 2, 2}},
                          .val = {{1, 2, 3}, {1, 4, 0, 9}}};
    int64_t row        = -1;
    square s           = extra;

    (void)state;
    assert_int_equal(verify_square(&s, &row), HYBRID_OK);
    assert_int_equal(row, 1);
    s.ptr[1][2] = 2; /* the extra entry is now in row 2 */
    s.col[1][2] = 1;
    assert_int_equal(verify_square(&s, &row), HYBRID_OK);
    assert_int_equal(row, 2);
}

static void info_describes_a_stencil(void **state)
{
    hybrid_matrix_info info;
    hybrid_csr A;

    (void)state;
    assert_int_equal(hybrid_generate(engine, "stencil7:10", HYBRID_F64, 1, &A),
                     HYBRID_OK);
    assert_int_equal(hybrid_csr_info(engine, &A, &info), HYBRID_OK);
    assert_true(info.square && info.pattern_symmetric);
    assert_int_equal(info.row_min, 4);
    assert_int_equal(info.row_max, 7);
    assert_int_equal(info.bandwidth, 100);
    assert_int_equal(info.empty_rows, 0);
    assert_true(info.synergy > 0 && info.synergy <= 1);
    assert_string_equal(info.synergy_class, info.synergy < 0.125  ? "low"
                                            : info.synergy < 0.25 ? "medium"
                                                                  : "high");
    assert_true(info.square_nnz > A.nnz && info.square_nnz <= info.products);
    hybrid_csr_free(engine, &A);
}

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
        cmocka_unit_test(verify_tells_broken_patterns),
        cmocka_unit_test(verify_compares_nnz_with_offsets),
        cmocka_unit_test(verify_counts_entries_of_rows),
        cmocka_unit_test(verify_lets_empty_rows_meet_infinity),
        cmocka_unit_test(info_describes_a_stencil),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
