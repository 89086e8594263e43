/* io/sort/spill.c - temporary files without a name. */
#include "io/sort/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/data/min_max.h"
#include "io/formats/file_limit.h"
#include "io/text/io_sizes.h"

const char *hy_spill_folder(const hy_context *ctx)
{
    const char *folder = getenv("TMPDIR");

    if (ctx->spill_path)
        return ctx->spill_path;
    return folder && folder[0] ? folder : "/tmp";
}

static hybrid_status failed(hy_context *ctx, const char *verb)
{
    const int error = errno;
    char text[128]  = "";

    const char *reason = strerror_r(error, text, sizeof text);
    return hy_fail(ctx, HYBRID_IO_FAILED,
                   "cannot %s a temporary file in the folder '%s': %s; give another "
                   "folder (spill_path, --spill or TMPDIR)",
                   verb, hy_spill_folder(ctx), reason);
}

/* Creates a file and removes its name, on file systems without O_TMPFILE. Returns -1 and
   sets errno if that fails. */
static int create_and_unlink(const char *folder)
{
    char path[PATH_MAX];

    const int length = snprintf(path, sizeof path, "%s/hybrid_spmm.XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(path); /* If this fails, the file keeps a name by which users find
                               it. */
    return fd;
}

hybrid_status hy_spill_open(hy_context *ctx, hy_spill *out)
{
    const char *folder = hy_spill_folder(ctx);

    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
        fd = create_and_unlink(folder);
    if (fd < 0)
        return failed(ctx, "create");
    *out = (hy_spill){ctx, fd};
    return HYBRID_OK;
}

int64_t hy_spill_left(const hy_context *ctx)
{
    const int64_t most = hy_io_sizes_of(ctx)->spill_most;
    struct statvfs st;
    int64_t bytes;

    if (statvfs(hy_spill_folder(ctx), &st) != 0 || st.f_blocks == 0 ||
        __builtin_mul_overflow(st.f_bavail, st.f_frsize, &bytes))
        return most;
    return hy_min(bytes, most);
}

hybrid_status hy_spill_write(const hy_spill *spill, const void *data, size_t bytes,
                             int64_t at)
{
    const char *from = data;

    HY_TRY(hy_progress_check(&spill->ctx->progress));
    if (hy_file_limit(at, bytes) >= 0)
        return failed(spill->ctx, "write");
    while (bytes > 0) {
        const ssize_t put = pwrite(spill->fd, from, bytes, at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put == 0)
            errno = ENOSPC;
        if (put <= 0)
            return failed(spill->ctx, "write");
        from += put;
        at += put;
        bytes -= (size_t)put;
    }
    return HYBRID_OK;
}

hybrid_status hy_spill_read(const hy_spill *spill, void *to, size_t bytes, int64_t at)
{
    char *next = to;

    while (bytes > 0) {
        const ssize_t got = pread(spill->fd, next, bytes, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = EIO; /* the file is shorter than the bytes that were written */
        if (got <= 0)
            return failed(spill->ctx, "read");
        next += got;
        at += got;
        bytes -= (size_t)got;
    }
    return HYBRID_OK;
}

void hy_spill_close(hy_spill *spill)
{
    if (spill->ctx)
        (void)close(spill->fd); /* Nothing of the file is needed any more. */
    *spill = (hy_spill){.ctx = NULL};
}
