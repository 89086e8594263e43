/* io/formats/raw_write.c - writes a matrix as raw numbers in files that a JSON file
   describes. */
#include "io/formats/raw_write.h"

#include <unistd.h>

#include "base/data/csr.h"
#include "io/arrays/dense_put.h"
#include "io/formats/put_json.h"
#include "io/formats/raw_names.h"
#include "io/numbers/put_rows.h"

enum { INDEX, VALUES, FILES };
static const char *const endings[] = {".index.bin", ".values.bin"};

typedef struct raw_writer {
    hy_byte_file json;
    hy_byte_file file[FILES];
    hy_byte_region offsets, columns, values;
    hy_reused lines; /* buffer for rows of a dense matrix, arranged in the order of the
                        file */
} raw_writer;

/* ---- names ------------------------------------------------------------------------- */

/* Chooses C.index.bin, C.1.index.bin and so on: the first name that no file has, or the
   file of an earlier matrix of the description. */
static hybrid_status choose_name(hy_context *ctx, const char *target, int file,
                                 char to[HY_NAME_BYTES])
{
    int is_free = 0;

    for (int i = 0; i < HY_NAMES && !is_free; i++) {
        HY_TRY(hy_raw_name(ctx, target, i, endings[file], to));
        is_free = access(to, F_OK) != 0;
        if (!is_free)
            HY_TRY(hy_raw_is_old(ctx, target, hy_base_of(to), &is_free));
    }
    return is_free ? HYBRID_OK : hy_raw_names_are_taken(ctx, target, to);
}

/* ---- rows -------------------------------------------------------------------------- */

static hybrid_status append_sparse(hy_file_writer *self, const hybrid_csr *rows)
{
    const hy_file_shape *s = &self->shape;
    raw_writer *w          = self->writer;

    HY_TRY(hy_put_offsets(&w->offsets, hy_kind_of_index(HYBRID_I64), rows, self->nnz));
    HY_TRY(hy_put_columns(&w->columns, hy_kind_of_index(HYBRID_I32), rows));
    HY_TRY(hy_put_values(&w->values, hy_kind_of_type(s->type), rows->type, rows->val,
                         rows->nnz));
    self->rows += rows->rows;
    self->nnz += rows->nnz;
    self->bytes += rows->rows * 8 + rows->nnz * (4 + (int64_t)hy_value_size(s->type));
    return HYBRID_OK;
}

static hy_dense_place place_of(raw_writer *w)
{
    return (hy_dense_place){&w->file[VALUES], 0, &w->lines};
}

static hybrid_status append_dense(hy_file_writer *self, const hybrid_dense *rows)
{
    const hy_dense_place place = place_of(self->writer);

    return hy_dense_put(self, &place, rows);
}

/* ---- description ------------------------------------------------------------------- */

static hybrid_status print_array(hy_byte_region *to, const char *key,
                                 const hy_byte_file *file, int64_t offset,
                                 const char *type)
{
    HY_TRY(hy_byte_region_print(to, ",\n \"%s\": {\"file\": ", key));
    HY_TRY(hy_put_json_string(to, hy_base_of(file->path)));
    if (offset > 0)
        HY_TRY(hy_byte_region_print(to, ", \"offset\": %lld", (long long)offset));
    if (type)
        HY_TRY(hy_byte_region_print(to, ", \"type\": \"%s\"", type));
    return hy_byte_region_print(to, "}");
}

static hybrid_status print(const void *writer, hy_byte_region *to)
{
    const hy_file_writer *self = writer;
    const hy_file_shape *s     = &self->shape;
    const raw_writer *w        = self->writer;

    HY_TRY(hy_byte_region_print(
        to, "{\"format\": \"%s\", \"version\": 1, \"rows\": %lld, \"cols\": %lld,\n",
        s->sparse ? "hybrid-csr" : "hybrid-dense", (long long)s->rows,
        (long long)s->cols));
    HY_TRY(
        hy_byte_region_print(to, " \"type\": \"%s\"", hy_value_type_of(s->type)->name));
    if (s->sparse) {
        HY_TRY(hy_byte_region_print(to, ", \"nnz\": %lld", (long long)self->nnz));
        HY_TRY(print_array(to, "row_ptr", &w->file[INDEX], 0, "i64"));
        HY_TRY(print_array(to, "col", &w->file[INDEX], (s->rows + 1) * 8, "i32"));
    } else {
        HY_TRY(hy_byte_region_print(to, ", \"order\": \"%s\"",
                                    s->order == HYBRID_ROW_MAJOR ? "row" : "col"));
    }
    HY_TRY(print_array(to, "values", &w->file[VALUES], 0, NULL));
    return hy_byte_region_print(to, "}\n");
}

