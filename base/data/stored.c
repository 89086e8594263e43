/* base/data/stored.c - reads numbers of a binary file. */
#include "base/data/stored.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static hybrid_status failed(const hy_stored *s, const char *what)
{
    const int error = errno;
    char text[128]  = "";

    const char *reason = strerror_r(error, text, sizeof text);
    return hy_fail(s->ctx, HYBRID_IO_FAILED, "%s: %s: %s", s->path, what, reason);
}

static hybrid_status check(const hy_stored *s, int64_t bytes)
{
    const long long end = s->offset + bytes;
    struct stat st;

    if (fstat(s->fd, &st) != 0)
        return failed(s, "its size cannot be read");
    if (!S_ISREG(st.st_mode))
        return hy_fail(s->ctx, HYBRID_BAD_FILE, "%s: is not a regular file", s->path);
    if ((long long)st.st_size < end)
        return hy_fail(s->ctx, HYBRID_BAD_FILE,
                       "%s: has %lld bytes, %lld are needed: %lld from byte %lld on",
                       s->path, (long long)st.st_size, end, (long long)bytes,
                       (long long)s->offset);
    return HYBRID_OK;
}

static hybrid_status open_file(hy_stored *s)
{
    do
        s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* A blocking open of a
                                                                     pipe would wait for a
                                                                     writer. */
    while (s->fd < 0 && errno == EINTR);
    return s->fd < 0 ? failed(s, "cannot be opened") : HYBRID_OK;
}

hybrid_status hy_stored_open(hy_context *ctx, const char *path, int64_t offset,
                             int64_t bytes, hy_stored *out)
{
    const size_t length = strlen(path) + 1;
    hy_stored s         = {.ctx = ctx, .offset = offset, .fd = -1};
    hybrid_status status;
    void *copy;

    HY_TRY(hy_array(ctx, (int64_t)length, 1, "the name of a file", &copy));
    s.path = memcpy(copy, path, length);
    HY_TRY_ELSE_DONE(open_file(&s));
    HY_TRY_ELSE_DONE(check(&s, bytes));
    *out = s;
    return HYBRID_OK;
done:
    hy_stored_close(&s);
    return status;
}

void hy_stored_close(hy_stored *stored)
{
    if (!stored->path)
        return;
    if (stored->fd >= 0)
        (void)close(stored->fd); /* The file was only read, so close() loses nothing. */
    hy_array_free(stored->ctx, stored->path);
    *stored = (hy_stored){.fd = -1};
}

static hybrid_status failed_at(const hy_stored *s, long long byte, ssize_t got)
{
    const int error = errno;
    char text[128]  = "";

    if (got == 0)
        return hy_fail(
            s->ctx, HYBRID_IO_FAILED,
            "%s: byte %lld is missing: the file became shorter after it was opened",
            s->path, byte);
    return hy_fail(s->ctx, HYBRID_IO_FAILED, "%s: byte %lld cannot be read: %s", s->path,
                   byte, strerror_r(error, text, sizeof text));
}

hybrid_status hy_stored_read(const hy_stored *stored, int64_t at, void *to, size_t bytes)
{
    int64_t byte = stored->offset + at;
    char *p      = to;

    while (bytes > 0) {
        const ssize_t got = pread(stored->fd, p, bytes, byte);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return failed_at(stored, byte, got);
        p += got;
        byte += got;
        bytes -= (size_t)got;
    }
    return HYBRID_OK;
}
