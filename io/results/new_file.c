/* io/results/new_file.c - a matrix file that appears when it is complete and durable. */
#include "io/results/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/results/durable.h"
#include "io/text/io.h"

static hybrid_status check(hy_context *ctx, const hy_file_format *format,
                           const char *path)
{
    struct stat st;

    if (hy_is_descriptor(path) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "'%s' is no regular file, which a result in the format %s needs",
                       path, format->name);
    return HYBRID_OK;
}

hybrid_status hy_new_file_open(hy_context *ctx, const hy_file_format *format,
                               const char *path, const hy_file_shape *shape,
                               hy_new_file *out)
{
    *out = (hy_new_file){.path = path, .lock = -1};
    HY_TRY(check(ctx, format, path));
    HY_TRY(hy_output_partial(ctx, path, &out->partial));
    out->writer                = (hy_file_writer){.ctx = ctx, .shape = *shape};
    const hybrid_status status = format->create(ctx, out->partial, shape, &out->writer);
    if (status != HYBRID_OK) {
        unlink(out->partial);
        hy_array_free(ctx, out->partial);
        *out = (hy_new_file){.lock = -1};
        return status;
    }
    out->lock = open(out->partial, O_RDONLY | O_CLOEXEC);
    if (out->lock >= 0)
        flock(out->lock, LOCK_SH | LOCK_NB); /* fails, without harm, if the format holds
                                                its own lock */
    return HYBRID_OK;
}

/* Completes the file. Some formats write their last numbers only now, which progress has
   to count. */
static hybrid_status finish(hy_new_file *file)
{
    const int64_t before       = file->writer.bytes;
    const hybrid_status status = file->writer.ops->finish(&file->writer);

    hy_progress_wrote(&file->writer.ctx->progress, file->writer.bytes - before);
    return status;
}

static hybrid_status publish(hy_context *ctx, const hy_new_file *file)
{
    HY_TRY(hy_sync_file(ctx, file->partial));
    return hy_rename_durably(ctx, file->partial, file->path);
}

hybrid_status hy_new_file_close(hy_new_file *file, hybrid_status status)
{
    hy_context *ctx = file->writer.ctx;

    if (!file->partial)
        return status;
    if (status == HYBRID_OK)
        status = finish(file);
    if (status != HYBRID_OK && file->writer.ops)
        file->writer.ops->abort(&file->writer);
    if (status == HYBRID_OK)
        status = publish(ctx, file);
    if (status != HYBRID_OK)
        unlink(file->partial);
    if (file->lock >= 0)
        close(file->lock);
    hy_array_free(ctx, file->partial);
    *file = (hy_new_file){.lock = -1};
    return status;
}
