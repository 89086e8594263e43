/* tests/unit/partition/test_x_ranges.c - the rows of B or X that chunks wait for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "partition/pattern/chunks.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"
#include "support/engines/group.h"

enum { MOST = 64, PANELS = 3 };

/* Makes chunks of `rows` to `rows` + 2 rows, for each of `panels` column blocks. Returns
   their number. */
static int64_t cut(const hybrid_csr *A, int64_t rows, int64_t panels, hy_chunk *out)
{
    int64_t count = 0;

    for (int64_t panel = 0; panel < panels; panel++)
        for (int64_t begin = 0, i = 0; begin < A->rows; i++, count++) {
            const int64_t end = begin + rows + i % 3;
            assert_in_range(count, 0, MOST - 1);
            /* the other fields are not 0, as in reused memory */
            memset(&out[count], 0xff, sizeof *out);
            out[count].row_begin = begin;
            out[count].row_end   = end < A->rows ? end : A->rows;
            out[count].col_begin = panel;
            begin                = out[count].row_end;
        }
    return count;
}

/* Returns the x_end that a chunk should have: it needs no row of B or X from this number
   on. With with_own it also needs the rows that have the numbers of its own rows.
   Examines all entries of the chunk. */
static int64_t expect(const hybrid_csr *A, const hy_chunk *chunk, int with_own)
{
    const int64_t *row_ptr = A->row_ptr;
    int64_t needs          = with_own ? chunk->row_end : 0;

    needs = needs < A->cols ? needs : A->cols;
    for (int64_t k = row_ptr[chunk->row_begin]; k < row_ptr[chunk->row_end]; k++)
        needs = hy_cols(A)[k] >= needs ? hy_cols(A)[k] + 1 : needs;
    return needs;
}

/* Finds the x_end of chunks twice: from all entries, and from hy_profile.ends (the
   largest columns of blocks of rows). Both must be equal. */
static void check_with_ends(const hybrid_csr *A, int with_own, hy_chunk *chunks,
                            int64_t count)
{
    builder b = build_start(A->cols, 1);
    hy_chunk known[MOST];
    hy_profile profile;

    for (int64_t i = 0; i < A->cols; i++)
        build_end_row(&b);
    hybrid_csr B = build_finish(&b, 1, (test_kind){HYBRID_F32, HYBRID_I64, 1});
    memcpy(known, chunks, (size_t)count * sizeof *known);
    assert_int_equal(hy_inspect(ctx, A, &B, 0, NULL, &profile), HYBRID_OK);
    assert_int_equal(
        hy_chunks_find_x_ranges(ctx, A, profile.ends, with_own, known, count), HYBRID_OK);
    assert_int_equal(hy_chunks_find_x_ranges(ctx, A, NULL, with_own, chunks, count),
                     HYBRID_OK);
    for (int64_t c = 0; c < count; c++)
        assert_int_equal(known[c].x_end, chunks[c].x_end);
    hy_profile_free(ctx, &profile);
    matrix_free(&B);
}

/* Checks that x_end of each chunk is exact, or is A->cols if the exact number is within
   the last 32nd of A's columns. Returns how many chunks do not need all rows. */
static int check(const hybrid_csr *A, int64_t rows, int64_t panels, int with_own)
{
    hy_chunk chunks[MOST];
    const int64_t count = cut(A, rows, panels, chunks);
    int partial         = 0;

    check_with_ends(A, with_own, chunks, count);
    assert_int_equal(hy_chunks_find_x_ranges(ctx, A, NULL, with_own, chunks, count),
                     HYBRID_OK);
    for (int64_t c = 0; c < count; c++) {
        const int64_t needs  = expect(A, &chunks[c], with_own);
        const int nearly_all = needs >= A->cols - A->cols / 32;
        assert_int_equal(chunks[c].x_end, nearly_all ? A->cols : needs);
        partial += !nearly_all;
    }
    return partial;
}

/* Makes a matrix of which rows have three columns near the diagonal, or are empty. */
static hybrid_csr banded(int64_t rows, int64_t cols, int64_t width)
{
    builder b = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        const int64_t middle = i * cols / rows;
        for (int64_t k = 0; k < 3 && i % 7 != 3; k++)
            build_add(&b, (middle + test_below(5, (uint64_t)(3 * i + k), width)) % cols);
        build_end_row(&b);
    }
    return build_finish(&b, 1, (test_kind){HYBRID_F32, HYBRID_I64, 1});
}

