/* tests/unit/io/test_mtx_write.c - writing Matrix Market files.

   Reading must give back every value. A failed write must not leave or damage a file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "io/text/io.h"
#include "tests/support/engines/io_fixture.h"
#include "tests/support/inputs/random.h"

/* ---- round trips ---- */

static void fill(void *val, hybrid_type type, int64_t count)
{
    const double special[] = {0,      -0.0,    1,        -1,     NAN,  INFINITY,
                              0.1,    -1. / 3, 1e22,     -1e-30, 1e15, 123456789,
                              3.4e38, 1.5e-45, 16777216, 0x1p53, 1e16, -INFINITY};
    uint64_t x             = 7;

    for (int64_t k = 0; k < count; k++) {
        const uint64_t random = random_next(&x);
        double value          = special[k % 18];
        if (k >= 18)
            memcpy(&value, &random, sizeof value);
        if (type == HYBRID_F64)
            ((double *)val)[k] = value;
        else
            ((float *)val)[k] = k < 18 || fabs(value) < 1e30 ? (float)value : 0.1F;
    }
}

/* Makes dense rows and empty rows; the text is several pieces long. */
static hybrid_csr make_matrix(hybrid_type type, hybrid_index offsets, int64_t width)
{
    hybrid_csr A = {.rows = 5, .cols = width, .nnz = 3 * width, .offset_type = offsets};
    const int full[] = {0, 1, 0, 1, 1};
    int64_t at       = 0;

    A.type    = type;
    A.row_ptr = malloc(6 * 8);
    A.col     = malloc((size_t)A.nnz * 4);
    A.val     = malloc((size_t)A.nnz * 8);
    assert_true(A.row_ptr && A.col && A.val);
    for (int row = 0; row <= 5; row++) {
        if (offsets == HYBRID_I64)
            ((int64_t *)A.row_ptr)[row] = at;
        else
            ((int32_t *)A.row_ptr)[row] = (int32_t)at;
        at += row < 5 && full[row] ? width : 0;
    }
    for (int64_t k = 0; k < A.nnz; k++)
        hy_cols(&A)[k] = (int32_t)(k % width);
    fill(A.val, type, A.nnz);
    return A;
}

static void free_matrix(hybrid_csr *A)
{
    free(A->row_ptr);
    free(A->col);
    free(A->val);
}

static int same_bits(const hybrid_csr *A, const hybrid_csr *B, int64_t k)
{
    const size_t size  = hy_value_size(A->type);
    const char *a      = (char *)A->val + (size_t)k * size,
               *b      = (char *)B->val + (size_t)k * size;
    const double value = A->type == HYBRID_F64 ? *(const double *)a : *(const float *)a;

    if (isnan(value))
        return isnan(A->type == HYBRID_F64 ? *(const double *)b : *(const float *)b);
    return memcmp(a, b, size) == 0;
}

static void check_round_trip(hybrid_type type, hybrid_index offsets, int64_t width)
{
    hybrid_csr A = make_matrix(type, offsets, width), B;

    assert_int_equal(hy_write_mtx(io_ctx, io_temp("trip.mtx"), &A), HYBRID_OK);
    assert_int_equal(access(io_partial("trip.mtx"), F_OK), -1);
    assert_int_equal(hy_read_mtx(io_ctx, io_temp("trip.mtx"), type, &B), HYBRID_OK);
    assert_int_equal(B.nnz, A.nnz);
    assert_int_equal(B.rows, A.rows);
    assert_int_equal(B.cols, A.cols);
    for (int64_t row = 0; row <= A.rows; row++)
        assert_int_equal(hy_offset(&A, row), hy_offset(&B, row));
    for (int64_t k = 0; k < A.nnz; k++)
        if (hy_cols(&A)[k] != hy_cols(&B)[k] || !same_bits(&A, &B, k))
            fail_msg("entry %d differs", (int)k);
    hy_csr_free(io_ctx, &B);
    free_matrix(&A);
}

static void round_trips(void **state)
{
    (void)state;
    check_round_trip(HYBRID_F64, HYBRID_I64, 30000);
    check_round_trip(HYBRID_F32, HYBRID_I64, 30000);
    check_round_trip(HYBRID_F64, HYBRID_I32, 8192);
    check_round_trip(HYBRID_F32, HYBRID_I32, 6);
    check_round_trip(HYBRID_F64, HYBRID_I64, 0);
}

static void short_text(void **state)
{
    int64_t row_ptr[] = {0, 4, 5};
    int32_t col[]     = {0, 1, 2, 3, 0};
    double val[]      = {1, -0.5, 0.1, 1e100, -7};
    hybrid_csr A      = {2, 4, 5, HYBRID_I64, row_ptr, col, val, HYBRID_F64};
    size_t bytes;
    (void)state;

    assert_int_equal(hy_write_mtx(io_ctx, io_temp("short.mtx"), &A), HYBRID_OK);
    char *text = io_load(io_temp("short.mtx"), &bytes);
    assert_string_equal(text,
                        "%%MatrixMarket matrix coordinate real general\n2 4 5\n1 1 1\n"
                        "1 2 -0.5\n1 3 0.1\n1 4 1e100\n2 1 -7\n");
    free(text);
}

/* Makes a locale with a decimal comma, if the sources of locales are installed. This
   needs no privileges. */
static int set_comma_locale(const char *folder)
{
    char command[512];

    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >'%s/log' 2>&1", folder,
             folder);
    return system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
           setlocale(LC_ALL, "de_DE.UTF-8") && localeconv()->decimal_point[0] == ',';
}

