/* tests/unit/io/test_byte_file.c - files that are written at given positions. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "io/formats/byte_file.h"
#include "support/engines/io_fixture.h"

static void expect(hybrid_status is, hybrid_status wanted, const char *part)
{
    if (is != wanted || !strstr(io_ctx->message.text, part))
        fail_msg("status %d: '%s' is not in '%s'", (int)is, part, io_ctx->message.text);
    hy_message_clear(&io_ctx->message);
}

/* Two regions are written in turns, in pieces shorter and longer than the buffer. */
static void regions_are_written_in_any_order(void **state)
{
    enum { HALF = 900 << 10, SHORT = 1000, LONG = 300 << 10 };
    char *wanted = malloc(2 * HALF);
    hy_byte_region region[2];
    hy_byte_file file;
    size_t bytes;

    (void)state;
    assert_non_null(wanted);
    for (int i = 0; i < 2 * HALF; i++)
        wanted[i] = (char)(i * 7 + i / 251);
    assert_int_equal(hy_byte_file_create(io_ctx, io_temp("a.bin"), &file), HYBRID_OK);
    for (int r = 0; r < 2; r++)
        assert_int_equal(hy_byte_region_open(&file, r * HALF, (r + 1) * HALF, &region[r]),
                         HYBRID_OK);
    for (int at = 0, piece; at < HALF; at += piece) {
        piece = at / SHORT % 5 == 4 ? LONG : SHORT;
        if (piece > HALF - at)
            piece = HALF - at;
        for (int r = 1; r >= 0; r--)
            assert_int_equal(
                hy_byte_region_put(&region[r], wanted + r * HALF + at, (size_t)piece),
                HYBRID_OK);
    }
    for (int r = 0; r < 2; r++) {
        assert_int_equal(hy_byte_region_flush(&region[r]), HYBRID_OK);
        hy_byte_region_close(&region[r]);
    }
    assert_int_equal(hy_byte_file_sync(&file), HYBRID_OK);
    assert_int_equal(hy_byte_file_close(&file), HYBRID_OK);
    char *found = io_load(io_temp("a.bin"), &bytes);
    assert_int_equal(bytes, 2 * HALF);
    assert_memory_equal(found, wanted, bytes);
    free(found);
    free(wanted);
}

static void a_region_has_its_size(void **state)
{
    hy_byte_region region;
    hy_byte_file file;

    (void)state;
    assert_int_equal(hy_byte_file_create(io_ctx, io_temp("a.bin"), &file), HYBRID_OK);
    assert_int_equal(hy_byte_region_open(&file, 3, 10, &region), HYBRID_OK);
    assert_int_equal(hy_byte_region_put(&region, "abcde", 5), HYBRID_OK);
    expect(hy_byte_region_put(&region, "fgh", 3), HYBRID_BAD_ARGUMENT,
           "a.bin: the matrix has more rows or entries than were announced");
    expect(hy_byte_region_flush(&region), HYBRID_BAD_ARGUMENT,
           "a.bin: the matrix has fewer rows or entries than were announced");
    hy_byte_region_close(&region);
    assert_int_equal(hy_byte_file_close(&file), HYBRID_OK);
}

static void errors_of_the_system_are_named(void **state)
{
    hy_byte_file file = {.ctx = NULL};

    (void)state;
    expect(hy_byte_file_create(io_ctx, "/absent/a.bin", &file), HYBRID_IO_FAILED,
           "cannot write '/absent/a.bin': No such file or directory");
    assert_int_equal(hy_byte_file_close(&file), HYBRID_OK);
    assert_int_equal(hy_byte_file_create(io_ctx, "/dev/full", &file), HYBRID_OK);
    expect(hy_byte_file_put(&file, 7, "abc", 3), HYBRID_IO_FAILED,
           "cannot write byte 7 of '/dev/full': No space left on device");
    expect(hy_byte_file_sync(&file), HYBRID_IO_FAILED, "cannot write '/dev/full': ");
    assert_int_equal(hy_byte_file_close(&file), HYBRID_OK);
}

/* A write beyond the process's limit on file sizes fails with a sentence. The system
   would end the process by a signal. */
static void a_limit_of_file_sizes_is_named(void **state)
{
    static char zeros[3000];
    struct rlimit before, limit;
    hy_byte_file file;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit          = before;
    limit.rlim_cur = 2048;
    assert_int_equal(hy_byte_file_create(io_ctx, io_temp("a.bin"), &file), HYBRID_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const hybrid_status status = hy_byte_file_put(&file, 0, zeros, sizeof zeros);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(io_ctx->message.text, "a.bin': File too large"));
    expect(status, HYBRID_IO_FAILED, "cannot write byte 2048 of '");
    assert_int_equal(hy_byte_file_close(&file), HYBRID_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_written_in_any_order),
        cmocka_unit_test(a_region_has_its_size),
        cmocka_unit_test(errors_of_the_system_are_named),
        cmocka_unit_test(a_limit_of_file_sizes_is_named),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
