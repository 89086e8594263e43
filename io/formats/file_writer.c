/* io/formats/file_writer.c - what writers of all formats have in common. */
#include "io/formats/file_writer.h"

#include <string.h>

hybrid_status hy_file_writer_open(hy_context *ctx, const char *path,
                                  const hy_file_shape *shape,
                                  const hy_file_writer_ops *ops, hy_file_writer *out)
{
    hy_file_writer writer = {.ops = ops, .ctx = ctx, .shape = *shape};

    HY_TRY(hy_array(ctx, 1, ops->state_bytes, "a writer of a file", &writer.writer));
    memset(writer.writer, 0, ops->state_bytes);
    const hybrid_status status = ops->begin(&writer, path);
    if (status != HYBRID_OK)
        ops->abort(&writer);
    else
        *out = writer;
    return status;
}
