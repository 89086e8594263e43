/* tests/unit/partition/test_count.c - entries and scalar products of rows, compared with
   counts row by row. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/pattern/inspect.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/engines/group.h"

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F64, HYBRID_I64, 0}};

static int64_t row_products(const hybrid_csr *A, const hybrid_csr *B, int64_t i)
{
    int64_t sum = 0;

    for (int64_t k = hy_offset(A, i); k < hy_offset(A, i + 1); k++)
        for (int64_t l = hy_offset(B, hy_cols(A)[k]); l < hy_offset(B, hy_cols(A)[k] + 1);
             l++)
            sum++;
    return sum;
}

static void check_rows(const hy_profile *p, const hybrid_csr *A)
{
    int64_t longest = 0;
    double squares  = 0;

    assert_int_equal(p->nnz[0], 0);
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t length = hy_offset(A, i + 1) - hy_offset(A, i);
        assert_int_equal(p->nnz[i + 1] - p->nnz[i], length);
        longest = length > longest ? length : longest;
        squares += (double)(length * length);
    }
    const double rows = (double)A->rows, nnz = (double)A->nnz;
    assert_int_equal(p->features.rows, A->rows);
    assert_int_equal(p->features.cols, A->cols);
    assert_int_equal(p->features.nnz, A->nnz);
    assert_int_equal(p->features.row_max, longest);
    assert_int_equal(p->features.type, A->type);
    if (A->nnz == 0) {
        assert_true(p->features.row_mean == 0 && p->features.row_cv == 0);
        return;
    }
    const double variance = squares / rows - nnz / rows * (nnz / rows);
    assert_true(fabs(p->features.row_mean - nnz / rows) < 1e-12);
    assert_true(fabs(p->features.row_cv - sqrt(fmax(variance, 0)) / (nnz / rows)) < 1e-6);
}

/* Checks p->ends: for each block of HY_ENDS_ROWS rows of A, the largest column with an
   entry, plus 1. */
static void check_ends(const hy_profile *p, const hybrid_csr *A)
{
    for (int64_t i = 0; i < A->rows; i += HY_ENDS_ROWS) {
        const int64_t rows = A->rows - i < HY_ENDS_ROWS ? A->rows - i : HY_ENDS_ROWS;
        int64_t end        = 0;
        for (int64_t k = hy_offset(A, i); k < hy_offset(A, i + rows); k++)
            end = hy_cols(A)[k] >= end ? hy_cols(A)[k] + 1 : end;
        assert_int_equal(p->ends[i / HY_ENDS_ROWS], end);
    }
}

/* ---- counted by a callback ---- */

typedef struct counting {
    uint32_t *products; /* the numbers of scalar products that the callback returns;
                           NULL: it does not count */
    int asked;
} counting;

static hybrid_status count(void *arg, const uint32_t **products)
{
    counting *c = arg;

    c->asked++;
    *products = c->products;
    return HYBRID_OK;
}

static hybrid_status refuse(void *arg, const uint32_t **products)
{
    (void)arg;
    (void)products;
    return HYBRID_DEVICE_FAILED;
}

static void assert_same(const hy_profile *p, const hy_profile *q)
{
    const size_t bytes = (size_t)(p->rows + 1) * sizeof *p->nnz;

    assert_memory_equal(p->nnz, q->nnz, bytes);
    assert_memory_equal(p->products, q->products, bytes);
    assert_memory_equal(p->bound, q->bound, bytes);
    assert_memory_equal(&p->features, &q->features, sizeof p->features);
    for (int64_t i = 0; i < p->rows; i += HY_ENDS_ROWS)
        assert_int_equal(p->ends[i / HY_ENDS_ROWS], q->ends[i / HY_ENDS_ROWS]);
}

/* The profile must be the same whether workers count or the callback of a hy_counter.
   The callback must not be asked if a row of A is longer than it can count. */
