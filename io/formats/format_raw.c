/* io/formats/format_raw.c - matrices as raw numbers that a JSON file describes. */
#include <string.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "io/formats/plain_numbers.h"
#include "io/formats/raw.h"
#include "io/text/json_string.h"

/* ---- an array ---------------------------------------------------------------------- */

/* Number of bytes of the input's path that come before a relative name: its folder. 0 if
   the name is absolute or the path has no folder. */
static size_t folder_of(const hy_input *input, const char *name)
{
    const char *slash = strrchr(input->path, '/');

    return name[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - input->path);
}

static hybrid_status open_array(hy_context *ctx, const hy_input *input,
                                const hy_raw_array *array, int64_t count, size_t size,
                                hy_stored *out)
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
    const hybrid_status status =
        hy_plain_numbers_open(ctx, path, array->offset, count, size, out);
    hy_array_free(ctx, path);
    return status;
}

/* ---- matrices ---------------------------------------------------------------------- */

/* Returns the number of elements from the first to the last, gaps included. */
static int64_t dense_count(const hybrid_dense *X)
{
    const int in_rows   = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines = in_rows ? X->rows : X->cols;
    const int64_t line  = in_rows ? X->cols : X->rows;

    return lines == 0 || line == 0 ? 0 : (lines - 1) * X->ld + line;
}

static hybrid_status open_dense(hy_context *ctx, const hy_input *input,
                                const hy_raw_header *h, hy_matrix_file *out)
{
    out->dense = (hybrid_dense){.rows  = h->rows,
                                .cols  = h->cols,
                                .ld    = h->ld,
                                .order = (hybrid_order)h->order,
                                .type  = (hybrid_type)h->type,
                                .space = HYBRID_SPACE_HOST};
    return open_array(ctx, input, &h->values, dense_count(&out->dense),
                      hy_value_size(out->dense.type), &out->values);
}

static hybrid_status open_csr(hy_context *ctx, const hy_input *input,
                              const hy_raw_header *h, hy_matrix_file *out)
{
    hybrid_csr *A = &out->csr;

    *A = (hybrid_csr){.rows        = h->rows,
                      .cols        = h->cols,
                      .nnz         = h->nnz,
                      .offset_type = (hybrid_index)h->row_ptr.type,
                      .type        = (hybrid_type)h->type,
                      .col_type    = HYBRID_I32,
                      .space       = HYBRID_SPACE_HOST};
    HY_TRY(open_array(ctx, input, &h->row_ptr, A->rows + 1, hy_offset_size(A),
                      &out->row_ptr));
    HY_TRY(open_array(ctx, input, &h->col, A->nnz, 4, &out->col));
    return open_array(ctx, input, &h->values, A->nnz, hy_value_size(A->type),
                      &out->values);
}

static hybrid_status open_matrix(hy_context *ctx, const hy_opening *opening,
                                 hy_matrix_file *out, hy_entry_reader *entries)
{
    const hy_input *input = opening->input;
    hy_raw_header h;

    (void)entries;
    HY_TRY(hy_raw_parse(ctx, input, &h));
    out->sparse = h.sparse;
    return (h.sparse ? open_csr : open_dense)(ctx, input, &h, out);
}

/* The format accepts every file, so that the parser tells what is wrong with a file of
   another format. */
const hy_file_format hy_format_raw = {.name = "raw", .open = open_matrix};
