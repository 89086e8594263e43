/* io/hdf5/h5_write.c - writes a matrix in the Binsparse format, version 0.1: CSR, or
   DMATR for a dense matrix. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "io/hdf5/h5_append.h"
#include "io/hdf5/h5_matrix.h"

typedef struct writer {
    hy_h5_target target;
    hy_h5_append pointers, indices, values; /* a dense matrix has values only */
} writer;

static hy_h5_number integer(size_t bytes)
{
    return (hy_h5_number){HY_H5_SIGNED, bytes, 0};
}

/* ---- sparse matrices --------------------------------------------------------------- */

/* Converts numbers to the type of a dataset, and appends them. */
static hybrid_status append(hy_h5_append *to, const hy_h5_number *from,
                            const char *numbers, int64_t count)
{
    char *at;
    int64_t n;

    for (; count > 0; count -= n, numbers += n * (int64_t)from->bytes) {
        HY_TRY(hy_h5_append_room(to, count, &at, &n));
        if (hy_h5_convert(from, &to->number, numbers, n, at) < n)
            return hy_fail(to->target->ctx, HYBRID_BAD_ARGUMENT,
                           "cannot write '%s': a number of '%s' needs 64 bits",
                           to->target->path, to->name);
    }
    return HYBRID_OK;
}

enum { PIECE = 1024 }; /* number of offsets that are converted at a time */

/* Appends each row's end, its offset behind the row's last entry. */
static hybrid_status append_offsets(hy_file_writer *self, const hybrid_csr *rows)
{
    writer *w               = self->writer;
    const hy_h5_number wide = integer(8);
    int64_t offsets[PIECE];

    for (int64_t row = 0; row < rows->rows; row += PIECE) {
        const int64_t n = hy_min(PIECE, rows->rows - row);
        for (int64_t i = 0; i < n; i++)
            offsets[i] = self->nnz + hy_offset(rows, row + i + 1);
        HY_TRY(append(&w->pointers, &wide, (const char *)offsets, n));
    }
    return HYBRID_OK;
}

static hybrid_status too_large(const hy_file_writer *self, const char *what,
                               int64_t wanted)
{
    const writer *w = self->writer;

    return hy_fail(self->ctx, HYBRID_BAD_ARGUMENT,
                   "cannot write '%s': the matrix does not have %lld %s", w->target.path,
                   (long long)wanted, what);
}

static hybrid_status write_sparse(hy_file_writer *self, const hybrid_csr *rows)
{
    writer *w                  = self->writer;
    const hy_h5_number columns = integer(hy_col_size(rows));

    if (rows->rows > self->shape.rows - self->rows)
        return too_large(self, "rows", self->shape.rows);
    if (self->shape.nnz >= 0 && rows->nnz > self->shape.nnz - self->nnz)
        return too_large(self, "entries", self->shape.nnz);
    HY_TRY(append_offsets(self, rows));
    HY_TRY(append(&w->indices, &columns, rows->col, rows->nnz));
    HY_TRY(append(&w->values, &w->values.number, rows->val, rows->nnz));
    self->rows += rows->rows;
    self->nnz += rows->nnz;
    self->bytes = w->target.disk.written;
    return HYBRID_OK;
}

/* ---- dense matrices ---------------------------------------------------------------- */

/* Copies `count` elements that are `step` elements apart. */
static void copy_strided(const char *from, int64_t step, int64_t count, size_t size,
                         char *to)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, from + (size_t)(i * step) * size, size);
}

static hybrid_status write_row(writer *w, const hybrid_dense *rows, int64_t row)
{
    const int in_rows    = rows->order == HYBRID_ROW_MAJOR;
    const size_t size    = hy_value_size(rows->type);
    const int64_t step   = in_rows ? 1 : rows->ld;
    const int64_t origin = in_rows ? row * rows->ld : row;
    char *to;
    int64_t n;

    for (int64_t col = 0; col < rows->cols; col += n) {
        HY_TRY(hy_h5_append_room(&w->values, rows->cols - col, &to, &n));
        const char *from = hy_dense_at(rows, origin + col * step);
        if (in_rows)
            memcpy(to, from, (size_t)n * size);
        else
            copy_strided(from, step, n, size, to);
    }
    return HYBRID_OK;
}

