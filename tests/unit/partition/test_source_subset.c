/* tests/unit/partition/test_source_subset.c - listed rows of X as a source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/format/pack.h"
#include "partition/move/fill.h"
#include "partition/move/sources.h"
#include "tests/support/check/poison.h"
#include "tests/support/engines/all_pinned.h"
#include "tests/support/engines/group.h"
#include "tests/support/inputs/cases.h"

static const test_kind kinds[]     = {{HYBRID_F32, HYBRID_I32, 1},
                                      {HYBRID_F64, HYBRID_I64, 0}};
static const hybrid_order orders[] = {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR};

/* Returns the image of the source, which consists of one region. The caller frees it. */
static char *fill_image(const hy_image *image, const hy_source *source)
{
    const size_t bytes = hy_image_bytes(image);
    const hy_region r  = hy_image_region(image, 0);
    char *whole        = poison_block(bytes);

    assert_int_equal(hy_fill(image, source, &r, 0, r.elements, whole), HYBRID_OK);
    assert_true(poison_guard_intact(whole, bytes));
    return whole;
}

/* Checks that the image of `listed` consists of these rows of X. */
static void check_subset(const hybrid_dense *X, const int32_t *listed, int64_t rows,
                         hy_form form)
{
    const hy_source of     = hy_source_dense(&all_pinned, X);
    const hy_source source = hy_source_subset(&of, listed, rows);
    const hy_image image   = hy_image_of_dense(form, rows, X->cols, X->type, 1);
    const hy_region all    = hy_image_region(&image, 0);
    char *whole            = fill_image(&image, &source);
    const hy_cols_view v   = {.rows = rows, .cols = X->cols, .shift = HY_X_SHIFT};
    const int64_t near     = X->cols - all.tail;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < X->cols; j++) {
            const int64_t at = form == HY_FORM_SLABS ? hy_x_at(&v, i, j)
                               : j < near            ? i * all.ld + j
                                          : rows * all.ld + i * all.tail_ld + j - near;
            assert_true(value_at(whole, X->type, at) == dense_at(X, listed[i], j));
        }
    assert_null(source.ops->run); /* workers gather these rows */
    free(whole);
}

/* Lists `rows` rows of `all`: every third, at changing distances, or runs of four rows
   with a gap of one, most of which follow each other. */
static int32_t *list_rows(int64_t all, int runs, int64_t *rows)
{
    int32_t *listed = malloc((size_t)all * sizeof *listed);

    assert_non_null(listed);
    *rows = 0;
    for (int32_t i = 0; i < all; i++)
        if (runs ? i % 5 < 4 : i % 3 == i / 3 % 3)
            listed[(*rows)++] = i;
    return listed;
}

static void a_subset_is_its_rows(void **state)
{
    enum { ALL = 2 * HY_X_SLAB };
    static const int64_t widths[] = {1, 5, 33};

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (int order = 0; order < 4; order++) {
                hybrid_dense X;
                int64_t rows;
                int32_t *listed = list_rows(ALL, order / 2, &rows);
                dense_make(ALL, widths[w], 1, orders[order % 2], 6, kinds[k], &X);
                check_subset(&X, listed, rows, HY_FORM_ROWS);
                check_subset(&X, listed, rows, HY_FORM_SLABS);
                dense_free(&X);
                free(listed);
            }
}

/* Writes 100 * row + column for each element, whatever the matrix holds. */
static hybrid_status number(const hy_source *self, const int32_t *listed, int64_t count,
                            int64_t col, int64_t cols, const hy_grid *to)
{
    (void)self;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < cols; j++)
            ((double *)to->at)[i * to->row + j * to->col] =
                (double)(100 * listed[i] + col + j);
    return HYBRID_OK;
}

/* The rows come from the source of all rows, even if the matrix has an array: it may be a
   source of any kind. */
static void rows_come_from_the_source_of_all(void **state)
{
    static const hy_source_ops numbers = {.gather = number};
    static const int32_t listed[]      = {1, 4, 5};
    double zero[24]                    = {0}, out[6];
    const hybrid_dense X               = {.rows  = 6,
                                          .cols  = 4,
                                          .ld    = 4,
                                          .type  = HYBRID_F64,
                                          .order = HYBRID_ROW_MAJOR,
                                          .data  = zero};
    const hy_source all                = {
                       .ops = &numbers, .ctx = ctx, .rows = 6, .cols = 4, .dense = &X};
    const hy_source subset = hy_source_subset(&all, listed, 3);
    const hy_rect rect     = {1, 2, 1, 3};
    const hy_grid to       = {(char *)out, 3, 1};

    (void)state;
    assert_int_equal(subset.ops->fill(&subset, &rect, &to), HYBRID_OK);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            assert_true(out[3 * i + j] == 100 * listed[1 + i] + 1 + j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_subset_is_its_rows),
        cmocka_unit_test(rows_come_from_the_source_of_all),
    };
    return cmocka_run_group_tests_name("source_subset", tests, open_context,
                                       close_context);
}