/* A program with a decimal comma must write and read decimal points. */
static void other_locale(void **state)
{
    char folder[] = "/tmp/hybrid_locale_XXXXXX", command[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    const int there = set_comma_locale(folder);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    if (!there) {
        print_message("no locale with a comma: Debian's package locales is missing\n");
        skip();
    }
    check_round_trip(HYBRID_F64, HYBRID_I64, 100);
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
}

/* ---- failures ---- */

static void check_failure(const char *path, hybrid_status expected, const char *reason)
{
    hybrid_csr A = make_matrix(HYBRID_F64, HYBRID_I64, 30000);

    hy_message_clear(&io_ctx->message);
    assert_int_equal(hy_write_mtx(io_ctx, path, &A), expected);
    assert_non_null(strstr(io_ctx->message.text, reason));
    free_matrix(&A);
}

static void no_such_folder(void **state)
{
    (void)state;
    check_failure("/nonexistent/x.mtx", HYBRID_IO_FAILED, strerror(ENOENT));
    check_failure("/tmp", HYBRID_IO_FAILED, strerror(EISDIR));
}

/* Writing fails if its temporary name is taken (here by a folder). The name is
   documented, for programs that clean up after a killed process. */
static void temporary_name_is_taken(void **state)
{
    char path[256], partial[256];
    (void)state;

    snprintf(path, sizeof path, "%s", io_temp("taken.mtx"));
    snprintf(partial, sizeof partial, "%s", io_partial("taken.mtx"));
    assert_int_equal(mkdir(partial, 0700), 0);
    check_failure(path, HYBRID_IO_FAILED, partial);
    assert_int_equal(rmdir(partial), 0);
}

static void longest_name(void **state)
{
    hybrid_csr A = make_matrix(HYBRID_F64, HYBRID_I64, 10), B;
    char name[NAME_MAX + 2], path[2 * NAME_MAX];
    (void)state;

    memset(name, 'n', sizeof name);
    name[NAME_MAX] = 0;
    snprintf(path, sizeof path, "%s", io_temp(name));
    assert_int_equal(hy_write_mtx(io_ctx, path, &A), HYBRID_OK);
    assert_int_equal(hy_read_mtx(io_ctx, path, HYBRID_F64, &B), HYBRID_OK);
    assert_int_equal(B.nnz, A.nnz);
    hy_csr_free(io_ctx, &B);
    free_matrix(&A);
    name[NAME_MAX]     = 'n';
    name[NAME_MAX + 1] = 0;
    check_failure(io_temp(name), HYBRID_IO_FAILED, strerror(ENAMETOOLONG));
}

/* The partial file is locked while it is written: a process that could lock it would take
   it for what a killed process has left, and remove it. */
static void partial_file_is_locked(void **state)
{
    char path[256];
    hy_output output;
    (void)state;

    snprintf(path, sizeof path, "%s", io_temp("locked.mtx"));
    io_store(io_partial("locked.mtx"), "left behind", 11);
    assert_int_equal(hy_output_open(io_ctx, path, &output), HYBRID_OK);
    const int fd = open(io_partial("locked.mtx"), O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
    assert_int_equal(hy_output_write(io_ctx, &output, "new", 3), HYBRID_OK);
    assert_int_equal(hy_output_finish(io_ctx, &output, HYBRID_OK), HYBRID_OK);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(lseek(fd, 0, SEEK_END), 3);
    close(fd);
}

/* A full device such as /dev/full is written to, which fails, and is never replaced by a
   file. */
static void full_device(void **state)
{
    char partial[64];

    (void)state;
    check_failure("/dev/full", HYBRID_IO_FAILED, strerror(ENOSPC));
    assert_int_equal(access("/dev/full", W_OK), 0);
    snprintf(partial, sizeof partial, "/dev/full.%ld.partial", (long)getpid());
    assert_int_equal(access(partial, F_OK), -1);
}

static void check_kept(void)
{
    size_t bytes;
    char *text = io_load(io_temp("kept.mtx"), &bytes);

    assert_string_equal(text, "precious");
    assert_int_equal(access(io_partial("kept.mtx"), F_OK), -1);
    free(text);
}

static void disk_fills_up(void **state)
{
    struct rlimit old, small;
    (void)state;

    io_store(io_temp("kept.mtx"), "precious", 8);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small          = old;
    small.rlim_cur = 100000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    char path[256];
    snprintf(path, sizeof path, "%s", io_temp("kept.mtx"));
    check_failure(path, HYBRID_IO_FAILED, strerror(EFBIG));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    check_kept();
}

static void allocations_fail(void **state)
{
    hybrid_csr A         = make_matrix(HYBRID_F64, HYBRID_I64, 10);
    hybrid_status status = HYBRID_NO_MEMORY;
    int failed           = 0;
    (void)state;

    for (int64_t n = 1; status != HYBRID_OK; n++) {
        io_store(io_temp("kept.mtx"), "precious", 8);
        io_ctx->memory.failures = n;
        status                  = hy_write_mtx(io_ctx, io_temp("kept.mtx"), &A);
        if (status == HYBRID_OK)
            break;
        failed++;
        assert_int_equal(status, HYBRID_NO_MEMORY);
        check_kept();
    }
    io_ctx->memory.failures = 0;
    assert_true(failed >= 4);
    free_matrix(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(short_text),
        cmocka_unit_test(other_locale),
        cmocka_unit_test(no_such_folder),
        cmocka_unit_test(temporary_name_is_taken),
        cmocka_unit_test(longest_name),
        cmocka_unit_test(partial_file_is_locked),
        cmocka_unit_test(full_device),
        cmocka_unit_test(disk_fills_up),
        cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
