/* io/results/durable.c - files that survive a power loss. */
#include "io/results/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { AT_ONCE_BYTES = 1 << 24 }; /* maximum bytes of a call of write() */

hybrid_status hy_write_all(hy_context *ctx, int fd, const char *path, const void *data,
                           size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        const ssize_t put = write(fd, at, hy_smaller(bytes, AT_ONCE_BYTES));
        if (put < 0 && errno != EINTR)
            return hy_fail_system(ctx, path, "write");
        if (put > 0) {
            at += put;
            bytes -= (size_t)put;
        }
    }
    return HYBRID_OK;
}

/* Opens `path`, waits for the disk, and closes it. Returns 0, or -1 with errno. */
static int sync_path(const char *path, int flags)
{
    const int fd = open(path, flags | O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    const int result = fsync(fd), error = errno;
    close(fd);
    errno = error;
    return result;
}

hybrid_status hy_sync_file(hy_context *ctx, const char *path)
{
    return sync_path(path, 0) == 0 ? HYBRID_OK : hy_fail_system(ctx, path, "write");
}

hybrid_status hy_sync_folder_of(hy_context *ctx, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    if (slash && slash - path < PATH_MAX - 1)
        snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
    else
        snprintf(folder, sizeof folder, ".");
    if (sync_path(folder, O_DIRECTORY) == 0 || errno == EINVAL || errno == EACCES)
        return HYBRID_OK;
    return hy_fail_system(ctx, folder, "write");
}

hybrid_status hy_rename_durably(hy_context *ctx, const char *from, const char *to)
{
    if (rename(from, to) != 0)
        return hy_fail_system(ctx, to, "replace");
    return hy_sync_folder_of(ctx, to);
}

hybrid_status hy_join(hy_context *ctx, const char *text, const char *name, char **out)
{
    const size_t head = strlen(text), tail = strlen(name) + 1;
    void *array;

    HY_TRY(hy_array(ctx, (int64_t)(head + tail), 1, "the name of a file", &array));
    *out = array;
    memcpy(*out, text, head);
    memcpy(*out + head, name, tail);
    return HYBRID_OK;
}
