/* io/formats/format_raw.c - matrices as raw numbers that a JSON file describes. */
#include <string.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "io/formats/plain_numbers.h"
#include "io/formats/raw.h"
#include "io/formats/raw_write.h"
#include "io/parts/join.h"
#include "io/parts/parts_write.h"
#include "io/parts/window.h"
#include "io/text/json_string.h"

/* ---- an array ---------------------------------------------------------------------- */

/* Returns the number of bytes of the input's path that precede `name`, which is relative
   to the input's folder. 0 if `name` is absolute or the path has no folder. */
static size_t folder_of(const hy_input *input, const char *name)
{
    const char *slash = strrchr(input->path, '/');

    return name[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - input->path);
}

/* Makes the path of a file that the text names: relative names begin in the folder of the
   input. Free *out with hy_array_free(). */
static hybrid_status make_path(hy_context *ctx, const hy_input *input,
                               const hy_raw_array *array, char **out)
{
    const size_t all = strlen(input->path) + array->length + 1;
    void *memory;

    HY_TRY(hy_array(ctx, (int64_t)all + (int64_t)array->length, 1, "the name of a file",
                    &memory));
    char *path          = memory;
    char *name          = path + all;
    const size_t length = hy_json_string_decode(array->name, array->length, name);
    const size_t folder = folder_of(input, name);
    memcpy(path, input->path, folder);
    memcpy(path + folder, name, length);
    path[folder + length] = '\0';
    *out                  = path;
    return HYBRID_OK;
}

static hybrid_status open_array(hy_context *ctx, const hy_input *input,
                                const hy_raw_array *array, int64_t count, size_t size,
                                hy_stored *out)
{
    char *path;

    HY_TRY(make_path(ctx, input, array, &path));
    const hybrid_status status =
        hy_plain_numbers_open(ctx, path, array->offset, count, size, out);
    hy_array_free(ctx, path);
    return status;
}

/* ---- matrices ---------------------------------------------------------------------- */

/* Returns the number of elements that X spans in memory, gaps between its lines
   included. */
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

/* ---- rows of other files ----------------------------------------------------------- */

static const hy_file_format one_matrix;

/* Formats that a file of rows ("hybrid-rows") may take its parts from: all formats of the
   library, except that a part must not have parts itself. */
enum { MOST_FORMATS = 32 };
typedef struct part_formats {
    const hy_file_format *format[MOST_FORMATS];
} part_formats;

static part_formats formats_of_parts(void)
{
    part_formats all = {{NULL}};

    for (int i = 0; i < MOST_FORMATS - 1 && hy_file_formats[i]; i++)
        all.format[i] =
            hy_file_formats[i] == &hy_format_raw ? &one_matrix : hy_file_formats[i];
    return all;
}

static hybrid_status open_part(hy_context *ctx, const hy_input *input,
                               const hy_raw_part *part, hy_matrix_file *out)
{
    const part_formats formats = formats_of_parts();
    char *path;

    HY_TRY(make_path(ctx, input, &part->file, &path));
    hybrid_status status = hy_matrix_file_open(ctx, formats.format, path, out);
    hy_array_free(ctx, path);
    if (status != HYBRID_OK)
        return status;
    const int64_t rows = out->csr.rows + out->dense.rows;
    status = hy_matrix_file_window(out, part->begin, part->end < 0 ? rows : part->end);
    if (status != HYBRID_OK)
        hy_matrix_file_close(out);
    return status;
}

static hybrid_status open_parts(hy_context *ctx, const hy_input *input,
                                const hy_raw_part *parts, int64_t count,
                                hy_matrix_file *files, hy_matrix_file *out)
{
    hybrid_status status = HYBRID_OK;
    int64_t opened       = 0;

    for (; opened < count && status == HYBRID_OK; opened += status == HYBRID_OK)
        status = open_part(ctx, input, &parts[opened], &files[opened]);
    if (status == HYBRID_OK)
        return hy_matrix_files_join(files, count, out);
    while (opened > 0)
        hy_matrix_file_close(&files[--opened]);
    return status;
}

static hybrid_status open_rows(hy_context *ctx, const hy_input *input,
                               const hy_raw_header *h, hy_matrix_file *out)
{
    hybrid_status status;
    void *parts = NULL, *files = NULL;

    HY_TRY_ELSE_DONE(
        hy_array(ctx, h->parts, sizeof(hy_raw_part), "parts of a matrix", &parts));
    HY_TRY_ELSE_DONE(
        hy_array(ctx, h->parts, sizeof(hy_matrix_file), "parts of a matrix", &files));
    HY_TRY_ELSE_DONE(hy_raw_parse_parts(ctx, input, parts));
    status = open_parts(ctx, input, parts, h->parts, files, out);
done:
    hy_array_free(ctx, files);
    hy_array_free(ctx, parts);
    return status;
}

/* ---- the format -------------------------------------------------------------------- */

static hybrid_status open_one(hy_context *ctx, const hy_opening *opening,
                              hy_matrix_file *out, hy_entry_reader *entries)
{
    const hy_input *input = opening->input;
    hy_raw_header h;

    (void)entries;
    HY_TRY(hy_raw_parse(ctx, input, &h));
    if (h.form == HY_RAW_ROWS)
        return hy_fail(ctx, HYBRID_BAD_FILE,
                       "%s: is a list of parts, and cannot be a part of another matrix",
                       input->path);
    out->sparse = h.form == HY_RAW_CSR;
    return (out->sparse ? open_csr : open_dense)(ctx, input, &h, out);
}

static hybrid_status open_matrix(hy_context *ctx, const hy_opening *opening,
                                 hy_matrix_file *out, hy_entry_reader *entries)
{
    hy_raw_header h;

    HY_TRY(hy_raw_parse(ctx, opening->input, &h));
    if (h.form == HY_RAW_ROWS)
        return open_rows(ctx, opening->input, &h, out);
    return open_one(ctx, opening, out, entries);
}

static hybrid_status create(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out)
{
    return (shape->part_rows > 0 ? hy_parts_create : hy_raw_create)(ctx, path, shape,
                                                                    out);
}

static const hy_file_format one_matrix = {.name = "raw", .open = open_one};

/* This last format of the table accepts every file, so that its parser can say what is
   wrong with a file of an unknown format. */
const hy_file_format hy_format_raw = {.name      = "raw",
                                      .endings   = ".json",
                                      .open      = open_matrix,
                                      .create    = create,
                                      .bytes     = hy_raw_bytes,
                                      .has_parts = 1};
