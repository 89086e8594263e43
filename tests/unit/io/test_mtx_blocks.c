/* tests/unit/io/test_mtx_blocks.c - the Matrix Market reader with all sizes of blocks and
   numbers of threads.

   Blocks (lines of text that a worker reads at a time), buckets (neighbouring rows that a
   worker sorts at a time) and threads must not change the result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "io/text/io.h"
#include "io/mtx/mtx.h"
#include "tests/support/engines/io_fixture.h"

enum { ROWS = 300, COLS = 400, ENTRIES = 3000, STRIDE = 13 };

/* Makes a text with many duplicates, rows of very different lengths, comments and blank
   lines. */
static char *make_text(const char *symmetry, size_t *bytes)
{
    char *text        = malloc(ENTRIES * 80);
    char *p           = text;
    unsigned x        = 1;
    const int general = strcmp(symmetry, "general") == 0;

    assert_non_null(text);
    p += sprintf(p, "%%%%MatrixMarket matrix coordinate real %s\n%d %d %d\n", symmetry,
                 ROWS, general ? COLS : ROWS, ENTRIES);
    for (int k = 0; k < ENTRIES; k++) {
        x             = x * 1103515245 + 12345;
        const int one = (int)(x >> 8) % ROWS + 1;
        x             = x * 1103515245 + 12345;
        const int two = x >> 31 ? 7 : (int)(x >> 8) % (general ? COLS : one) + 1;
        if (k % 17 == 0)
            p += sprintf(p, k % 2 ? "%% a comment\n" : "\n  \n");
        p +=
            sprintf(p, "%d %d %.17g\n", general || one > two ? one : two,
                    general || one > two ? two : one, one == two ? 0. : 1e-3 * (double)x);
    }
    *bytes = (size_t)(p - text);
    return text;
}

/* Reads the text slowly into a dense matrix, in the order of the file. */
static void read_slowly(const char *text, int mirror, double *value, int *stored)
{
    const char *p = strchr(strchr(text, '\n') + 1, '\n') + 1;

    memset(value, 0, sizeof(double) * ROWS * COLS);
    memset(stored, 0, sizeof(int) * ROWS * COLS);
    for (; *p; p = strchr(p, '\n') + 1) {
        int row, col;
        double v;
        if (sscanf(p, "%d %d %lf", &row, &col, &v) != 3 || *p == '\n' || *p == ' ')
            continue;
        const int at = (row - 1) * COLS + col - 1, mirrored = (col - 1) * COLS + row - 1;
        value[at] += v;
        stored[at] = 1;
        if (mirror && at != mirrored) {
            value[mirrored] += mirror * v;
            stored[mirrored] = 1;
        }
    }
}

static void check_equal(const hybrid_csr *A, const double *value, const int *stored)
{
    int64_t k = 0;

    for (int row = 0; row < A->rows; row++)
        for (int col = 0; col < COLS; col++) {
            if (!stored[row * COLS + col])
                continue;
            assert_true(k < hy_offset(A, row + 1));
            assert_int_equal(hy_cols(A)[k], col);
            assert_true(((double *)A->val)[k++] == value[row * COLS + col]);
        }
    assert_int_equal(k, A->nnz);
}

static void check_blocks(hy_context *with, const char *symmetry, int mirror)
{
    static double value[ROWS * COLS];
    static int stored[ROWS * COLS];
    const size_t blocks[]   = {1, 7, 64, 1000, 1 << 20};
    const int64_t buckets[] = {1, 50, 1 << 15};
    size_t bytes;
    char *text = make_text(symmetry, &bytes);
    hybrid_csr A;

    read_slowly(text, mirror, value, stored);
    for (int i = 0; i < 15; i++) {
        io_sizes.lines_block = blocks[i % 5];
        io_sizes.bucket      = buckets[i / 5];
        assert_int_equal(hy_read_mtx_memory(with, "x", text, bytes, HYBRID_F64, &A),
                         HYBRID_OK);
        assert_int_equal(hy_csr_check(with, &A, "A"), HYBRID_OK);
        check_equal(&A, value, stored);
        hy_csr_free(with, &A);
    }
    free(text);
}

static void any_blocks_and_threads(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        hy_context *with = io_open(threads);
        check_blocks(with, "general", 0);
        check_blocks(with, "symmetric", 1);
        check_blocks(with, "skew-symmetric", -1);
        io_close(with);
    }
    io_sizes = hy_usual_io_sizes;
}

/* ---- entries in order ---- */

typedef enum order { BY_ROW, BY_COLUMN, ROWS_MIXED, LAST_AGAIN } ordering;

/* Returns the position of line k in a pattern that stores one entry out of STRIDE. BY_ROW
   and BY_COLUMN: in ascending order by row or by column. ROWS_MIXED: by row with
   descending columns. LAST_AGAIN: by row with the last entry stored twice. */
static void place(ordering order, int k, int *row, int *col)
{
    const int last = ROWS * COLS / STRIDE - 1;
    const int at   = STRIDE * (k > last ? last : k);

    if (order == BY_COLUMN) {
        *row = at % ROWS;
        *col = at / ROWS;
    } else {
        *row = at / COLS;
        *col = order == ROWS_MIXED ? COLS - 1 - at % COLS : at % COLS;
    }
}