static void check_counter(const hybrid_csr *A, const hybrid_csr *B, const hy_profile *p)
{
    uint32_t *products = malloc((size_t)(A->rows + 1) * sizeof *products);

    assert_non_null(products);
    for (int64_t i = 0; i < A->rows; i++)
        products[i] = (uint32_t)(p->products[i + 1] - p->products[i]);
    for (int way = 0; way < 3; way++) {
        counting c               = {way == 1 ? NULL : products, 0};
        const hy_counter counter = {count, &c, p->features.row_max - (way == 2)};
        hy_profile q;
        assert_int_equal(hy_inspect(ctx, A, B, 0, &counter, &q), HYBRID_OK);
        assert_int_equal(c.asked, way < 2);
        assert_same(p, &q);
        hy_profile_free(ctx, &q);
    }
    free(products);
}

static void what_the_counter_says_counts(void **state)
{
    uint32_t products[900];
    counting c               = {products, 0};
    const hy_counter wrong   = {count, &c, INT64_MAX};
    const hy_counter failing = {refuse, NULL, INT64_MAX};
    hybrid_csr A;
    hy_profile p;

    (void)state;
    matrix_random(900, 900, 4, 3, kinds[0], &A);
    for (int64_t i = 0; i < A.rows; i++)
        products[i] = (uint32_t)i;
    assert_int_equal(hy_inspect(ctx, &A, &A, 0, &wrong, &p), HYBRID_OK);
    assert_int_equal(p.features.products, 900 * 899 / 2);
    assert_int_equal(p.features.products_max, 899);
    hy_profile_free(ctx, &p);
    assert_int_equal(hy_inspect(ctx, &A, &A, 0, &failing, &p), HYBRID_DEVICE_FAILED);
    matrix_free(&A);
}

/* ---- counted by workers ---- */

static void check_spgemm(const hybrid_csr *A, const hybrid_csr *B)
{
    int64_t products = 0, bound = 0, costliest = 0;
    hy_profile p;

    assert_int_equal(hy_inspect(ctx, A, B, 0, NULL, &p), HYBRID_OK);
    check_rows(&p, A);
    check_ends(&p, A);
    assert_int_equal(p.op, HY_SPGEMM);
    assert_int_equal(p.products[0], 0);
    assert_int_equal(p.bound[0], 0);
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t n = row_products(A, B, i);
        products += n;
        bound += n < B->cols ? n : B->cols;
        costliest = n > costliest ? n : costliest;
        assert_int_equal(p.products[i + 1], products);
        assert_int_equal(p.bound[i + 1], bound);
    }
    assert_true((p.bound == p.products) == (costliest <= B->cols));
    assert_int_equal(p.features.products, products);
    assert_int_equal(p.features.out_bound, bound);
    assert_int_equal(p.features.products_max, costliest);
    assert_int_equal(p.features.out_cols, B->cols);
    assert_true(p.features.out_ratio >= 1);
    check_counter(A, B, &p);
    hy_profile_free(ctx, &p);
}

static void check_spmm(const hybrid_csr *A, int64_t cols)
{
    hy_profile p;

    assert_int_equal(hy_inspect(ctx, A, NULL, cols, NULL, &p), HYBRID_OK);
    check_rows(&p, A);
    assert_int_equal(p.op, HY_SPMM);
    assert_ptr_equal(p.products, p.nnz);
    assert_null(p.bound);
    assert_int_equal(p.features.products, A->nnz * cols);
    assert_int_equal(p.features.products_max, p.features.row_max * cols);
    assert_int_equal(p.features.out_bound, A->rows * cols);
    assert_true(p.features.out_ratio == 1);
    hy_profile_free(ctx, &p);
}

static void cases_are_counted(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int i = 0; i < case_count(); i++) {
            test_case c;
            case_make(i, kinds[k], &c);
            check_spgemm(&c.A, &c.B);
            check_spmm(&c.A, 0);
            check_spmm(&c.A, 1);
            check_spmm(&c.A, 33);
            case_free(&c);
        }
}

