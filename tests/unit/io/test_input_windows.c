/* tests/unit/io/test_input_windows.c - sparse matrices that are read window by window. A
   window is the part of the text that is in memory.

   A pipe or a compressed file must give the matrix, or the error message, that a mapped
   file gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "base/memory/results.h"
#include "io/text/io.h"
#include "tests/support/inputs/feed.h"
#include "tests/support/engines/io_fixture.h"
#include "tests/support/inputs/random.h"
#include "tests/support/subjects/csr_samples.h"

enum { MIB = 1 << 20 };

#define BANNER "%%MatrixMarket matrix coordinate real general\n"

/* Makes entries of a matrix in ascending or random order, with comments and blank lines
   in between. Values are reals, which have the longest text. */
static text make_entries(int rows, int per_row, int ascending)
{
    const int count = rows * per_row;
    text t          = text_open((size_t)count * 64 + 256);
    uint64_t seed   = 7;

    t.bytes = (size_t)sprintf(t.data, "%s%d %d %d\n", BANNER, rows, rows, count);
    for (int k = 0; k < count; k++) {
        const uint64_t r = random_next(&seed) >> 20;
        const int i      = ascending ? k / per_row : (int)(r % (uint64_t)rows);
        const int j      = k % per_row * (rows / per_row) + (int)(r >> 20 & 15);
        t.bytes += (size_t)sprintf(t.data + t.bytes, "%d %d %.17g\n", i + 1, j + 1,
                                   (double)(int64_t)r / 1e9);
        if (k % 1000 == 0)
            t.bytes += (size_t)sprintf(t.data + t.bytes, "\n%% entry %d\n", k);
    }
    return t;
}

/* All ways of reading must give the same matrix. Unless the file is mapped, only a window
   of the text may be in memory. */
static void check_ways(int ascending)
{
    const text t = make_entries(10000, 12, ascending);
    int64_t peak[WAYS];
    hybrid_csr A[WAYS];
    way w;

    assert_true(t.bytes > 2 * MIB);
    for (int how = 0; how < WAYS; how++) {
        hy_results_trim(io_ctx);
        const int64_t used = hy_meter_used(&io_ctx->memory.meter);
        hy_meter_reset_peak(&io_ctx->memory.meter);
        hy_message_clear(&io_ctx->message);
        if (hy_read_mtx(io_ctx, way_open(&w, how, &t), HYBRID_F64, &A[how]) != HYBRID_OK)
            fail_msg("way %d: %s", how, io_ctx->message.text);
        peak[how] = hy_meter_peak(&io_ctx->memory.meter) - used;
        way_close(&w, &t);
        assert_int_equal(hy_csr_check(io_ctx, &A[how], "A"), HYBRID_OK);
        csr_same(&A[MAPPED], &A[how]);
        assert_true(peak[how] <= peak[MAPPED] + 3 * MIB);
    }
    for (int how = 0; how < WAYS; how++)
        hy_csr_free(io_ctx, &A[how]);
    free(t.data);
}

static void matrices_in_windows(void **state)
{
    (void)state;
    check_ways(1);
    check_ways(0);
}

/* ---- errors in a later window ---- */

static void check_wrong(const text *t, int how, const char *sentence)
{
    way w;
    hybrid_csr A = {.rows = -1};

    hy_message_clear(&io_ctx->message);
    const hybrid_status status =
        hy_read_mtx(io_ctx, way_open(&w, how, t), HYBRID_F64, &A);
    way_close(&w, t);
    if (status != HYBRID_BAD_FILE || !strstr(io_ctx->message.text, sentence))
        fail_msg("way %d: status %d, '%s', not '%s'", how, status, io_ctx->message.text,
                 sentence);
    assert_int_equal(A.rows, -1);
}

enum { LINES = 250000 };

/* Makes a header that announces `announced` entries, then LINES lines "2 1 5", then
   `tail`. */
static text make_lines(const char *banner, int announced, const char *tail)
{
    text t  = text_open((size_t)LINES * 6 + strlen(tail) + 256);
    t.bytes = (size_t)sprintf(t.data, "%s3 3 %d\n", banner, announced);

    for (int k = 0; k < LINES; k++, t.bytes += 6)
        memcpy(t.data + t.bytes, "2 1 5\n", 6);
    t.bytes += (size_t)sprintf(t.data + t.bytes, "%s", tail);
    return t;
}

