/* tests/unit/partition/test_tiles.c - estimate of how much neighbouring rows share their
   columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "partition/pattern/inspect.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/engines/group.h"

static const test_kind kind = {HYBRID_F32, HYBRID_I64, 1};

static double estimate(builder *b)
{
    hybrid_csr A = build_finish(b, 8, kind);
    hy_profile profile;

    assert_int_equal(hy_inspect(ctx, &A, NULL, 4, NULL, &profile), HYBRID_OK);
    assert_int_equal(hy_inspect_fill(ctx, &A, 1, &profile), HYBRID_OK);
    const double fill = profile.features.tile_fill;
    hy_profile_free(ctx, &profile);
    matrix_free(&A);
    return fill;
}

/* Returns the estimated tile_fill (mean share of a row panel's 16 rows that have an
   entry in a column of the panel) of a matrix in which `same` consecutive rows have the
   same 6 columns. */
static double fill_of(int64_t rows, int64_t same)
{
    builder b = build_start(rows, 30000);

    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t j = 0; j < 6; j++)
            build_add(&b, (i / same * 7 + j) % b.cols);
        build_end_row(&b);
    }
    return estimate(&b);
}

static void fill_is_what_rows_share(void **state)
{
    (void)state;
    for (int64_t rows = 16; rows <= 16384; rows *= 8)
        for (int64_t same = 1; same <= 16; same *= 2)
            assert_true(fill_of(rows, same) == (double)same / 16);
}

/* A row panel of only 4 rows counts as one of 16: four equal rows fill it to a
   quarter. */
static void last_panel_counts_as_16_rows(void **state)
{
    (void)state;
    assert_true(fill_of(4, 16) == 0.25);
}

static void nothing_is_known_of_no_entries(void **state)
{
    builder empty = build_start(100, 7), none = build_start(0, 0);

    (void)state;
    assert_true(estimate(&empty) == 0);
    assert_true(estimate(&none) == 0);
}

/* One half of the matrix has one entry in each row, the other half has dense row panels.
   Both halves count equally in the estimate, as samples are taken from the whole
   matrix. */
static void samples_are_spread(void **state)
{
    builder b = build_start(32768, 32768);

    (void)state;
    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t j = 0; j < (i < b.rows / 2 ? 1 : 16); j++)
            build_add(&b, i < b.rows / 2 ? i : i / 16 * 16 + j);
        build_end_row(&b);
    }
    assert_true(estimate(&b) == 17.0 / 32);
}

static void classes_begin_at_an_eighth_and_a_quarter(void **state)
{
    (void)state;
    assert_string_equal(hy_synergy_class(0.124), "low");
    assert_string_equal(hy_synergy_class(fill_of(1024, 2)), "medium");
    assert_string_equal(hy_synergy_class(0.249), "medium");
    assert_string_equal(hy_synergy_class(fill_of(1024, 4)), "high");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_is_what_rows_share),
        cmocka_unit_test(last_panel_counts_as_16_rows),
        cmocka_unit_test(nothing_is_known_of_no_entries),
        cmocka_unit_test(samples_are_spread),
        cmocka_unit_test(classes_begin_at_an_eighth_and_a_quarter),
    };
    return cmocka_run_group_tests_name("tiles", tests, open_context, close_context);
}
