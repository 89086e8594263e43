/* io/formats/file_formats.c - the table of formats, and opening a file of any of them. */
#include <string.h>

#include "io/formats/file_format.h"

const hy_file_format *const hy_file_formats[] = {&hy_format_raw, NULL};

static hybrid_status open_input(hy_context *ctx, const hy_file_format *const *formats,
                                const hy_input *input, hy_matrix_file *out)
{
    const size_t length = strlen(input->path) + 1;
    void *name;

    HY_TRY(hy_array(ctx, (int64_t)length, 1, "name of a file", &name));
    out->ctx  = ctx;
    out->name = memcpy(name, input->path, length);
    while ((*formats)->is && !(*formats)->is(input))
        formats++;
    return (*formats)->open(ctx, input, out);
}

hybrid_status hy_matrix_file_open(hy_context *ctx, const hy_file_format *const *formats,
                                  const char *path, hy_matrix_file *out)
{
    hy_input input;

    *out = (hy_matrix_file){.ctx = NULL};
    HY_TRY(hy_input_open(ctx, path, &input));
    const hybrid_status status = open_input(ctx, formats, &input, out);
    hy_input_close(ctx, &input);
    if (status != HYBRID_OK)
        hy_matrix_file_close(out);
    return status;
}

hybrid_status hy_matrix_file_read(hy_context *ctx, const hy_file_format *const *formats,
                                  const char *path, hybrid_csr *out)
{
    hy_matrix_file file;

    HY_TRY(hy_matrix_file_open(ctx, formats, path, &file));
    if (file.sparse)
        hy_progress_begin_file(&ctx->progress, hy_csr_file_stored_bytes(&file));
    const hybrid_status status =
        file.sparse ? hy_csr_file_read(&file, out)
                    : hy_fail(ctx, HYBRID_BAD_FILE,
                              "%s: holds a dense matrix and must be sparse", path);
    hy_matrix_file_close(&file);
    return status;
}