static void bands_need_what_they_touch(void **state)
{
    hybrid_csr A = banded(40000, 30000, 200);

    (void)state;
    assert_true(check(&A, 3000, 1, 0) > 8); /* chunks are so large that several workers
                                               inspect parts of one */
    assert_true(check(&A, 20000, 1, 0) > 0);
    assert_true(check(&A, 3000, PANELS, 0) > 8 * PANELS);
    assert_int_equal(check(&A, 40000, 1, 0), 0);
    matrix_free(&A);
}

/* Checks that x_begin (the first row of X that the chunk or a later one needs) and x_end
   are exact if X is in a ring of rows. */
static void check_band(const hybrid_csr *A, int64_t rows)
{
    hy_chunk chunks[MOST];
    const int64_t *row_ptr = A->row_ptr;
    const int64_t count    = cut(A, rows, 1, chunks);
    int64_t first          = A->cols;
    hy_extents extents;

    assert_int_equal(hy_extents_find(ctx, A, A->cols, &extents), HYBRID_OK);
    assert_non_null(extents.blocks);
    assert_int_equal(hy_chunks_find_band(ctx, &extents, chunks, count), HYBRID_OK);
    hy_extents_free(ctx, &extents);
    for (int64_t c = count - 1; c >= 0; c--) {
        for (int64_t k = row_ptr[chunks[c].row_begin]; k < row_ptr[chunks[c].row_end];
             k++)
            first = hy_cols(A)[k] < first ? hy_cols(A)[k] : first;
        assert_int_equal(chunks[c].x_begin, first);
        assert_int_equal(chunks[c].x_end, expect(A, &chunks[c], 0));
    }
}

static void a_window_knows_both_ends(void **state)
{
    hybrid_csr A    = banded(40000, 30000, 200);
    hybrid_csr none = banded(0, 10, 1), empty = banded(1, 3, 1), random;

    (void)state;
    check_band(&A, 700);
    check_band(&A, 20000);
    check_band(&A, 40000);
    matrix_random(20000, 5000, 8, 3, (test_kind){HYBRID_F32, HYBRID_I64, 1}, &random);
    check_band(&random, 1000);
    check_band(&none, 1);
    ((int64_t *)empty.row_ptr)[1] = 0;
    check_band(&empty, 1);
    matrix_free(&random);
    matrix_free(&empty);
    matrix_free(&none);
    matrix_free(&A);
}

/* Checks the extent of rows [begin, end): the first column with an entry, and the last
   one plus 1. */
static void check_extents(const hybrid_csr *A, const hy_extents *extents, int64_t begin,
                          int64_t end)
{
    const hy_extent found = hy_extents_of(extents, begin, end);
    hy_extent expected    = {INT32_MAX, 0};

    for (int64_t k = hy_offset(A, begin); k < hy_offset(A, end); k++) {
        expected.first = hy_cols(A)[k] < expected.first ? hy_cols(A)[k] : expected.first;
        expected.end   = hy_cols(A)[k] >= expected.end ? hy_cols(A)[k] + 1 : expected.end;
    }
    assert_int_equal(found.first, expected.first);
    assert_int_equal(found.end, expected.end);
}

static void any_rows_know_their_columns(void **state)
{
    hybrid_csr A = banded(203, 300, 20);
    hy_extents extents;

    (void)state;
    assert_int_equal(hy_extents_find(ctx, &A, A.cols, &extents), HYBRID_OK);
    assert_non_null(extents.blocks);
    for (int64_t begin = 0; begin <= A.rows; begin++)
        for (int64_t end = begin; end <= A.rows; end++)
            check_extents(&A, &extents, begin, end);
    hy_extents_free(ctx, &extents);
    matrix_free(&A);
}

/* Makes a matrix with up to three entries in random columns of each row. Some rows are
   empty, among them the first five of every 64. */
static hybrid_csr with_gaps(int64_t rows, int64_t cols)
{
    builder b = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        for (uint64_t k = 0; k < 3 && i % 64 >= 5 && test_below(7, (uint64_t)i, 3); k++)
            build_add(&b, test_below(8, (uint64_t)i * 3 + k, cols));
        build_end_row(&b);
    }
    return build_finish(&b, 1, (test_kind){HYBRID_F32, HYBRID_I64, 1});
}

/* When a SpGEMM is planned, hy_inspect() stores the first and last columns of blocks of
   A's rows in the profile. hy_extents then gives them for any range of rows. */
