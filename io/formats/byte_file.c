/* io/formats/byte_file.c - writes a file at given positions, with checks. */
#include "io/formats/byte_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/formats/file_limit.h"

enum {
    AT_ONCE_BYTES = 1 << 24, /* maximum bytes between two checks for cancellation */
    BUFFER_BYTES  = 256 << 10,
    EARLY_BYTES   = 1 << 20, /* minimum bytes that the system is asked to write early */
    PRINT_BYTES   = 512
};

static hybrid_status failed(const hy_byte_file *file, const char *what)
{
    const int error = errno;
    char text[128]  = "";

    return hy_fail(file->ctx, HYBRID_IO_FAILED, "cannot %s '%s': %s", what, file->path,
                   strerror_r(error, text, sizeof text));
}

static hybrid_status failed_at(const hy_byte_file *file, int64_t at)
{
    const int error = errno;
    char text[128]  = "";

    return hy_fail(file->ctx, HYBRID_IO_FAILED, "cannot write byte %lld of '%s': %s",
                   (long long)at, file->path, strerror_r(error, text, sizeof text));
}

hybrid_status hy_byte_file_create(hy_context *ctx, const char *path, hy_byte_file *out)
{
    const size_t length = strlen(path) + 1;
    void *name;

    *out = (hy_byte_file){.ctx = NULL, .fd = -1};
    HY_TRY(hy_array(ctx, (int64_t)length, 1, "the name of a file", &name));
    hy_byte_file file = {.ctx = ctx, .path = memcpy(name, path, length)};
    do
        file.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    while (file.fd < 0 && errno == EINTR);
    if (file.fd < 0) {
        const hybrid_status status = failed(&file, "write");
        hy_array_free(ctx, name);
        return status;
    }
    *out = file;
    return HYBRID_OK;
}

/* Asks the system to begin writing bytes [at, at + bytes) to the disk. Otherwise it would
   keep most of them until the file is synchronised at the end, when there is nothing left
   to compute meanwhile. Failures do no harm: synchronising reports them. */
static void begin_writing(const hy_byte_file *file, int64_t at, int64_t bytes)
{
    if (bytes >= EARLY_BYTES)
        (void)sync_file_range(file->fd, at, bytes, SYNC_FILE_RANGE_WRITE);
}

hybrid_status hy_byte_file_put(const hy_byte_file *file, int64_t at, const void *data,
                               size_t bytes)
{
    const int64_t limit = hy_file_limit(at, bytes);
    const int64_t begin = at;
    const char *from    = data;

    if (limit >= 0)
        return failed_at(file, limit);
    while (bytes > 0) {
        const ssize_t put =
            pwrite(file->fd, from, hy_smaller(bytes, AT_ONCE_BYTES), (off_t)at);
        if (put == 0)
            errno = ENOSPC;
        if (put <= 0 && errno != EINTR)
            return failed_at(file, at);
        if (put > 0) {
            from += put;
            at += put;
            bytes -= (size_t)put;
        }
        HY_TRY(hy_progress_check(&file->ctx->progress));
    }
    begin_writing(file, begin, at - begin);
    return HYBRID_OK;
}

hybrid_status hy_byte_file_sync(const hy_byte_file *file)
{
    while (fsync(file->fd) != 0)
        if (errno != EINTR)
            return failed(file, "write");
    return HYBRID_OK;
}

hybrid_status hy_byte_file_close(hy_byte_file *file)
{
    hybrid_status status = HYBRID_OK;

    if (!file->ctx)
        return HYBRID_OK;
    if (close(file->fd) != 0 && errno != EINTR)
        status = failed(file, "write");
    hy_array_free(file->ctx, file->path);
    *file = (hy_byte_file){.ctx = NULL, .fd = -1};
    return status;
}

/* ---- regions ----------------------------------------------------------------------- */

hybrid_status hy_byte_region_open(const hy_byte_file *file, int64_t begin, int64_t end,
                                  hy_byte_region *out)
{
    void *buffer;

    HY_TRY(hy_array(file->ctx, BUFFER_BYTES, 1, "the buffer of a file", &buffer));
    *out = (hy_byte_region){
        .ctx = file->ctx, .file = file, .at = begin, .end = end, .buffer = buffer};
    return HYBRID_OK;
}

static hybrid_status write_through(hy_byte_region *region, const void *data, size_t bytes)
{
    HY_TRY(hy_byte_file_put(region->file, region->at, data, bytes));
    region->at += (int64_t)bytes;
    return HYBRID_OK;
}

static hybrid_status empty_buffer(hy_byte_region *region)
{
    const size_t bytes = region->filled;

    region->filled = 0;
    return write_through(region, region->buffer, bytes);
}

hybrid_status hy_byte_region_put(hy_byte_region *region, const void *data, size_t bytes)
{
    const int64_t left = region->end - region->at - (int64_t)region->filled;

    if (bytes == 0)
        return HYBRID_OK;
    if ((int64_t)bytes > left)
        return hy_fail(region->ctx, HYBRID_BAD_ARGUMENT,
                       "%s: the matrix has more rows or entries than were announced",
                       region->file->path);
    if (region->crc)
        *region->crc = (uint32_t)crc32_z(*region->crc, data, bytes);
    if (bytes > BUFFER_BYTES - region->filled)
        HY_TRY(empty_buffer(region));
    if (bytes >= BUFFER_BYTES)
        return write_through(region, data, bytes);
    memcpy(region->buffer + region->filled, data, bytes);
    region->filled += bytes;
    return HYBRID_OK;
}

hybrid_status hy_byte_region_print(hy_byte_region *region, const char *format, ...)
{
    char text[PRINT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert(length >= 0 && length < PRINT_BYTES);
    return hy_byte_region_put(region, text, (size_t)length);
}

hybrid_status hy_byte_region_flush(hy_byte_region *region)
{
    HY_TRY(empty_buffer(region));
    if (region->at == region->end)
        return HYBRID_OK;
    return hy_fail(region->ctx, HYBRID_BAD_ARGUMENT,
                   "%s: the matrix has fewer rows or entries than were announced",
                   region->file->path);
}

void hy_byte_region_close(hy_byte_region *region)
{
    if (region->ctx)
        hy_array_free(region->ctx, region->buffer);
    *region = (hy_byte_region){.ctx = NULL};
}

hybrid_status hy_byte_file_print(const hy_byte_file *file, hy_print_fn print,
                                 const void *writer)
{
    hy_byte_region region;

    HY_TRY(hy_byte_region_open(file, 0, INT64_MAX, &region));
    hybrid_status status = print(writer, &region);
    region.end           = region.at + (int64_t)region.filled;
    if (status == HYBRID_OK)
        status = hy_byte_region_flush(&region);
    hy_byte_region_close(&region);
    return status;
}
