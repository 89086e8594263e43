/* tests/unit/base/test_csr.c - checking, allocating and transposing sparse matrices, and
   prefix sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "tests/support/engines/group.h"
#include "tests/support/subjects/csr_samples.h"

/* ---- headers ---- */

static void header_must_make_sense(void **state)
{
    hybrid_csr bad[11];

    (void)state;
    for (int i = 0; i < 11; i++)
        bad[i] = sample_small();
    bad[0].rows        = -1;
    bad[1].cols        = -1;
    bad[2].cols        = (int64_t)1 << 31;
    bad[3].nnz         = -1;
    bad[4].type        = (hybrid_type)3;
    bad[5].offset_type = (hybrid_index)0;
    bad[6].nnz     = (int64_t)1 << 31; /* more entries than 32-bit offsets can count */
    bad[7].row_ptr = NULL;
    bad[8].col     = NULL;
    bad[9].val     = NULL;
    bad[10].rows   = INT64_MAX;
    for (int i = 0; i < 11; i++) {
        hy_message_clear(&ctx->message);
        assert_int_equal(hy_csr_check_header(ctx, &bad[i], "B"), HYBRID_BAD_MATRIX);
        assert_memory_equal(ctx->message.text, "B: ", 3);
        assert_int_equal(hy_csr_check(ctx, &bad[i], "B"), HYBRID_BAD_MATRIX);
    }
    hy_message_clear(&ctx->message);
    assert_int_equal(hy_csr_check_header(ctx, NULL, "B"), HYBRID_BAD_ARGUMENT);
    assert_string_equal(ctx->message.text, "B is NULL");
}

static void header_is_checked_without_the_arrays(void **state)
{
    int64_t nowhere;
    hybrid_csr A = {INT32_MAX, INT32_MAX,        INT64_MAX / 16, HYBRID_I64,
                    &nowhere,  (void *)&nowhere, &nowhere,       HYBRID_F32};

    (void)state;
    assert_int_equal(hy_csr_check_header(ctx, &A, "A"), HYBRID_OK);
}

static void empty_matrices_are_fine(void **state)
{
    int64_t zero[3] = {0, 0, 0};
    hybrid_csr A    = {0, 0, 0, HYBRID_I64, zero, NULL, NULL, HYBRID_F32};

    (void)state;
    sample_check(&A, HYBRID_OK, "");
    A.rows = 2;
    sample_check(&A, HYBRID_OK, "");
    A.cols = INT32_MAX;
    sample_check(&A, HYBRID_OK, "");
}

/* ---- rules ---- */

static void broken_rules_are_named(void **state)
{
    static const struct {
        int32_t ptr[5], col[7];
        const char *sentence;
    } cases[] = {
        {{1, 2, 2, 4, 7},
         {1, 2, 0, 2, 0, 1, 2},
         "A: row offsets go from 1 to 7 instead of from 0 to 7"},
        {{0, 2, 2, 4, 6},
         {1, 2, 0, 2, 0, 1, 2},
         "A: row offsets go from 0 to 6 instead of from 0 to 7"},
        {{0, 2, 1, 4, 7},
         {1, 2, 0, 2, 0, 1, 2},
         "A: row 1: offsets 2 and 1 decrease or are not in 0..7"},
        {{0, 2, 8, 4, 7},
         {1, 2, 0, 2, 0, 1, 2},
         "A: row 1: offsets 2 and 8 decrease or are not in 0..7"},
        {{0, -2, 2, 4, 7},
         {1, 2, 0, 2, 0, 1, 2},
         "A: row 0: offsets 0 and -2 decrease or are not in 0..7"},
        {{0, 2, 2, 4, 7},
         {1, 2, 0, 2, 0, 1, 3},
         "A: row 3, entry 2: column 3 is not in 0..2"},
        {{0, 2, 2, 4, 7},
         {1, 2, -1, 2, 0, 1, 3},
         "A: row 2, entry 0: column -1 is not in 0..2"},
        {{0, 2, 2, 4, 7},
         {1, 2, 0, 2, 0, 0, 2},
         "A: row 3, entry 1: column 0 does not come after column 0"},
        {{0, 2, 2, 4, 7},
         {2, 1, 0, 2, 0, 1, 9},
         "A: row 0, entry 1: column 1 does not come after column 2"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t ptr[5], col[7];
        int64_t wide[5];
        hybrid_csr A = sample_small();
        memcpy(ptr, cases[i].ptr, sizeof ptr);
        memcpy(col, cases[i].col, sizeof col);
        A.row_ptr = ptr;
        A.col     = col;
        sample_check(&A, HYBRID_BAD_MATRIX, cases[i].sentence);
        for (int k = 0; k < 5; k++)
            wide[k] = ptr[k];
        A.row_ptr     = wide;
        A.offset_type = HYBRID_I64;
        sample_check(&A, HYBRID_BAD_MATRIX, cases[i].sentence);
    }
    hybrid_csr good = sample_small();
    sample_check(&good, HYBRID_OK, "");
}

/* Returns the first row that breaks a rule of columns, after looking at each entry; -1 if
   none does. */
static int64_t first_bad_row(const hybrid_csr *A)
{
    const int64_t *ptr = A->row_ptr;
    const int32_t *col = A->col;

    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = ptr[i]; k < ptr[i + 1]; k++)
            if (col[k] < 0 || col[k] >= A->cols || (k > ptr[i] && col[k] <= col[k - 1]))
                return i;
    return -1;
}

