/* tests/unit/plan/test_picks.c - preferences of the models of the CUDA variants on an
   H200.

   The variant with the least predicted seconds must be the one with the least measured
   time, for named matrices. The test is skipped if these variants are not compiled. It
   needs no GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/tables/tables.h"

static const hy_rates h200 = {.h2d_Bps  = 55.4e9,
                              .d2h_Bps  = 55.3e9,
                              .both_Bps = 98e9,
                              .mem_Bps  = 4.228e12,
                              .flops    = 6e13,
                              .launch_s = 5e-6,
                              .width    = 132,
                              .sm       = 90,
                              .memory   = (size_t)140 << 30,
                              .cache    = 60 << 20};

static const hy_variant *variant_named(const char *name)
{
    for (int i = 0; hy_variants[i]; i++)
        if (strcmp(hy_variants[i]->name, name) == 0)
            return hy_variants[i];
    skip();
    return NULL;
}

/* Returns the seconds that the variant is predicted to take on the device. */
static double predicted_s(const char *name, const hy_features *f)
{
    const hy_variant *variant = variant_named(name);
    assert_null(variant->refuse(f, &h200));
    const hy_cost cost = variant->cost(f, &h200);
    return cost.multiply_s + cost.finish_s;
}

static int prefers(const char *one, const char *other, const hy_features *f)
{
    return predicted_s(one, f) < predicted_s(other, f);
}

/* Returns features of A*A or A*A^T, with the sizes of a named matrix A. */
static hy_features spgemm_of(int64_t rows, int64_t nnz, int64_t products,
                             int64_t products_max, double cv, double ratio)
{
    return (hy_features){.rows         = rows,
                         .cols         = rows,
                         .nnz          = nnz,
                         .out_cols     = rows,
                         .products     = products,
                         .out_bound    = products,
                         .products_max = products_max,
                         .row_mean     = (double)nnz / (double)rows,
                         .row_cv       = cv,
                         .row_max      = nnz / 8,
                         .out_ratio    = ratio,
                         .type         = HYBRID_F32};
}

static hy_features spmm_of(int64_t rows, int64_t nnz, int64_t x_cols, double cv,
                           int64_t row_max)
{
    return (hy_features){.rows      = rows,
                         .cols      = 3 * rows,
                         .nnz       = nnz,
                         .out_cols  = x_cols,
                         .row_mean  = (double)nnz / (double)rows,
                         .row_cv    = cv,
                         .row_max   = row_max,
                         .tile_fill = 0.07,
                         .type      = HYBRID_F32};
}

/* Measured microseconds of a product: rail507, dense variant 65, hash variant 3300;
   bcsstk13, dense 128, hash 255. */
static void long_rows_of_a_small_result_are_dense(void **state)
{
    const hy_features rail507  = spgemm_of(509, 468878, 3639394, 453002, 2.99, 73.4);
    const hy_features bcsstk13 = spgemm_of(2003, 83883, 4554541, 7311, 0.54, 11.4);

    (void)state;
    assert_true(prefers("spgemm.cuda.dense", "spgemm.cuda.hash", &rail507));
    assert_true(prefers("spgemm.cuda.dense", "spgemm.cuda.hash", &bcsstk13));
}

/* Measured microseconds of a product (hash variant, dense variant) for the matrices
   below, in their order: 54, 68; 116, 183; 3670, 7490; 322, 1180. */
static void short_rows_and_wide_results_are_not(void **state)
{
    const hy_features not_dense[] = {
        spgemm_of(1030, 6858, 46976, 112, 0.17, 2),             /* matrix orsirr_1 */
        spgemm_of(2708, 10556, 115158, 870, 1.34, 1.23),        /* matrix cora */
        spgemm_of(10312, 667966, 368883274, 532612, 2.74, 4.1), /* matrix blogcatalog */
        spgemm_of(8297, 103689, 4542805, 31666, 3.16, 2.5)};    /* matrix wiki-Vote */

    (void)state;
    for (size_t i = 0; i < sizeof not_dense / sizeof *not_dense; i++)
        assert_true(prefers("spgemm.cuda.hash", "spgemm.cuda.dense", &not_dense[i]));
}

/* Measured microseconds of a product: actor_movie, variant merge 33, rows 54, cuSPARSE
   51; tf18, rows 103, merge 111. */
static void rows_that_end_apart_are_merged(void **state)
{
    const hy_features actor_movie = spmm_of(127823, 1470404, 32, 1.02, 294);
    const hy_features tf18        = spmm_of(95368, 1597545, 128, 0.52, 81);

    (void)state;
    assert_true(prefers("spmm.cuda.merge", "spmm.cuda.rows", &actor_movie));
    assert_true(prefers("spmm.cuda.rows", "spmm.cuda.merge", &tf18));
}

/* hy_cut_chunks() needs that bytes never decrease when rows are added
   (base/contract/variant.h). */
static void dense_sums_never_take_less_for_more_rows(void **state)
{
    const hy_variant *dense = variant_named("spgemm.cuda.dense");
    hy_features f           = {.out_cols = 700, .out_ratio = 1, .type = HYBRID_F64};
    size_t before           = 0;

    (void)state;
    for (int64_t i = 0; i < 3000; i++) {
        const int64_t nnz = i % 97 == 0 ? 5000 : i % 5, b_row = i % 13;
        f.rows++;
        f.nnz += nnz;
        f.products += nnz * b_row;
        const size_t bytes = dense->cost(&f, &h200).work_bytes;
        assert_true(bytes >= before);
        before = bytes;
    }
    assert_true(before > 3000 * 700 * 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_rows_of_a_small_result_are_dense),
        cmocka_unit_test(short_rows_and_wide_results_are_not),
        cmocka_unit_test(rows_that_end_apart_are_merged),
        cmocka_unit_test(dense_sums_never_take_less_for_more_rows),
    };
    return cmocka_run_group_tests_name("picks", tests, NULL, NULL);
}