/* Counts are right if the rows are counted in several pieces by several workers. The
   longest row is in the first piece, the row with most scalar products in a later one. */
static void many_pieces_are_counted(void **state)
{
    builder b = build_start(150000, 5000);
    hybrid_csr A, B;

    (void)state;
    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t j = 0; j < (i == 5 ? 900 : i == 70000 ? 100 : 3); j++)
            build_add(&b, i == 70000 ? 4000 + j : test_below(7, (uint64_t)(i + j), 4000));
        build_end_row(&b);
    }
    A = build_finish(&b, 8, kinds[0]);
    b = build_start(5000, 700);
    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t j = 0; j < (i < 4000 ? i % 3 : 60); j++)
            build_add(&b, 11 * j);
        build_end_row(&b);
    }
    B = build_finish(&b, 9, kinds[0]);
    check_spgemm(&A, &B);
    check_spmm(&A, 5);
    matrix_free(&A);
    matrix_free(&B);
}

/* Makes a matrix of which row `at` has `longest` entries and the others have up to 4;
   every fifth row is empty. */
static hybrid_csr with_long_row(int64_t rows, int64_t cols, int64_t at, int64_t longest,
                                test_kind kind)
{
    builder b = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < (i == at ? longest : i % 5); j++)
            build_add(&b, i == at ? j : test_below(3, (uint64_t)(7 * i + j), cols));
        build_end_row(&b);
    }
    return build_finish(&b, 5, kind);
}

/* Counts are right if a row of B has about 2^8 or 2^16 entries, so that its length no
   longer fits one or two bytes. A needs every row of B. */
static void long_rows_are_counted(void **state)
{
    static const int64_t longest[] = {254, 255, 256, 257, 65534, 65535, 65536, 70000};

    (void)state;
    for (size_t k = 0; k < sizeof longest / sizeof *longest; k++) {
        hybrid_csr A = with_long_row(900, 3000, 0, 3000, kinds[k % 2]);
        hybrid_csr B =
            with_long_row(3000, longest[k] + 9, 1234, longest[k], kinds[k % 2]);
        check_spgemm(&A, &B);
        matrix_free(&A);
        matrix_free(&B);
    }
}

/* Counts are right if a row of A is so long that it takes several pieces. The rows around
   it have up to 4 entries. */
static void rows_longer_than_a_piece_are_counted(void **state)
{
    static const int64_t at[] = {0, 1, 700, 999};

    (void)state;
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        hybrid_csr A = with_long_row(1000, 200000, at[k], 200000, kinds[k % 2]);
        hybrid_csr B = with_long_row(200000, 500, 77, 400, kinds[k % 2]);
        check_spgemm(&A, &B);
        check_spmm(&A, 3);
        matrix_free(&A);
        matrix_free(&B);
    }
}

/* One row of C has as many scalar products as B has columns, or one more. The upper
   bound of its entries is the number of columns in both cases. */
static void one_row_is_bounded(void **state)
{
    (void)state;
    for (int64_t more = 0; more < 2; more++) {
        hybrid_csr A = with_long_row(90000, 400, 45000, 400, kinds[more]);
        builder b    = build_start(400, 2000);
        for (int64_t i = 0; i < 400; i++) {
            for (int64_t j = 0; j < 5 + (i == 399 ? more : 0); j++)
                build_add(&b, 3 * i + j);
            build_end_row(&b);
        }
        hybrid_csr B = build_finish(&b, 6, kinds[more]);
        check_spgemm(&A, &B);
        matrix_free(&A);
        matrix_free(&B);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_counter_says_counts),
        cmocka_unit_test(cases_are_counted),
        cmocka_unit_test(many_pieces_are_counted),
        cmocka_unit_test(long_rows_are_counted),
        cmocka_unit_test(rows_longer_than_a_piece_are_counted),
        cmocka_unit_test(one_row_is_bounded),
    };
    return cmocka_run_group_tests_name("count", tests, open_context, close_context);
}
