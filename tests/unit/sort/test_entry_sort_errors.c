/* tests/unit/sort/test_entry_sort_errors.c - sorting entries fails with a sentence, and
   leaves no file open and no memory in use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/data/csr.h"
#include "base/memory/results.h"
#include "io/formats/file_format.h"
#include "io/sort/entry_sort.h"
#include "io/sort/records.h"
#include "io/sort/spill.h"
#include "support/engines/io_fixture.h"
#include "support/files/open_files.h"
#include "support/subjects/entry_list.h"

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (int64_t run = 0; run <= 60; run += 60) {
        entry_list l    = entry_list_make(RANDOM, 500, 30, 30);
        const int files = count_open_files();
        hy_results_trim(io_ctx);
        const int64_t used = hy_meter_used(&io_ctx->memory.meter);
        hybrid_status status;
        int64_t failing = 0;
        entry_list_sizes(run, 4, 50);
        do {
            hy_matrix_file A        = {.ctx = NULL};
            io_ctx->memory.failures = ++failing;
            status                  = entry_list_sort(&l, HYBRID_F64, &A);
            io_ctx->memory.failures = 0;
            assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
            if (status == HYBRID_OK)
                entry_list_expect(&A, &l, 0, HYBRID_F64);
            hy_matrix_file_close(&A);
            hy_message_clear(&io_ctx->message);
            hy_results_trim(io_ctx);
            assert_int_equal(hy_meter_used(&io_ctx->memory.meter), used);
            assert_int_equal(count_open_files(), files);
        } while (status != HYBRID_OK);
        assert_true(failing > 8);
        free(l.entry);
    }
}

static void each_batch_may_fail(void **state)
{
    entry_list l    = entry_list_make(RANDOM, 300, 30, 30);
    const int files = count_open_files();
    hy_matrix_file A;
    hybrid_status status;
    int64_t calls = 0;

    (void)state;
    entry_list_sizes(40, 4, 50);
    l.batch = 20;
    do {
        hy_message_clear(&io_ctx->message);
        l.calls_left = calls++;
        status       = entry_list_sort(&l, HYBRID_F64, &A);
        assert_true(status == HYBRID_OK || strstr(io_ctx->message.text, "is lost"));
        hy_matrix_file_close(&A);
        assert_int_equal(count_open_files(), files);
    } while (status != HYBRID_OK);
    assert_true(calls > 10);
    free(l.entry);
}

static void check_spill_error(entry_list *l, const char *sentence)
{
    const int files = count_open_files();
    hy_matrix_file A;

    hy_message_clear(&io_ctx->message);
    assert_int_equal(entry_list_sort(l, HYBRID_F64, &A), HYBRID_IO_FAILED);
    if (!strstr(io_ctx->message.text, sentence))
        fail_msg("'%s', not '%s'", io_ctx->message.text, sentence);
    assert_int_equal(count_open_files(), files);
}

/* Sorting fails with a message if temporary files may not grow beyond some size, as on a
   full disk, whatever that size is. */
static void a_limit_on_files_gives_a_sentence(void **state)
{
    entry_list l = entry_list_make(RANDOM, 3000, 300, 30);
    struct rlimit before, limit;
    rlim_t bytes;

    (void)state;
    entry_list_sizes(100, 4, 50);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (bytes = 9999; bytes < 3000 * sizeof(hy_record); bytes += 4999) {
        limit = (struct rlimit){bytes, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        check_spill_error(&l, "cannot write a temporary file in the folder '");
        assert_non_null(strstr(io_ctx->message.text, "File too large"));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    }
    entry_list_check(&l, HYBRID_F64);
    free(l.entry);
}

/* The offsets of a matrix of many rows are not begun on a disk that they would fill. */
static void offsets_need_room_on_the_disk(void **state)
{
    entry_list l = entry_list_make(RANDOM, 300, 3000, 30);

    (void)state;
    entry_list_sizes(100, 4, 50);
    io_sizes.spill_most = 24008;
    entry_list_check(&l, HYBRID_F64);
    io_sizes.spill_most = 24007;
    check_spill_error(&l, "the offsets of 3000 rows take 23.4 KiB, and the folder '");
    assert_non_null(
        strstr(io_ctx->message.text, " left for temporary files; give another"));
    io_sizes.spill_most = INT64_MAX;
    entry_list_check(&l, HYBRID_F64);
    free(l.entry);
}

static void a_missing_folder_gives_a_sentence(void **state)
{
    entry_list l = entry_list_make(RANDOM, 300, 30, 30);

    (void)state;
    entry_list_sizes(100, 4, 50);
    assert_int_equal(setenv("TMPDIR", "/no/such/folder", 1), 0);
    check_spill_error(&l, "in the folder '/no/such/folder': No such file or directory");
    assert_int_equal(unsetenv("TMPDIR"), 0);
    entry_list_check(&l, HYBRID_F64);
    free(l.entry);
}

static void lost_temporary_data_give_a_sentence(void **state)
{
    entry_list l = entry_list_make(RANDOM, 288, 30,
                                   30); /* 288 entries fill a whole number of runs */
    hy_matrix_file A;
    hybrid_csr C;

    (void)state;
    entry_list_sizes(100, 4, 50);
    assert_int_equal(entry_list_sort(&l, HYBRID_F64, &A), HYBRID_OK);
    entry_list_cut_files();
    assert_int_equal(entry_list_read(&A, &C), HYBRID_IO_FAILED);
    assert_string_equal(io_ctx->message.text,
                        "temporary data of list: byte 0 is missing: the file became "
                        "shorter after it was opened");
    hy_matrix_file_close(&A);
    l.truncates = 1;
    check_spill_error(&l, "cannot read a temporary file in the folder '");
    free(l.entry);
}

static void sizes_beyond_the_limits(void **state)
{
    hy_entry far = {.row = 0, .col = INT32_MAX, .value = 1};
    entry_list l = {.entry = &far, .count = 1, .grows = 1, .calls_left = -1};
    hy_matrix_file A;

    (void)state;
    hy_message_clear(&io_ctx->message);
    assert_int_equal(entry_list_sort(&l, HYBRID_F64, &A), HYBRID_BAD_FILE);
    assert_non_null(strstr(io_ctx->message.text,
                           "list: has 1 rows and 2147483648 columns; the limits are"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_allocation_may_fail, entry_list_reset),
        cmocka_unit_test_teardown(each_batch_may_fail, entry_list_reset),
        cmocka_unit_test_teardown(a_limit_on_files_gives_a_sentence, entry_list_reset),
        cmocka_unit_test_teardown(offsets_need_room_on_the_disk, entry_list_reset),
        cmocka_unit_test_teardown(a_missing_folder_gives_a_sentence, entry_list_reset),
        cmocka_unit_test_teardown(lost_temporary_data_give_a_sentence, entry_list_reset),
        cmocka_unit_test_teardown(sizes_beyond_the_limits, entry_list_reset),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