/* The check of a matrix must find the first bad row, as first_bad_row() does, after each
   change of one entry, also at the ends of rows and of the loop's pieces. */
static void each_change_is_judged_like_entry_by_entry(void **state)
{
    static const int32_t columns[] = {-1, 0, 1, 298, 299, 300, INT32_MAX, INT32_MIN};
    hybrid_csr A                   = sample_random(9000, 300, 3, HYBRID_F32);
    int32_t *col                   = A.col;
    int bad                        = 0;

    (void)state;
    for (int64_t k = 0; k < A.nnz; k += k % 4096 < 40 ? 1 : 397)
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            const int32_t before = col[k];
            char row[32];
            col[k]               = columns[c];
            const int64_t wanted = first_bad_row(&A);
            hy_message_clear(&ctx->message);
            assert_int_equal(hy_csr_check(ctx, &A, "A"),
                             wanted < 0 ? HYBRID_OK : HYBRID_BAD_MATRIX);
            snprintf(row, sizeof row, "A: row %lld,", (long long)wanted);
            assert_true(wanted < 0 || strncmp(ctx->message.text, row, strlen(row)) == 0);
            bad += wanted >= 0;
            col[k] = before;
        }
    assert_true(bad > 100);
    hy_csr_free(ctx, &A);
}

static void the_first_of_many_bad_rows_is_named(void **state)
{
    hybrid_csr A       = sample_random(50000, 300, 6, HYBRID_F32);
    const int64_t *ptr = A.row_ptr;
    char wanted[100];

    (void)state;
    sample_check(&A, HYBRID_OK, "");
    for (int64_t bad = 49998; bad > 3000; bad -= 8000) {
        for (int64_t i = bad; i < 50000; i += 1001)
            if (ptr[i + 1] > ptr[i])
                hy_cols(&A)[ptr[i + 1] - 1] = 300;
        int64_t first = bad;
        while (ptr[first + 1] == ptr[first] || hy_cols(&A)[ptr[first + 1] - 1] != 300)
            first++;
        snprintf(wanted, sizeof wanted,
                 "A: row %lld, entry %lld: column 300 is not in 0..299", (long long)first,
                 (long long)(ptr[first + 1] - ptr[first] - 1));
        sample_check(&A, HYBRID_BAD_MATRIX, wanted);
    }
    hy_csr_free(ctx, &A);
}

/* ---- prefix sums ---- */

static void prefix_sums_are_sums(void **state)
{
    static const int64_t lengths[] = {0, 1, 2, 1000, 65536, 1048576, 1048577, 3000001};
    void *memory;

    (void)state;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const int64_t n = lengths[l];
        assert_int_equal(hy_array(ctx, n + 1, 8, "counts", &memory), HYBRID_OK);
        int64_t *count = memory, sum = 0, wrong = 0;
        for (int64_t i = 0; i < n; i++)
            count[i] = (int64_t)(sample_mix((uint64_t)i) % 1000) << 30;
        count[n] = -77; /* the function must not read this element */
        assert_int_equal(hy_prefix_sum(ctx, count, n), HYBRID_OK);
        for (int64_t i = 0; i < n; i++) {
            wrong += count[i] != sum;
            sum += (int64_t)(sample_mix((uint64_t)i) % 1000) << 30;
        }
        assert_int_equal(wrong, 0);
        assert_true(count[n] == sum);
        hy_array_free(ctx, memory);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_four_workers, close_context)
    const struct CMUnitTest tests[] = {
        TEST(header_must_make_sense),
        TEST(header_is_checked_without_the_arrays),
        TEST(empty_matrices_are_fine),
        TEST(broken_rules_are_named),
        TEST(each_change_is_judged_like_entry_by_entry),
        TEST(the_first_of_many_bad_rows_is_named),
        TEST(prefix_sums_are_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
