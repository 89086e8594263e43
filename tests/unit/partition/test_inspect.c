/* tests/unit/partition/test_inspect.c - estimates from samples of operands. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/pattern/inspect.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/blocked.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/engines/group.h"
#include "tests/support/check/oracle.h"

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F64, HYBRID_I64, 0}};

static void ranges_are_differences(void **state)
{
    test_case c;
    hy_profile p, q;

    (void)state;
    case_named("power_law", kinds[1], &c);
    assert_int_equal(hy_inspect(ctx, &c.A, &c.B, 0, NULL, &p), HYBRID_OK);
    assert_int_equal(hy_inspect(ctx, &c.A, NULL, 20, NULL, &q), HYBRID_OK);
    for (int64_t begin = 0; begin <= c.A.rows; begin += 31)
        for (int64_t end = begin; end <= c.A.rows; end += 17) {
            hy_features f = hy_profile_range(&p, begin, end, c.B.cols);
            assert_int_equal(f.rows, end - begin);
            assert_int_equal(f.nnz, p.nnz[end] - p.nnz[begin]);
            assert_int_equal(f.products, p.products[end] - p.products[begin]);
            assert_int_equal(f.out_bound, p.bound[end] - p.bound[begin]);
            assert_int_equal(f.row_max, fmin((double)p.features.row_max, (double)f.nnz));
            assert_true(f.products_max <= f.products);
            assert_true(f.out_ratio == p.features.out_ratio);
            f = hy_profile_range(&q, begin, end, 3);
            assert_int_equal(f.out_cols, 3);
            assert_int_equal(f.products, 3 * f.nnz);
            assert_int_equal(f.out_bound, 3 * (end - begin));
            assert_int_equal(f.products_max, 3 * f.row_max);
            assert_int_equal(f.gather_rows, 0);
        }
    hy_profile_free(ctx, &p);
    hy_profile_free(ctx, &q);
    case_free(&c);
}

/* The estimated ratio of scalar products to entries of C is exact if C has no more
   scalar products than the sample may. Otherwise it is close, or too low, because rows
   with very many scalar products count with the upper bound of their entries. */
static void ratio_is_estimated(void **state)
{
    (void)state;
    for (int i = 0; i < case_count(); i++) {
        test_case c;
        oracle o;
        hy_profile p;
        case_make(i, kinds[0], &c);
        oracle_spgemm(&c.A, &c.B, &o);
        assert_int_equal(hy_inspect(ctx, &c.A, &c.B, 0, NULL, &p), HYBRID_OK);
        const double products = (double)p.features.products;
        const double ratio    = products > 0 ? products / (double)o.nnz : 1;
        const double slack    = products <= 512 ? 1e-9 : 0.1;
        const double least    = products / (double)p.features.out_bound;
        const int is_bound = products > 512 && fabs(p.features.out_ratio - least) < 1e-9;
        if (!is_bound && fabs(p.features.out_ratio / ratio - 1) > slack)
            fail_msg("%s: %g, not %g", c.name, p.features.out_ratio, ratio);
        hy_profile_free(ctx, &p);
        oracle_free(&o);
        case_free(&c);
    }
}

/* A row with three million scalar products in 1500 columns is too expensive to count. It
   counts with the upper bound of its entries. */
static void costly_row_stands_at_its_bound(void **state)
{
    const int64_t n = 2000, cols = 1500;
    int64_t *ptr  = malloc((size_t)(n + 1) * 8);
    int32_t *col  = malloc((size_t)(n * cols) * 4);
    int64_t one[] = {0, n};
    float zero    = 0;
    hy_profile p;

    (void)state;
    assert_true(ptr && col);
    for (int64_t k = 0; k < n * cols; k++)
        col[k] = (int32_t)(k % cols);
    for (int64_t i = 0; i <= n; i++)
        ptr[i] = i * cols;
    const hybrid_csr B = {n, cols, n * cols, HYBRID_I64, ptr, col, &zero, HYBRID_F32};
    int32_t *a_col     = malloc((size_t)n * 4);
    assert_non_null(a_col);
    for (int32_t k = 0; k < n; k++)
        a_col[k] = k;
    const hybrid_csr A = {1, n, n, HYBRID_I64, one, a_col, &zero, HYBRID_F32};
    assert_int_equal(hy_inspect(ctx, &A, &B, 0, NULL, &p), HYBRID_OK);
    assert_int_equal(p.features.products, 3000000);
    assert_true(fabs(p.features.out_ratio - 2000) < 1e-6);
    hy_profile_free(ctx, &p);
    free(ptr);
    free(col);
    free(a_col);
}

