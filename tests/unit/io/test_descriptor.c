/* tests/unit/io/test_descriptor.c - paths such as /dev/fd/3, which name open files of the
   process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "io/text/io.h"
#include "support/engines/io_fixture.h"

#define FILE_OF_TWO                                                                      \
    "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n2 2 -0.5\n"

static const char *path_of(const char *folder, int fd)
{
    static char path[64];

    snprintf(path, sizeof path, "%s%d", folder, fd);
    return path;
}

static void check_read(const char *path)
{
    hybrid_csr A;

    if (hy_read_mtx(io_ctx, path, HYBRID_F64, &A) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    assert_int_equal(A.nnz, 2);
    assert_true(((double *)A.val)[0] == 5 && ((double *)A.val)[1] == -0.5);
    hy_csr_free(io_ctx, &A);
}

/* A file is read from the offset of its descriptor on, because the caller has read the
   part before. */
static void a_file_is_read_from_its_offset_on(void **state)
{
    static const char text[] = "a line\n" FILE_OF_TWO;
    char line[7];

    (void)state;
    io_store(io_temp("in.mtx"), text, strlen(text));
    const int fd = open(io_temp("in.mtx"), O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, line, sizeof line), sizeof line);
    check_read(path_of("/dev/fd/", fd));
    assert_int_equal(lseek(fd, 0, SEEK_CUR), strlen(text)); /* the descriptor is still
                                                               open */
    close(fd);
}

static void sockets_are_read(void **state)
{
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(write(ends[1], FILE_OF_TWO, strlen(FILE_OF_TWO)),
                     strlen(FILE_OF_TWO));
    close(ends[1]);
    check_read(path_of("/proc/self/fd/", ends[0]));
    close(ends[0]);
}

/* A result is written behind the contents of the file, and the file is not replaced. */
static void a_file_is_written_at_its_offset(void **state)
{
    int64_t row_ptr[] = {0, 1, 2};
    int32_t col[]     = {0, 1};
    double val[]      = {5, -0.5};
    hybrid_csr A      = {2, 2, 2, HYBRID_I64, row_ptr, col, val, HYBRID_F64};
    size_t bytes;

    (void)state;
    io_store(io_temp("out.mtx"), "", 0);
    const int fd = open(io_temp("out.mtx"), O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a line\n", 7), 7);
    assert_int_equal(hy_write_mtx(io_ctx, path_of("/dev/fd/", fd), &A), HYBRID_OK);
    assert_int_equal(write(fd, "the end", 7), 7);
    close(fd);
    char *text = io_load(io_temp("out.mtx"), &bytes);
    assert_string_equal(text, "a line\n" FILE_OF_TWO "the end");
    free(text);
}

static void what_is_not_open_is_told(void **state)
{
    hybrid_csr A;

    (void)state;
    assert_int_equal(hy_read_mtx(io_ctx, "/dev/fd/1023", HYBRID_F64, &A),
                     HYBRID_IO_FAILED);
    assert_non_null(strstr(io_ctx->message.text, "'/dev/fd/1023': Bad file descriptor"));
    hy_message_clear(&io_ctx->message);
}

static void other_paths_are_paths(void **state)
{
    (void)state;
    assert_true(hy_is_descriptor("/dev/stdin") && hy_is_descriptor("/dev/fd/0"));
    assert_false(hy_is_descriptor("/dev/fd/") || hy_is_descriptor("/dev/fd/1x") ||
                 hy_is_descriptor("/dev/fd/99999999999") || hy_is_descriptor("-") ||
                 hy_is_descriptor("dev/stdin") || hy_is_descriptor("/dev/stdin2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_from_its_offset_on),
        cmocka_unit_test(sockets_are_read),
        cmocka_unit_test(a_file_is_written_at_its_offset),
        cmocka_unit_test(what_is_not_open_is_told),
        cmocka_unit_test(other_paths_are_paths),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
