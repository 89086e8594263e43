/* io/arrays/raw_open.c - opens matrices of raw numbers. */
#include <string.h>

#include "base/data/csr.h"
#include "io/text/json_string.h"
#include "io/arrays/raw.h"

/* ---- an array ---------------------------------------------------------------------- */

/* Number of bytes of the input's path that come before a relative name: its folder. 0 if
   the name is absolute or the path has no folder. */
static size_t folder_of(const hy_input *input, const char *name)
{
    const char *slash = strrchr(input->path, '/');

    return name[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - input->path);
}

hybrid_status hy_raw_open(hy_context *ctx, const hy_input *input,
                          const hy_raw_array *array, int64_t bytes, hy_stored *out)
{
    const size_t all = strlen(input->path) + array->length + 1;
    void *path;

    HY_TRY(hy_array(ctx, (int64_t)all + (int64_t)array->length, 1, "the name of a file",
                    &path));
    char *name          = (char *)path + all;
    const size_t length = hy_json_string_decode(array->name, array->length, name);
    const size_t folder = folder_of(input, name);
    memcpy(path, input->path, folder);
    memcpy((char *)path + folder, name, length);
    ((char *)path)[folder + length] = '\0';
    const hybrid_status status = hy_stored_open(ctx, path, array->offset, bytes, out);
    hy_array_free(ctx, path);
    return status;
}

/* ---- dense ------------------------------------------------------------------------- */

/* Bytes from the first element to the last. */
static int64_t dense_bytes(const hybrid_dense *X)
{
    const int in_rows   = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines = in_rows ? X->rows : X->cols;
    const int64_t line  = in_rows ? X->cols : X->rows;

    return lines == 0 || line == 0
               ? 0
               : ((lines - 1) * X->ld + line) * (int64_t)hy_value_size(X->type);
}

static hybrid_status open_dense(hy_context *ctx, const hy_input *input,
                                const hy_raw_header *h, hy_dense_file *out)
{
    const hybrid_dense shape = {.rows  = h->rows,
                                .cols  = h->cols,
                                .ld    = h->ld,
                                .order = (hybrid_order)h->order,
                                .type  = (hybrid_type)h->type,
                                .space = HYBRID_SPACE_HOST};
    hy_stored stored;

    HY_TRY(hy_raw_open(ctx, input, &h->values, dense_bytes(&shape), &stored));
    *out = (hy_dense_file){shape, stored};
    return HYBRID_OK;
}

/* ---- sparse ------------------------------------------------------------------------ */

static hybrid_status open_arrays(hy_context *ctx, const hy_input *input,
                                 const hy_raw_header *h, hy_csr_file *file)
{
    const hybrid_csr *shape = &file->shape;
    const int64_t offset    = (int64_t)hy_offset_size(shape);
    const int64_t value     = (int64_t)hy_value_size(shape->type);

    HY_TRY(
        hy_raw_open(ctx, input, &h->row_ptr, (shape->rows + 1) * offset, &file->row_ptr));
    HY_TRY(hy_raw_open(ctx, input, &h->col, shape->nnz * 4, &file->col));
    return hy_raw_open(ctx, input, &h->values, shape->nnz * value, &file->val);
}

static hybrid_status open_csr(hy_context *ctx, const hy_input *input,
                              const hy_raw_header *h, hy_csr_file *out)
{
    const size_t length = strlen(input->path) + 1;
    hy_csr_file file    = {.ctx   = ctx,
                           .shape = {.rows        = h->rows,
                                     .cols        = h->cols,
                                     .nnz         = h->nnz,
                                     .offset_type = (hybrid_index)h->row_ptr.type,
                                     .type        = (hybrid_type)h->type,
                                     .col_type    = HYBRID_I32,
                                     .space       = HYBRID_SPACE_HOST}};
    void *name;

    HY_TRY(hy_array(ctx, (int64_t)length, 1, "the name of a file", &name));
    file.name                  = memcpy(name, input->path, length);
    const hybrid_status status = open_arrays(ctx, input, h, &file);
    if (status == HYBRID_OK)
        *out = file;
    else
        hy_csr_file_close(&file);
    return status;
}

/* ---- either kind ------------------------------------------------------------------- */

hybrid_status hy_raw_open_matrix(hy_context *ctx, const char *path, hy_raw_matrix *out)
{
    hy_raw_header h;
    hy_input input;

    *out = (hy_raw_matrix){.sparse = 0};
    HY_TRY(hy_input_open(ctx, path, &input));
    hybrid_status status = hy_raw_parse(ctx, &input, &h);
    if (status == HYBRID_OK)
        status = h.sparse ? open_csr(ctx, &input, &h, &out->csr)
                          : open_dense(ctx, &input, &h, &out->dense);
    hy_input_close(ctx, &input);
    out->sparse = status == HYBRID_OK && h.sparse;
    return status;
}

void hy_raw_close_matrix(hy_raw_matrix *matrix)
{
    hy_stored_close(&matrix->dense.values);
    hy_csr_file_close(&matrix->csr);
}

hybrid_status hy_raw_read_csr(hy_context *ctx, const char *path, hybrid_csr *out)
{
    hy_raw_matrix matrix;

    HY_TRY(hy_raw_open_matrix(ctx, path, &matrix));
    if (matrix.sparse)
        hy_progress_begin_file(&ctx->progress, hy_csr_file_stored_bytes(&matrix.csr));
    const hybrid_status status =
        matrix.sparse ? hy_csr_file_read(&matrix.csr, out)
                      : hy_fail(ctx, HYBRID_BAD_FILE,
                                "%s: holds a dense matrix and must be sparse", path);
    hy_raw_close_matrix(&matrix);
    return status;
}