/* Several workers count a row with many scalar products together. The estimate must not
   depend on the number of workers, and must be close to the exact ratio. */
static void shared_rows_are_counted(void **state)
{
    builder a = build_start(2, 1500), b = build_start(1500, 30000);
    oracle o;
    double ratio = 0;

    (void)state;
    for (int64_t i = 0; i < 2; i++) {
        for (int64_t k = i; k < 1500; k++)
            build_add(&a, k);
        build_end_row(&a);
    }
    for (int64_t i = 0; i < 1500; i++) {
        for (int64_t j = 0; j < 400; j++)
            build_add(&b, test_below(11, (uint64_t)(400 * i + j), i < 750 ? 900 : 30000));
        build_end_row(&b);
    }
    hybrid_csr A = build_finish(&a, 1, kinds[0]), B = build_finish(&b, 2, kinds[0]);
    oracle_spgemm(&A, &B, &o);
    for (int threads = 1; threads <= 8; threads++) {
        hy_context *some = test_context(threads);
        hy_profile p;
        assert_int_equal(hy_inspect(some, &A, &B, 0, NULL, &p), HYBRID_OK);
        ratio = ratio > 0 ? ratio : p.features.out_ratio;
        assert_true(p.features.out_ratio == ratio);
        assert_true(fabs(ratio / ((double)p.features.products / (double)o.nnz) - 1) <
                    0.05);
        hy_profile_free(some, &p);
        test_context_free(some);
    }
    oracle_free(&o);
    matrix_free(&A);
    matrix_free(&B);
}

/* All columns of a row have the same hash, and they are more than the counting table has
   places. The row counts with its upper bound, with any number of workers. */
static void columns_that_defy_the_hash_end(void **state)
{
    const int64_t entries = 40, each = 5000;
    builder a = build_start(1, entries), b = build_start(entries, entries * each * 64);
    uint32_t col = 0;

    (void)state;
    for (int64_t i = 0; i < entries; i++) {
        build_add(&a, i);
        for (int64_t j = 0; j < each; col++)
            if (col * 2654435769u >> 26 == 0) {
                build_add(&b, (int64_t)col);
                j++;
            }
        build_end_row(&b);
    }
    build_end_row(&a);
    hybrid_csr A = build_finish(&a, 1, kinds[0]), B = build_finish(&b, 2, kinds[0]);
    for (int threads = 1; threads <= 8; threads++) {
        hy_context *some = test_context(threads);
        hy_profile p;
        assert_int_equal(hy_inspect(some, &A, &B, 0, NULL, &p), HYBRID_OK);
        assert_int_equal(p.features.products, entries * each);
        assert_true(p.features.out_ratio == 1);
        hy_profile_free(some, &p);
        test_context_free(some);
    }
    matrix_free(&A);
    matrix_free(&B);
}

/* In a matrix of full blocks the block shape is found, and the fill (share of a block's
   elements that are entries) is at least 0.97. */
