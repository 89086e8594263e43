/* io/petsc/petsc_write.c - writes a matrix in PETSc's binary form.

   The places of the three arrays follow from the number of entries, and rows are appended
   to all three. */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "io/formats/byte_file.h"
#include "io/numbers/put_rows.h"
#include "io/petsc/petsc.h"

enum { LENGTHS, COLUMNS, VALUES, ARRAYS };

typedef struct petsc_writer {
    hy_byte_file file;
    hy_number_kind index, value;
    hy_byte_region region[ARRAYS]; /* a dense matrix has VALUES only */
} petsc_writer;

static hybrid_status append_sparse(hy_file_writer *self, const hybrid_csr *rows)
{
    petsc_writer *w = self->writer;

    HY_TRY(hy_put_lengths(&w->region[LENGTHS], w->index, rows));
    HY_TRY(hy_put_columns(&w->region[COLUMNS], w->index, rows));
    HY_TRY(hy_put_values(&w->region[VALUES], w->value, rows->type, rows->val, rows->nnz));
    self->rows += rows->rows;
    self->nnz += rows->nnz;
    self->bytes +=
        rows->rows * w->index.size + rows->nnz * (w->index.size + w->value.size);
    return HYBRID_OK;
}

/* Appends row number `row` of `rows` to the values. */
static hybrid_status append_row(petsc_writer *w, const hybrid_dense *rows, int64_t row)
{
    const size_t size  = hy_value_size(rows->type);
    const char *data   = rows->data;
    hy_byte_region *to = &w->region[VALUES];

    if (rows->order == HYBRID_ROW_MAJOR)
        return hy_put_values(to, w->value, rows->type,
                             data + (size_t)(row * rows->ld) * size, rows->cols);
    for (int64_t col = 0; col < rows->cols; col++)
        HY_TRY(hy_put_values(to, w->value, rows->type,
                             data + (size_t)(col * rows->ld + row) * size, 1));
    return HYBRID_OK;
}

static hybrid_status append_dense(hy_file_writer *self, const hybrid_dense *rows)
{
    for (int64_t row = 0; row < rows->rows; row++)
        HY_TRY(append_row(self->writer, rows, row));
    self->rows += rows->rows;
    self->bytes += rows->rows * rows->cols * 8;
    return HYBRID_OK;
}

static void close_writer(hy_file_writer *self)
{
    petsc_writer *w = self->writer;

    for (int i = 0; i < ARRAYS; i++)
        hy_byte_region_close(&w->region[i]);
    (void)hy_byte_file_close(&w->file);
    hy_array_free(self->ctx, w);
    self->ops = NULL;
}

static hybrid_status finish(hy_file_writer *self)
{
    petsc_writer *w = self->writer;

    for (int i = self->shape.sparse ? LENGTHS : VALUES; i < ARRAYS; i++)
        HY_TRY(hy_byte_region_flush(&w->region[i]));
    HY_TRY(hy_byte_file_close(&w->file));
    close_writer(self);
    return HYBRID_OK;
}

/* ---- beginning --------------------------------------------------------------------- */

static hybrid_status put_header(petsc_writer *w, const hy_file_shape *s)
{
    const int64_t numbers[HY_PETSC_HEADER] = {HY_PETSC_MAT, s->rows, s->cols,
                                              s->sparse ? s->nnz : HY_PETSC_DENSE};
    hy_byte_region region;

    HY_TRY(hy_byte_region_open(&w->file, 0, HY_PETSC_HEADER * w->index.size, &region));
    hybrid_status status = HYBRID_OK;
    for (int i = 0; i < HY_PETSC_HEADER && status == HYBRID_OK; i++)
        status = hy_put_index(&region, w->index, numbers[i]);
    if (status == HYBRID_OK)
        status = hy_byte_region_flush(&region);
    hy_byte_region_close(&region);
    return status;
}

static hybrid_status open_regions(petsc_writer *w, const hy_file_shape *s, int64_t count)
{
    const int64_t size    = w->index.size;
    const int64_t begin   = HY_PETSC_HEADER * size;
    const int64_t columns = begin + (s->sparse ? s->rows * size : 0);
    const int64_t values  = columns + (s->sparse ? s->nnz * size : 0);

    if (s->sparse) {
        HY_TRY(hy_byte_region_open(&w->file, begin, columns, &w->region[LENGTHS]));
        HY_TRY(hy_byte_region_open(&w->file, columns, values, &w->region[COLUMNS]));
    }
    return hy_byte_region_open(&w->file, values, values + count * w->value.size,
                               &w->region[VALUES]);
}

static int index_size(const hy_file_shape *s)
{
    const int is_wide = s->offsets == HYBRID_I64 || s->columns == HYBRID_I64 ||
                        hy_max(hy_max(s->rows, s->cols), s->nnz) > INT32_MAX;

    return is_wide ? 8 : 4;
}

int64_t hy_petsc_bytes(const hy_file_shape *shape)
{
    return hy_arrays_bytes(shape, index_size(shape), index_size(shape), 8);
}

static hybrid_status begin(hy_file_writer *self, const char *path)
{
    const hy_file_shape *s = &self->shape;
    petsc_writer *w        = self->writer;
    int64_t count          = s->nnz;

    w->index = (hy_number_kind){HY_SIGNED, index_size(s), 1};
    w->value = (hy_number_kind){HY_FLOAT, 8, 1};
    if ((!s->sparse && __builtin_mul_overflow(s->rows, s->cols, &count)) ||
        count > INT64_MAX / 64 || s->rows > INT64_MAX / 64)
        return hy_fail(self->ctx, HYBRID_BAD_ARGUMENT,
                       "%s: the matrix is too large for a file", path);
    HY_TRY(hy_byte_file_create(self->ctx, path, &w->file));
    HY_TRY(put_header(w, s));
    return open_regions(w, s, count);
}

static const hy_file_writer_ops ops = {.state_bytes = sizeof(petsc_writer),
                                       .begin       = begin,
                                       .sparse      = append_sparse,
                                       .dense       = append_dense,
                                       .finish      = finish,
                                       .abort       = close_writer};

hybrid_status hy_petsc_create(hy_context *ctx, const char *path,
                              const hy_file_shape *shape, hy_file_writer *out)
{
    if (shape->sparse && shape->nnz < 0)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "%s: a sparse matrix of PETSc begins with its number of entries, "
                       "which is not known",
                       path);
    return hy_file_writer_open(ctx, path, shape, &ops, out);
}