static void wrong_in_a_later_window(void **state)
{
    static const struct {
        const char *banner;
        int announced;
        const char *tail, *sentence;
    } cases[] = {
        {BANNER, LINES + 1, "4 1 1\n", ":250003: row index 4 is beyond the 3 rows"},
        {BANNER, LINES + 1, "1 1\n", ":250003: the value is missing"},
        {BANNER, LINES, "1 1 1\n", ":250003: there are more than the 250000 entries"},
        {BANNER, LINES - 2, "", ":250001: there are more than the 249998 entries"},
        {BANNER, LINES + 2, "1 1 1\n%\n",
         ":250004: the file ends after 250001 of the 250002 entries"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const text t = make_lines(cases[i].banner, cases[i].announced, cases[i].tail);
        for (int how = 0; how < WAYS; how++)
            check_wrong(&t, how, cases[i].sentence);
        free(t.data);
    }
}

/* If the line of an entry is no longer in memory, the message names the entry without a
   line number. */
static void mirrors_in_windows(void **state)
{
    static const char symmetric[] = "%%MatrixMarket matrix coordinate real symmetric\n";
    text t                        = make_lines(symmetric, LINES + 1, "3 3 1\n");
    (void)state;

    memcpy(t.data + sizeof symmetric - 1 + strlen("3 3 250001\n"), "1 2 5\n", 6);
    check_wrong(&t, MAPPED, ":3: entry (1,2) and its mirror (2,1) are both stored");
    check_wrong(&t, PACKED, "way: entry (1,2) and its mirror (2,1) are both stored");
    free(t.data);
}

static void long_lines(void **state)
{
    const size_t bytes = 4 * MIB;
    text t             = text_open(bytes + 256);
    (void)state;

    t.bytes = (size_t)sprintf(t.data, "%s3 3 1\n1 1 1\n%% ", BANNER);
    memset(t.data + t.bytes, 'x', bytes);
    t.bytes += bytes;
    check_wrong(&t, PACKED, ":4: the line is longer than 1048576 bytes");
    check_wrong(&t, PIPED, ":4: the line is longer than 1048576 bytes");
    free(t.data);
}

static void damaged_in_a_later_window(void **state)
{
    const text t = make_entries(10000, 12, 1);
    size_t bytes;
    char *data = feed_compress(t.data, t.bytes, 1, &bytes);
    text gzip  = {data, bytes / 2};
    (void)state;

    check_wrong(&gzip, MAPPED, ": the gzip data are truncated");
    check_wrong(&gzip, PIPED, ": the gzip data are truncated");
    gzip.bytes = bytes;
    data[bytes - 5] ^= 1; /* damages a byte of the checksum of the gzip data */
    check_wrong(&gzip, MAPPED, ": the gzip data are damaged");
    check_wrong(&gzip, PIPED, ": the gzip data are damaged");
    free(data);
    free(t.data);
}

/* ---- memory ---- */

/* Every allocation fails once, including those of later windows. */
static void allocations_fail(void **state)
{
    const text t         = make_entries(8000, 12, 0);
    hybrid_status status = HYBRID_NO_MEMORY;
    int failed           = 0;
    way w;
    (void)state;

    io_sizes.window = MIB + MIB / 2; /* the second window is larger than the first */
    assert_true(t.bytes > io_sizes.window);
    for (int64_t n = 1; status != HYBRID_OK; n++) {
        hybrid_csr A     = {.rows = -1};
        const char *path = way_open(&w, PACKED, &t);
        hy_results_trim(io_ctx);
        io_ctx->memory.failures = n;
        hy_message_clear(&io_ctx->message);
        status                  = hy_read_mtx(io_ctx, path, HYBRID_F64, &A);
        io_ctx->memory.failures = 0;
        way_close(&w, &t);
        if (status == HYBRID_OK) {
            hy_csr_free(io_ctx, &A);
            break;
        }
        failed++;
        assert_int_equal(status, HYBRID_NO_MEMORY);
        assert_int_equal(A.rows, -1);
    }
    io_sizes.window = 0;
    assert_true(failed >= 15);
    free(t.data);
}

static int open_all(void **state)
{
    io_group_open(state);
    io_sizes.window = 0; /* all windows are as small as the first */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_in_windows),
        cmocka_unit_test(wrong_in_a_later_window),
        cmocka_unit_test(mirrors_in_windows),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(damaged_in_a_later_window),
        cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, open_all, io_group_close);
}