static void inspection_knows_their_columns(void **state)
{
    hybrid_csr of[] = {with_gaps(7000, 900), with_gaps(403, 300), with_gaps(3, 3)};

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        hybrid_csr B = with_gaps(of[i].cols, 5);
        hy_profile profile;
        hy_extents extents;
        assert_int_equal(hy_inspect(ctx, &of[i], &B, 0, NULL, &profile), HYBRID_OK);
        assert_int_equal(hy_extents_take(ctx, &of[i], &profile, &extents), HYBRID_OK);
        for (int64_t begin = 0; begin <= of[i].rows; begin += 1 + begin / 8)
            for (int64_t end = begin; end <= of[i].rows; end += 1 + (end - begin) / 4)
                check_extents(&of[i], &extents, begin, end);
        hy_extents_free(ctx, &extents);
        hy_profile_free(ctx, &profile);
        matrix_free(&B);
        matrix_free(&of[i]);
    }
}

static int64_t widest_row(const hybrid_csr *A)
{
    int64_t widest = 0;

    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t from = hy_offset(A, i), to = hy_offset(A, i + 1);
        const int64_t width = from < to ? hy_cols(A)[to - 1] - hy_cols(A)[from] + 1 : 0;
        widest              = width > widest ? width : widest;
    }
    return widest;
}

static void a_row_too_wide_ends_it(void **state)
{
    hybrid_csr A         = banded(40000, 30000, 200);
    const int64_t widest = widest_row(&A);
    hy_extents extents;

    (void)state;
    assert_int_equal(hy_extents_find(ctx, &A, widest, &extents), HYBRID_OK);
    assert_non_null(extents.blocks);
    hy_extents_free(ctx, &extents);
    assert_int_equal(hy_extents_find(ctx, &A, widest - 1, &extents), HYBRID_OK);
    assert_null(extents.blocks);
    hy_extents_free(ctx, &extents);
    matrix_free(&A);
}

static void own_rows_count_where_a_is_squared(void **state)
{
    builder b = build_start(1000, 1000);
    (void)state;
    for (int64_t i = 0; i < 1000; i++) {
        build_add(&b, i / 2);
        build_end_row(&b);
    }
    hybrid_csr A = build_finish(&b, 1, (test_kind){HYBRID_F32, HYBRID_I64, 1});
    hy_chunk chunks[MOST];
    const int64_t count = cut(&A, 100, 1, chunks);

    assert_true(check(&A, 100, 1, 1) > 5);
    assert_int_equal(hy_chunks_find_x_ranges(ctx, &A, NULL, 1, chunks, count), HYBRID_OK);
    assert_int_equal(chunks[2].x_end, chunks[2].row_end);
    assert_int_equal(hy_chunks_find_x_ranges(ctx, &A, NULL, 0, chunks, count), HYBRID_OK);
    assert_int_equal(chunks[2].x_end, (chunks[2].row_end - 1) / 2 + 1);
    matrix_free(&A);
}

static void rows_all_over_need_all(void **state)
{
    hybrid_csr A;

    (void)state;
    matrix_random(20000, 5000, 8, 3, (test_kind){HYBRID_F32, HYBRID_I64, 1}, &A);
    assert_int_equal(check(&A, 1000, 1, 0), 0);
    assert_int_equal(check(&A, 1000, 1, 1), 0);
    matrix_free(&A);
}

static void nothing_needs_nothing(void **state)
{
    hybrid_csr none = banded(0, 10, 1), empty = banded(1, 3, 1);
    hy_chunk chunks[MOST];

    (void)state;
    assert_int_equal(hy_chunks_find_x_ranges(ctx, &none, NULL, 0, NULL, 0), HYBRID_OK);
    ((int64_t *)empty.row_ptr)[1] = 0;
    assert_int_equal(check(&empty, 1, 1, 0), 1);
    assert_int_equal(check(&empty, 1, 1, 1), 1);
    cut(&empty, 1, 1, chunks);
    hy_chunks_read_all(chunks, 1, empty.cols);
    assert_int_equal(chunks[0].x_end, 3);
    matrix_free(&none);
    matrix_free(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_need_what_they_touch),
        cmocka_unit_test(a_window_knows_both_ends),
        cmocka_unit_test(any_rows_know_their_columns),
        cmocka_unit_test(inspection_knows_their_columns),
        cmocka_unit_test(a_row_too_wide_ends_it),
        cmocka_unit_test(own_rows_count_where_a_is_squared),
        cmocka_unit_test(rows_all_over_need_all),
        cmocka_unit_test(nothing_needs_nothing),
    };
    return cmocka_run_group_tests_name("needs", tests, open_two_workers, close_context);
}
