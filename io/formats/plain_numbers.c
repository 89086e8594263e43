/* io/formats/plain_numbers.c - reads numbers that lie in a file as they lie in memory.

   A file stays open, unless its descriptor is so high that half of the descriptors that
   the process may have are in use. The file is then opened anew for each reading, so that
   a matrix may have more parts than a process may have open files. */
#include "io/formats/plain_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct plain {
    hy_context *ctx;
    int64_t offset; /* position of the first number, in bytes */
    int fd;         /* -1: the file is opened for each reading */
    char path[];
} plain;

static hybrid_status failed(const plain *p, const char *what)
{
    const int error = errno;
    char text[128]  = "";

    const char *reason = strerror_r(error, text, sizeof text);
    return hy_fail(p->ctx, HYBRID_IO_FAILED, "%s: %s: %s", p->path, what, reason);
}

static hybrid_status check(const plain *p, int fd, int64_t bytes)
{
    const long long end = p->offset + bytes;
    struct stat st;

    if (fstat(fd, &st) != 0)
        return failed(p, "its size cannot be read");
    if (!S_ISREG(st.st_mode))
        return hy_fail(
            p->ctx, HYBRID_BAD_FILE,
            "%s: is not a regular file, so that it cannot hold the numbers of a matrix",
            p->path);
    if ((long long)st.st_size < end)
        return hy_fail(
            p->ctx, HYBRID_BAD_FILE,
            "%s: has %lld bytes, and %lld are needed: numbers of a matrix take %lld "
            "bytes from byte %lld on",
            p->path, (long long)st.st_size, end, (long long)bytes, (long long)p->offset);
    return HYBRID_OK;
}

static hybrid_status open_file(const plain *p, int *fd)
{
    do
        *fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* A blocking open of a
                                                                   pipe would wait for a
                                                                   writer. */
    while (*fd < 0 && errno == EINTR);
    return *fd < 0 ? failed(p, "cannot be opened") : HYBRID_OK;
}

/* Returns 1 if `fd` is at least half of the number of descriptors that the process may
   have. */
static int is_high(int fd)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd >= limit.rlim_cur / 2;
}

static hybrid_status failed_at(const plain *p, long long byte, ssize_t got)
{
    const int error = errno;
    char text[128]  = "";

    if (got == 0)
        return hy_fail(
            p->ctx, HYBRID_IO_FAILED,
            "%s: byte %lld is missing: the file became shorter after it was opened",
            p->path, byte);
    return hy_fail(p->ctx, HYBRID_IO_FAILED, "%s: byte %lld cannot be read: %s", p->path,
                   byte, strerror_r(error, text, sizeof text));
}

static hybrid_status read_bytes(const plain *p, int fd, int64_t byte, size_t bytes,
                                char *to)
{
    while (bytes > 0) {
        const ssize_t got = pread(fd, to, bytes, byte);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return failed_at(p, byte, got);
        to += got;
        byte += got;
        bytes -= (size_t)got;
    }
    return HYBRID_OK;
}

static hybrid_status read_numbers(const hy_stored *self, int64_t first, int64_t count,
                                  void *to)
{
    const plain *p     = self->reader;
    const int64_t byte = p->offset + first * (int64_t)self->size;
    const size_t bytes = (size_t)count * self->size;
    int fd;

    if (p->fd >= 0)
        return read_bytes(p, p->fd, byte, bytes, to);
    HY_TRY(open_file(p, &fd));
    const hybrid_status status = read_bytes(p, fd, byte, bytes, to);
    (void)close(fd);
    return status;
}

static void close_file(hy_stored *self)
{
    const plain *p = self->reader;

    if (p->fd >= 0)
        (void)close(p->fd); /* The file was only read, so close() loses nothing. */
    hy_array_free(self->ctx, self->reader);
}

static const hy_stored_ops ops = {.read = read_numbers, .close = close_file};

/* Makes the array of a file that is not open yet. Messages name the file by `before`
   followed by `name`. */
static hybrid_status make(hy_context *ctx, const char *before, const char *name,
                          hy_stored *out)
{
    const size_t room = strlen(before) + strlen(name) + 1;

    HY_TRY(hy_array(ctx, (int64_t)(sizeof(plain) + room), 1, "the name of a file",
                    &out->reader));
    plain *p = out->reader;
    *p       = (plain){.ctx = ctx, .fd = -1};
    snprintf(p->path, room, "%s%s", before, name);
    return HYBRID_OK;
}

hybrid_status hy_plain_numbers_open(hy_context *ctx, const char *path, int64_t offset,
                                    int64_t count, size_t size, hy_stored *out)
{
    hy_stored numbers = {.ops = &ops, .ctx = ctx, .size = size, .count = count};
    hybrid_status status;
    int fd;

    HY_TRY(make(ctx, "", path, &numbers));
    plain *p  = numbers.reader;
    p->offset = offset;
    HY_TRY_ELSE_DONE(open_file(p, &fd));
    status = check(p, fd, count * (int64_t)size);
    if (status == HYBRID_OK && !is_high(fd))
        p->fd = fd;
    else
        (void)close(fd);
    if (status == HYBRID_OK)
        *out = numbers;
done:
    if (status != HYBRID_OK)
        hy_stored_close(&numbers);
    return status;
}

hybrid_status hy_plain_numbers_take(hy_context *ctx, const char *name, int fd,
                                    int64_t count, size_t size, hy_stored *out)
{
    hy_stored numbers = {.ops = &ops, .ctx = ctx, .size = size, .count = count};

    const hybrid_status status = make(ctx, "temporary data of ", name, &numbers);
    if (status != HYBRID_OK) {
        (void)close(fd); /* After this failure the data are not used, so an error of
                            close() does not matter. */
        return status;
    }
    ((plain *)numbers.reader)->fd = fd;
    *out                          = numbers;
    return HYBRID_OK;
}
