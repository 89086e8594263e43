/* io/sink.c - a file that appears under its name when it is complete. */
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20 };

static hybrid_status fail_system(hy_context *ctx, const char *path, const char *verb)
{
    return hy_fail(ctx, HYBRID_IO_FAILED, "cannot %s '%s': %s", verb, path,
                   strerror(errno));
}

/* Devices and pipes must not be replaced by a file. */
static int is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

hybrid_status hy_sink_open(hy_context *ctx, const char *path, hy_sink *out)
{
    const size_t length = strlen(path) + sizeof HY_PARTIAL + 3 * sizeof(long);
    hybrid_status status;
    void *array;

    *out = (hy_sink){.path = path, .fd = -1, .direct = is_special(path)};
    HY_TRY_ELSE_DONE(hy_array(ctx, (int64_t)length, 1, "name of a file", &array));
    out->name = array;
    snprintf(out->name, length, out->direct ? "%s" : HY_PARTIAL, path, (long)getpid());
    HY_TRY_ELSE_DONE(hy_array(ctx, BUFFER_BYTES, 1, "buffer of a file", &array));
    out->buffer     = array;
    const int flags = out->direct ? 0 : O_CREAT | O_TRUNC | O_NOFOLLOW;
    out->fd         = open(out->name, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (out->fd < 0)
        HY_TRY_ELSE_DONE(fail_system(ctx, out->name, "write"));
    return HYBRID_OK;
done:
    hy_array_free(ctx, out->buffer);
    hy_array_free(ctx, out->name);
    return status;
}

static hybrid_status write_all(hy_context *ctx, hy_sink *sink, const char *data,
                               size_t bytes)
{
    while (bytes > 0) {
        const ssize_t put = write(sink->fd, data, bytes);
        if (put < 0 && errno != EINTR)
            return fail_system(ctx, sink->name, "write");
        if (put > 0) {
            data += put;
            bytes -= (size_t)put;
        }
    }
    return HYBRID_OK;
}

static hybrid_status flush(hy_context *ctx, hy_sink *sink)
{
    const size_t bytes = sink->filled;

    sink->filled = 0;
    return write_all(ctx, sink, sink->buffer, bytes);
}

hybrid_status hy_sink_write(hy_context *ctx, hy_sink *sink, const void *data,
                            size_t bytes)
{
    if (bytes == 0)
        return HYBRID_OK;
    if (bytes > BUFFER_BYTES - sink->filled)
        HY_TRY(flush(ctx, sink));
    if (bytes >= BUFFER_BYTES)
        return write_all(ctx, sink, data, bytes);
    memcpy(sink->buffer + sink->filled, data, bytes);
    sink->filled += bytes;
    return HYBRID_OK;
}

hybrid_status hy_sink_finish(hy_context *ctx, hy_sink *sink, hybrid_status status)
{
    if (status == HYBRID_OK)
        status = flush(ctx, sink);
    if (close(sink->fd) != 0 && status == HYBRID_OK)
        status = fail_system(ctx, sink->name, "write");
    if (!sink->direct) {
        if (status == HYBRID_OK && rename(sink->name, sink->path) != 0)
            status = fail_system(ctx, sink->path, "replace");
        if (status != HYBRID_OK)
            unlink(sink->name);
    }
    hy_array_free(ctx, sink->buffer);
    hy_array_free(ctx, sink->name);
    return status;
}