static hybrid_status write_dense(hy_file_writer *self, const hybrid_dense *rows)
{
    writer *w = self->writer;

    if (rows->rows > self->shape.rows - self->rows)
        return too_large(self, "rows", self->shape.rows);
    for (int64_t row = 0; row < rows->rows; row++)
        HY_TRY(write_row(w, rows, row));
    self->rows += rows->rows;
    self->bytes = w->target.disk.written;
    return HYBRID_OK;
}

/* ---- the end ----------------------------------------------------------------------- */

static void put_json(char *to, size_t bytes, const char *format, ...) HY_PRINTF(3, 4);
static void put_json(char *to, size_t bytes, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(to, bytes, format, args);
    va_end(args);
}

static void describe(const hy_file_writer *self, char *text, size_t bytes)
{
    const hy_file_shape *s = &self->shape;
    const writer *w        = self->writer;
    const char *value      = hy_value_type_of(s->type)->long_name;
    char indices[96]       = "";

    if (s->sparse)
        put_json(indices, sizeof indices,
                 "\"pointers_to_1\": \"int%d\", \"indices_1\": \"int%d\", ",
                 (int)w->pointers.number.bytes * 8, (int)w->indices.number.bytes * 8);
    put_json(
        text, bytes,
        "{\"binsparse\": {\"version\": \"0.1.0\", \"format\": \"%s\", \"shape\": [%lld, "
        "%lld], \"number_of_stored_values\": %lld, \"data_types\": {%s\"values\": "
        "\"%s\"}}}",
        s->sparse ? "CSR" : "DMATR", (long long)s->rows, (long long)s->cols,
        (long long)(s->sparse ? self->nnz : s->rows * s->cols), indices, value);
}

static int write_attribute(hid_t file, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    hid_t made  = -1;
    int is_good = 0;

    if (type >= 0 && space >= 0 && H5Tset_size(type, strlen(text)) >= 0 &&
        H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
        H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0)
        made = H5Acreate2(file, "binsparse", type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (made >= 0) {
        is_good = H5Awrite(made, type, text) >= 0;
        is_good &= H5Aclose(made) >= 0;
    }
    if (space >= 0)
        (void)H5Sclose(space);
    if (type >= 0)
        (void)H5Tclose(type);
    return is_good;
}

static hybrid_status close_file(hy_file_writer *self)
{
    writer *w = self->writer;
    char text[512];
    hy_h5_entered entered;

    describe(self, text, sizeof text);
    hy_h5_enter(&entered);
    const int is_good = write_attribute(w->target.id, text) &&
                        H5Fflush(w->target.id, H5F_SCOPE_LOCAL) >= 0;
    const hybrid_status status = hy_h5_written(&w->target, is_good);
    hy_h5_leave(&entered);
    return status;
}

/* Frees the arrays and closes the file in libhdf5. With drops = 1 the driver ignores what
   libhdf5 still writes. Returns 0 if closing fails. */
static int discard(hy_file_writer *self, int drops)
{
    writer *w = self->writer;
    hy_h5_entered entered;

    hy_h5_append_free(&w->pointers);
    hy_h5_append_free(&w->indices);
    hy_h5_append_free(&w->values);
    w->target.disk.drops |= drops;
    hy_h5_enter(&entered);
    const int is_good = w->target.id < 0 || H5Fclose(w->target.id) >= 0;
    hy_h5_leave(&entered);
    return is_good;
}

static void free_writer(hy_file_writer *self)
{
    writer *w = self->writer;

    hy_array_free(self->ctx, w->target.path);
    hy_array_free(self->ctx, w);
    self->ops = NULL;
}

static void abort_file(hy_file_writer *self)
{
    const writer *w = self->writer;
    const int fd    = w->target.disk.fd;

    (void)discard(self, 1);
    if (fd >= 0)
        (void)close(fd); /* The file is incomplete and will be removed, so an error of
                            close() does not matter. */
    free_writer(self);
}

static hybrid_status check_complete(const hy_file_writer *self)
{
    const hy_file_shape *s = &self->shape;

    if (self->rows != s->rows)
        return too_large(self, "rows", s->rows);
    return s->sparse && s->nnz >= 0 && self->nnz != s->nnz
               ? too_large(self, "entries", s->nnz)
               : HYBRID_OK;
}

static hybrid_status finish_file(hy_file_writer *self)
{
    writer *w = self->writer;

    HY_TRY(check_complete(self));
    if (self->shape.sparse) {
        HY_TRY(hy_h5_append_finish(&w->pointers));
        HY_TRY(hy_h5_append_finish(&w->indices));
    }
    HY_TRY(hy_h5_append_finish(&w->values));
    HY_TRY(close_file(self));
    const int is_closed = discard(self, 0);
    if (close(w->target.disk.fd) != 0 && w->target.disk.error == 0)
        w->target.disk.error = errno;
    w->target.disk.fd = -1;
    w->target.id      = -1;
    HY_TRY(hy_h5_written(&w->target, is_closed));
    self->bytes = w->target.disk.written;
    free_writer(self);
    return HYBRID_OK;
}

/* ---- the beginning ----------------------------------------------------------------- */

static hybrid_status check_shape(hy_context *ctx, const char *path,
                                 const hy_file_shape *shape)
{
    int64_t count;

    if (!shape->sparse && (__builtin_mul_overflow(shape->rows, shape->cols, &count) ||
                           count > INT64_MAX / 16))
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "cannot write '%s': the matrix takes 2^63 bytes or more", path);
#if !HYBRID_WITH_ZSTD
    if (shape->compression == HY_ZSTD)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "cannot write '%s': this build has no zstd: it was made without "
                       "libzstd",
                       path);
