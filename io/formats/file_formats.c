/* io/formats/file_formats.c - the table of formats, and opening a file of any of them. */
#include <string.h>

#include "io/formats/file_format.h"
#include "partition/move/sources.h"

const hy_file_format *const hy_file_formats[] = {&hy_format_raw, NULL};

static hybrid_status open_input(hy_context *ctx, const hy_file_format *const *formats,
                                const hy_input *input, hy_matrix_file *out)
{
    const size_t length = strlen(input->path) + 1;
    void *name;

    HY_TRY(hy_array(ctx, (int64_t)length, 1, "the name of a file", &name));
    out->ctx  = ctx;
    out->name = memcpy(name, input->path, length);
    while ((*formats)->is && !(*formats)->is(input))
        formats++;
    return (*formats)->open(ctx, input, out);
}

void hy_matrix_file_close(hy_matrix_file *file)
{
    if (!file->ctx)
        return;
    hy_stored_close(&file->row_ptr);
    hy_stored_close(&file->col);
    hy_stored_close(&file->values);
    hy_array_free(file->ctx, file->name);
    *file = (hy_matrix_file){.ctx = NULL};
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

static int64_t bytes_of(const hy_stored *numbers)
{
    return numbers->count * (int64_t)numbers->size;
}

static hybrid_status read_csr(const hy_matrix_file *file, hybrid_csr *out)
{
    const hy_source source = hy_source_csr_file(file);

    if (!file->sparse)
        return hy_fail(file->ctx, HYBRID_BAD_FILE,
                       "%s: must describe a sparse matrix, but describes a dense one",
                       file->name);
    hy_progress_begin_file(&file->ctx->progress, bytes_of(&file->row_ptr) +
                                                     bytes_of(&file->col) +
                                                     bytes_of(&file->values));
    return hy_source_read(&source, out);
}

hybrid_status hy_matrix_file_read(hy_context *ctx, const hy_file_format *const *formats,
                                  const char *path, hybrid_csr *out)
{
    hy_matrix_file file;

    HY_TRY(hy_matrix_file_open(ctx, formats, path, &file));
    const hybrid_status status = read_csr(&file, out);
    hy_matrix_file_close(&file);
    return status;
}