static char *make_ordered(ordering order, size_t *bytes)
{
    const int entries = ROWS * COLS / STRIDE + (order == LAST_AGAIN);
    char *text        = malloc((size_t)entries * 40 + 100);
    char *p           = text;

    assert_non_null(text);
    p += sprintf(p, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", ROWS,
                 COLS, entries);
    for (int k = 0; k < entries; k++) {
        int row, col;
        place(order, k, &row, &col);
        if (k % 1000 == 0)
            p += sprintf(p, "%% a comment\n\n");
        p += sprintf(p, "%d %d %.17g\n", row + 1, col + 1, (k % 7 - 3) / 3.0);
    }
    *bytes = (size_t)(p - text);
    return text;
}

/* Each order takes another path through the reader. Ascending entries become the result
   in place, and LAST_AGAIN fails to ascend between two blocks only. */
static void any_order(void **state)
{
    static double value[ROWS * COLS];
    static int stored[ROWS * COLS];
    static const size_t blocks[] = {5, 13, 300, 1 << 17};
    (void)state;

    for (int i = 0; i < 32; i++) {
        size_t bytes;
        char *text       = make_ordered((ordering)(i / 8), &bytes);
        hy_context *with = io_open(i % 8 < 4 ? 1 : 4);
        hybrid_csr A;
        read_slowly(text, 0, value, stored);
        io_sizes.lines_block = blocks[i % 4];
        io_sizes.bucket      = i % 4 == 3 ? 1 << 15 : 100;
        assert_int_equal(hy_read_mtx_memory(with, "x", text, bytes, HYBRID_F64, &A),
                         HYBRID_OK);
        assert_int_equal(hy_csr_check(with, &A, "A"), HYBRID_OK);
        check_equal(&A, value, stored);
        hy_csr_free(with, &A);
        assert_int_equal(hy_read_mtx_memory(with, "x", text, bytes, HYBRID_F32, &A),
                         HYBRID_OK);
        for (int64_t k = 0, at = 0; k < A.nnz; k++, at++) {
            while (!stored[at])
                at++;
            assert_true(((float *)A.val)[k] == (float)value[at]);
        }
        hy_csr_free(with, &A);
        io_close(with);
        free(text);
    }
    io_sizes = hy_usual_io_sizes;
}

/* If there are too many lines, the message names the first surplus line, unless an
   earlier line is bad. */
static void first_of_too_many(void **state)
{
    static const size_t blocks[] = {1, 9, 100, 1 << 17};
    hy_context *with             = io_open(4);
    char text[4000];
    hybrid_csr A;
    (void)state;

    for (int i = 0; i < 400; i++) {
        const int bad = i / 4 % 100 + 1; /* bad line, 1 to 100; 50 are announced */
        char *p       = text, want[64];
        p += sprintf(p, "%%%%MatrixMarket matrix coordinate pattern general\n9 9 50\n");
        for (int k = 1; k <= 100; k++)
            p += sprintf(p, "1 %s\n", k == bad ? "0" : "2");
        if (bad <= 50)
            snprintf(want, sizeof want, "x:%d: column index 0 is below 1", bad + 2);
        else
            snprintf(want, sizeof want, "x:53: there are more than the 50 entries");
        io_sizes.lines_block = blocks[i % 4];
        hy_message_clear(&with->message);
        assert_int_equal(
            hy_read_mtx_memory(with, "x", text, (size_t)(p - text), HYBRID_F64, &A),
            HYBRID_BAD_FILE);
        if (strstr(with->message.text, want) != with->message.text)
            fail_msg("'%s', not '%s'", with->message.text, want);
    }
    io_sizes = hy_usual_io_sizes;
    io_close(with);
}

/* Spoils the first line with an entry at or after `at`. Returns its number. */
static int spoil(char *text, size_t at)
{
    int line = 1;
    char *p  = strchr(text + at, '\n') + 1;

    while (*p < '0' || *p > '9')
        p = strchr(p, '\n') + 1;
    *p = 'x';
    while (p > text)
        line += *--p == '\n';
    return line;
}

/* With two bad lines, the first one must be reported, whatever the size of blocks is and
   whichever worker finds its line first. */
static void check_first_bad(hy_context *ctx, size_t first, size_t second)
{
    size_t bytes;
    char *text = make_text("general", &bytes);
    char want[64];
    hybrid_csr A;

    snprintf(want, sizeof want, "x:%d: row index 'x", spoil(text, bytes * first / 100));
    spoil(text, bytes * second / 100);
    for (int i = 0; i < 200; i++) {
        const size_t blocks[] = {bytes / 2, bytes / 2, bytes / 3, 1000, 1};
        io_sizes.lines_block  = blocks[i % 5];
        hy_message_clear(&ctx->message);
        assert_int_equal(hy_read_mtx_memory(ctx, "x", text, bytes, HYBRID_F64, &A),
                         HYBRID_BAD_FILE);
        assert_ptr_equal(strstr(ctx->message.text, want), ctx->message.text);
    }
    io_sizes = hy_usual_io_sizes;
    free(text);
}

static void first_bad_line_wins(void **state)
{
    hy_context *ctx = io_open(4);
    (void)state;

    check_first_bad(ctx, 1, 98);
    check_first_bad(ctx, 48, 53);
    check_first_bad(ctx, 33, 66);
    io_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_blocks_and_threads),
        cmocka_unit_test(any_order),
        cmocka_unit_test(first_of_too_many),
        cmocka_unit_test(first_bad_line_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
