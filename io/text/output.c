/* io/text/output.c - writes a file that appears under its name when it is complete. */
#include "io/text/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_BYTES  = 1 << 20,
    AT_ONCE_BYTES = 1 << 24, /* maximum bytes between two checks for cancellation */
    ENDING_BYTES  = sizeof ".2147483647.partial" - 1,
    HASH_BYTES    = sizeof ".0123456789abcdef" - 1
};

/* Returns 1 for devices, pipes and open files of the process, which must not be replaced
   by a file. */
static int is_special(const char *path)
{
    struct stat st;
    return hy_is_descriptor(path) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

/* Hashes the text by FNV-1a. */
static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

hybrid_status hy_output_partial(hy_context *ctx, const char *path, char **out)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t room = strlen(path) + HASH_BYTES + ENDING_BYTES + 1;
    size_t kept       = strlen(path);
    char mark[32]     = "";
    void *array;

    if (strlen(name) > NAME_MAX - ENDING_BYTES) {
        kept = (size_t)(name - path) + NAME_MAX - ENDING_BYTES - HASH_BYTES;
        snprintf(mark, sizeof mark, ".%016llx", (unsigned long long)hash(name));
    }
    HY_TRY(hy_array(ctx, (int64_t)room, 1, "the name of a file", &array));
    *out = array;
    snprintf(*out, room, "%.*s%s.%ld.partial", (int)kept, path, mark, (long)getpid());
    return HYBRID_OK;
}

/* Opens the file `name`, empty and locked. Returns -1 and sets errno if that fails.
   Another program may remove the file before it is locked; then a new file is created. */
static int open_partial(const char *name)
{
    struct stat st = {.st_nlink = 0};

    while (st.st_nlink == 0) {
        const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0)
            return -1;
        flock(fd, LOCK_SH); /* fails on file systems without locks, which is fine */
        if (fstat(fd, &st) == 0 && st.st_nlink > 0 && ftruncate(fd, 0) == 0)
            return fd;
        close(fd);
    }
    return -1;
}

hybrid_status hy_output_open(hy_context *ctx, const char *path, hy_output *out)
{
    hybrid_status status;
    void *array;

    *out = (hy_output){.path = path, .fd = -1, .direct = is_special(path)};
    if (!out->direct)
        HY_TRY_ELSE_DONE(hy_output_partial(ctx, path, &out->partial));
    HY_TRY_ELSE_DONE(hy_array(ctx, BUFFER_BYTES, 1, "the buffer of a file", &array));
    out->buffer = array;
    out->name   = out->direct ? path : out->partial;
    out->fd     = out->direct ? hy_open(path, O_WRONLY) : open_partial(out->name);
    if (out->fd < 0)
        HY_TRY_ELSE_DONE(hy_fail_system(ctx, out->name, "write"));
    return HYBRID_OK;
done:
    hy_array_free(ctx, out->buffer);
    hy_array_free(ctx, out->partial);
    return status;
}

static hybrid_status write_all(hy_context *ctx, hy_output *output, const char *data,
                               size_t bytes)
{
    while (bytes > 0) {
        const ssize_t put = write(output->fd, data, hy_smaller(bytes, AT_ONCE_BYTES));
        if (put < 0 && errno != EINTR)
            return hy_fail_system(ctx, output->name, "write");
        if (put > 0) {
            data += put;
            bytes -= (size_t)put;
            hy_progress_add(&ctx->progress, put);
        }
        HY_TRY(hy_progress_check(&ctx->progress));
    }
    return HYBRID_OK;
}

static hybrid_status flush(hy_context *ctx, hy_output *output)
{
    const size_t bytes = output->filled;

    output->filled = 0;
    return write_all(ctx, output, output->buffer, bytes);
}

hybrid_status hy_output_write(hy_context *ctx, hy_output *output, const void *data,
                              size_t bytes)
{
    if (bytes == 0)
        return HYBRID_OK;
    if (bytes > BUFFER_BYTES - output->filled)
        HY_TRY(flush(ctx, output));
    if (bytes >= BUFFER_BYTES)
        return write_all(ctx, output, data, bytes);
    memcpy(output->buffer + output->filled, data, bytes);
    output->filled += bytes;
    return HYBRID_OK;
}

hybrid_status hy_output_finish(hy_context *ctx, hy_output *output, hybrid_status status)
{
    if (status == HYBRID_OK)
        status = flush(ctx, output);
    const int lock = dup(output->fd); /* keeps the lock until the file has its name */
    if (close(output->fd) != 0 && status == HYBRID_OK)
        status = hy_fail_system(ctx, output->name, "write");
    if (!output->direct) {
        if (status == HYBRID_OK && rename(output->name, output->path) != 0)
            status = hy_fail_system(ctx, output->path, "replace");
        if (status != HYBRID_OK)
            unlink(output->name);
    }
    if (lock >= 0)
        close(lock);
    hy_array_free(ctx, output->buffer);
    hy_array_free(ctx, output->partial);
    return status;
}