static void blocks_are_found(void **state)
{
    hybrid_csr A;
    hy_profile p;

    (void)state;
    for (int k = 0; k < 64; k++) {
        const int r = k / 8 + 1, c = k % 8 + 1;
        blocked_matrix(r * 200 - r / 2, c * 900 - c / 2, r, c, 9, 0, 0, kinds[k % 2], &A);
        assert_int_equal(hy_inspect(ctx, &A, NULL, 1, NULL, &p), HYBRID_OK);
        assert_int_equal(hy_inspect_fill(ctx, &A, 1, &p), HYBRID_OK);
        const hy_features *f = &p.features;
        if (f->block_rows != r || f->block_cols != c)
            fail_msg("%d x %d, not %d x %d", f->block_rows, f->block_cols, r, c);
        assert_in_range((int64_t)(f->block_fill * 1000), 970, 1000);
        if (r * c == 1)
            assert_non_null(hy_block_refuse(f));
        else
            assert_null(hy_block_refuse(f));
        hy_profile_free(ctx, &p);
        matrix_free(&A);
    }
}

/* The fill of a large matrix is estimated from a sample. It has blocks of 3 x 3 with a
   ninth of the entries missing. */
static void fill_of_blocks_is_estimated(void **state)
{
    hybrid_csr A;
    hy_profile p;

    (void)state;
    blocked_matrix(90000, 90000, 3, 3, 4, 0, 9, kinds[0], &A);
    assert_int_equal(hy_inspect(ctx, &A, NULL, 1, NULL, &p), HYBRID_OK);
    assert_int_equal(hy_inspect_fill(ctx, &A, 1, &p), HYBRID_OK);
    assert_int_equal(p.features.block_rows, 3);
    assert_int_equal(p.features.block_cols, 3);
    assert_true(fabs(p.features.block_fill - 8.0 / 9) < 0.02);
    assert_true(hy_profile_range(&p, 5, 9, 1).block_fill == p.features.block_fill);
    hy_profile_free(ctx, &p);
    assert_int_equal(hy_inspect(ctx, &A, NULL, 2, NULL, &p), HYBRID_OK);
    assert_int_equal(hy_inspect_fill(ctx, &A, 1, &p), HYBRID_OK);
    assert_true(p.features.block_fill == 0); /* the fill is not estimated for SpMM, which
                                                does not use it */
    hy_profile_free(ctx, &p);
    matrix_free(&A);
}

static void scattered_entries_are_no_blocks(void **state)
{
    hybrid_csr A;
    hy_profile p;

    (void)state;
    matrix_random(3000, 3000, 8, 3, kinds[0], &A);
    assert_int_equal(hy_inspect(ctx, &A, NULL, 1, NULL, &p), HYBRID_OK);
    assert_non_null(hy_block_refuse(&p.features));
    hy_profile_free(ctx, &p);
    matrix_free(&A);
}

static void absurd_sizes_are_refused(void **state)
{
    test_case c;
    hy_profile p;

    (void)state;
    case_named("random", kinds[0], &c);
    hy_message_clear(&ctx->message);
    assert_int_equal(hy_inspect(ctx, &c.A, NULL, (int64_t)1 << 60, NULL, &p),
                     HYBRID_UNSUPPORTED);
    assert_non_null(strstr(ctx->message.text, "2^60 is the limit"));
    case_free(&c);
}

static void failed_allocations_leave_nothing(void **state)
{
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    hybrid_status status = HYBRID_NO_MEMORY;
    int failures         = 0;
    test_case c;
    hy_profile p;

    (void)state;
    case_named("banded", kinds[0], &c);
    for (; status != HYBRID_OK; failures++) {
        ctx->memory.failures = failures + 1;
        status               = hy_inspect(ctx, &c.A, &c.B, 0, NULL, &p);
        if (status != HYBRID_OK) {
            assert_int_equal(status, HYBRID_NO_MEMORY);
            assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
        }
    }
    ctx->memory.failures = 0;
    assert_true(failures > 4);
    hy_profile_free(ctx, &p);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_differences),
        cmocka_unit_test(ratio_is_estimated),
        cmocka_unit_test(costly_row_stands_at_its_bound),
        cmocka_unit_test(shared_rows_are_counted),
        cmocka_unit_test(columns_that_defy_the_hash_end),
        cmocka_unit_test(blocks_are_found),
        cmocka_unit_test(fill_of_blocks_is_estimated),
        cmocka_unit_test(scattered_entries_are_no_blocks),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests_name("inspect", tests, open_context, close_context);
}
