/* tests/test_verify.c - finding what is wrong with a product, and what a pattern is like.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "support/host_engine.h"

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

/* Y = A*X, of a generated A that has 900 columns. */
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

/* The row that is found wrong, or -1. */
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

/* Of two wrong rows the first is told, whichever trial sees which. */
static void verify_tells_the_first_of_two_wrong_rows(void **state)
{
    int64_t row;
    spmm p;

    (void)state;
    open_spmm("road:30", HYBRID_F64, 5, HYBRID_COL_MAJOR, &p);
    multiply(&p.A, &p);
    ((double *)p.Y.data)[33 * 5 + 0] += 1; /* half of all trials add the two, */
    ((double *)p.Y.data)[33 * 5 + 2] += 1;
    ((double *)p.Y.data)[77 * 5 + 2] += 1; /* and all see this */
    for (uint64_t seed = 0; seed < 40; seed++) {
        assert_int_equal(hybrid_verify_spmm(engine, &p.A, &p.X, &p.Y, 20, seed, &row),
                         HYBRID_OK);
        assert_int_equal(row, 33);
    }
    close_spmm(&p);
}

/* What no number of the type holds becomes zero or infinite, as it should. */
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
        ((double *)p.X.data)[k] = 1e307; /* sums of five rows of X may be too large */
    multiply(&p.A, &p);
    assert_int_equal(wrong_row(hybrid_verify_spmm, &p), -1);
    ((double *)p.X.data)[434] = NAN; /* some row names it */
    assert_int_not_equal(wrong_row(hybrid_verify_spmm, &p), -1);
    multiply(&p.A, &p);
    assert_int_equal(wrong_row(hybrid_verify_spmm, &p), -1);
    close_spmm(&p);
}

/* `v` rounded to the 11 bits of TF32, halves away from zero. */
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

/* As a plan with HYBRID_ALLOW_TF32 may compute it. */
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

/* In f64 nothing is rounded, whatever the plan allows. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify_finds_one_wrong_entry),
        cmocka_unit_test(verify_finds_one_wrong_element_of_y),
        cmocka_unit_test(verify_tells_the_first_of_two_wrong_rows),
        cmocka_unit_test(verify_knows_how_far_numbers_reach),
        cmocka_unit_test(verify_allows_for_operands_rounded_to_tf32),
        cmocka_unit_test(verify_of_f64_knows_no_tf32),
        cmocka_unit_test(info_describes_a_stencil),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