#endif
    return HYBRID_OK;
}

static hybrid_status create_file(hy_h5_target *target)
{
    hy_h5_entered entered;

    target->disk.fd = open(target->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (target->disk.fd < 0) {
        target->disk.error = errno;
        return hy_h5_written(target, 0);
    }
    hy_h5_enter(&entered);
    target->id                 = hy_h5_driver_open(target->path, &target->disk);
    const hybrid_status status = hy_h5_written(target, target->id >= 0);
    hy_h5_leave(&entered);
    return status;
}

static size_t offset_size(const hy_file_shape *s)
{
    return s->offsets == HYBRID_I32 ? 4 : 8;
}

static size_t column_size(const hy_file_shape *s)
{
    return s->columns == HYBRID_I64 ? 8 : 4;
}

int64_t hy_h5_matrix_bytes(const hy_file_shape *shape)
{
    if (shape->compression != HY_STORED)
        return 0;
    return hy_arrays_bytes(shape, (int64_t)offset_size(shape),
                           (int64_t)column_size(shape),
                           (int64_t)hy_value_size(shape->type));
}

static hybrid_status open_arrays(writer *w, const hy_file_shape *s)
{
    const hy_h5_number value = {HY_H5_FLOAT, hy_value_size(s->type), 0};
    const hy_h5_number wide  = integer(8);
    const int64_t zero       = 0;

    if (!s->sparse)
        return hy_h5_append_open(&w->target, "values", value, s->rows * s->cols,
                                 &w->values);
    HY_TRY(hy_h5_append_open(&w->target, "pointers_to_1", integer(offset_size(s)),
                             s->rows + 1, &w->pointers));
    HY_TRY(hy_h5_append_open(&w->target, "indices_1", integer(column_size(s)), s->nnz,
                             &w->indices));
    HY_TRY(hy_h5_append_open(&w->target, "values", value, s->nnz, &w->values));
    return append(&w->pointers, &wide, (const char *)&zero, 1);
}

static hybrid_status begin(hy_file_writer *self, const char *path)
{
    writer *w           = self->writer;
    const size_t length = strlen(path) + 1;
    void *copy;

    w->target = (hy_h5_target){.ctx         = self->ctx,
                               .id          = -1,
                               .disk        = {.fd = -1, .may_write = 1},
                               .compression = self->shape.compression,
                               .shuffle     = self->shape.shuffle};
    HY_TRY(hy_array(self->ctx, (int64_t)length, 1, "the name of a file", &copy));
    w->target.path = memcpy(copy, path, length);
    HY_TRY(create_file(&w->target));
    return open_arrays(w, &self->shape);
}

hybrid_status hy_h5_matrix_create(hy_context *ctx, const char *path,
                                  const hy_file_shape *shape, hy_file_writer *out)
{
    static const hy_file_writer_ops ops = {.state_bytes = sizeof(writer),
                                           .begin       = begin,
                                           .sparse      = write_sparse,
                                           .dense       = write_dense,
                                           .finish      = finish_file,
                                           .abort       = abort_file};

    HY_TRY(check_shape(ctx, path, shape));
    return hy_file_writer_open(ctx, path, shape, &ops, out);
}
