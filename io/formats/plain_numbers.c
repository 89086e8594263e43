/* io/formats/plain_numbers.c - reads numbers that lie in a file as they lie in memory. */
#include "io/formats/plain_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct plain {
    hy_context *ctx;
    int64_t offset; /* position of the first number, in bytes */
    int fd;
    char path[];
} plain;

static hybrid_status failed(const plain *p, const char *what)
{
    const int error = errno;
    char text[128]  = "";

    const char *reason = strerror_r(error, text, sizeof text);
    return hy_fail(p->ctx, HYBRID_IO_FAILED, "%s: %s: %s", p->path, what, reason);
}

static hybrid_status check(const plain *p, int64_t bytes)
{
    const long long end = p->offset + bytes;
    struct stat st;

    if (fstat(p->fd, &st) != 0)
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

static hybrid_status open_file(plain *p)
{
    do
        p->fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* A blocking open of a
                                                                     pipe would wait for a
                                                                     writer. */
    while (p->fd < 0 && errno == EINTR);
    return p->fd < 0 ? failed(p, "cannot be opened") : HYBRID_OK;
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

static hybrid_status read_numbers(const hy_stored *self, int64_t first, int64_t count,
                                  void *to)
{
    const plain *p = self->reader;
    int64_t byte   = p->offset + first * (int64_t)self->size;
    size_t bytes   = (size_t)count * self->size;

    for (char *at = to; bytes > 0;) {
        const ssize_t got = pread(p->fd, at, bytes, byte);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return failed_at(p, byte, got);
        at += got;
        byte += got;
        bytes -= (size_t)got;
    }
    return HYBRID_OK;
}

static void close_file(hy_stored *self)
{
    const plain *p = self->reader;

    if (p->fd >= 0)
        (void)close(p->fd); /* The file was only read, so close() loses nothing. */
    hy_array_free(self->ctx, self->reader);
}

static const hy_stored_ops ops = {.read = read_numbers, .close = close_file};

/* Makes the array of a file that is not open yet. Messages call the file `before` and
   `name` together. */
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

    HY_TRY(make(ctx, "", path, &numbers));
    plain *p  = numbers.reader;
    p->offset = offset;
    HY_TRY_ELSE_DONE(open_file(p));
    HY_TRY_ELSE_DONE(check(p, count * (int64_t)size));
    *out = numbers;
    return HYBRID_OK;
done:
    hy_stored_close(&numbers);
    return status;
}

hybrid_status hy_plain_numbers_take(hy_context *ctx, const char *name, int fd,
                                    int64_t count, size_t size, hy_stored *out)
{
    hy_stored numbers = {.ops = &ops, .ctx = ctx, .size = size, .count = count};

    const hybrid_status status = make(ctx, "temporary data of ", name, &numbers);
    if (status != HYBRID_OK) {
        (void)close(fd); /* The data are lost in any case. */
        return status;
    }
    ((plain *)numbers.reader)->fd = fd;
    *out                          = numbers;
    return HYBRID_OK;
}