/* ---- end --------------------------------------------------------------------------- */

static void close_writer(hy_file_writer *self)
{
    raw_writer *w = self->writer;

    hy_byte_region_close(&w->offsets);
    hy_byte_region_close(&w->columns);
    hy_byte_region_close(&w->values);
    for (int i = 0; i < FILES; i++)
        (void)hy_byte_file_close(&w->file[i]);
    (void)hy_byte_file_close(&w->json);
    hy_array_free_reused(self->ctx, &w->lines);
    hy_array_free(self->ctx, w);
    self->ops = NULL;
}

static void abort_writer(hy_file_writer *self)
{
    const raw_writer *w = self->writer;

    for (int i = 0; i < FILES; i++)
        if (w->file[i].ctx)
            (void)unlink(w->file[i].path); /* If this fails, a later write of the matrix
                                              replaces the file. */
    close_writer(self);
}

/* Without a known number of entries, columns and values end behind the last row that was
   appended. */
static hybrid_status flush(const hy_file_writer *self, raw_writer *w)
{
    const hy_dense_place place = place_of(w);

    if (!self->shape.sparse)
        return hy_dense_put_end(self, &place);
    w->columns.end = w->columns.at + (int64_t)w->columns.filled;
    w->values.end  = w->values.at + (int64_t)w->values.filled;
    HY_TRY(hy_byte_region_flush(&w->offsets));
    HY_TRY(hy_byte_region_flush(&w->columns));
    return hy_byte_region_flush(&w->values);
}

static hybrid_status finish(hy_file_writer *self)
{
    raw_writer *w = self->writer;

    HY_TRY(flush(self, w));
    for (int i = self->shape.sparse ? INDEX : VALUES; i < FILES; i++)
        HY_TRY(hy_byte_file_sync(&w->file[i]));
    HY_TRY(hy_byte_file_print(&w->json, print, self));
    HY_TRY(hy_byte_file_sync(&w->json));
    HY_TRY(hy_byte_file_close(&w->json));
    close_writer(self);
    return HYBRID_OK;
}

/* ---- beginning --------------------------------------------------------------------- */

static hybrid_status open_numbers(hy_context *ctx, const char *target, int file,
                                  raw_writer *w)
{
    char name[HY_NAME_BYTES];

    HY_TRY(choose_name(ctx, target, file, name));
    return hy_byte_file_create(ctx, name, &w->file[file]);
}

static hybrid_status open_sparse(hy_context *ctx, const char *target, int64_t rows,
                                 raw_writer *w)
{
    const int64_t columns = (rows + 1) * 8;

    HY_TRY(open_numbers(ctx, target, INDEX, w));
    HY_TRY(hy_byte_region_open(&w->file[INDEX], 0, columns, &w->offsets));
    HY_TRY(hy_byte_region_open(&w->file[INDEX], columns, INT64_MAX, &w->columns));
    HY_TRY(hy_byte_region_open(&w->file[VALUES], 0, INT64_MAX, &w->values));
    return hy_put_index(&w->offsets, hy_kind_of_index(HYBRID_I64), 0);
}

static hybrid_status begin(hy_file_writer *self, const char *path)
{
    const hy_file_shape *shape = &self->shape;
    const char *target         = shape->target ? shape->target : path;
    hy_context *ctx            = self->ctx;
    raw_writer *w              = self->writer;

    if (shape->sparse && (shape->cols > INT32_MAX || shape->rows > INT64_MAX / 16))
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s: the matrix is too large for a file",
                       path);
    HY_TRY(open_numbers(ctx, target, VALUES, w));
    if (shape->sparse)
        HY_TRY(open_sparse(ctx, target, shape->rows, w));
    return hy_byte_file_create(ctx, path, &w->json);
}

static const hy_file_writer_ops ops = {.state_bytes = sizeof(raw_writer),
                                       .begin       = begin,
                                       .sparse      = append_sparse,
                                       .dense       = append_dense,
                                       .finish      = finish,
                                       .abort       = abort_writer};

int64_t hy_raw_bytes(const hy_file_shape *shape)
{
    return hy_arrays_bytes(shape, 8, 4, (int64_t)hy_value_size(shape->type));
}

hybrid_status hy_raw_create(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out)
{
    return hy_file_writer_open(ctx, path, shape, &ops, out);
}
