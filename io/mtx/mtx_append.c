/* io/mtx/mtx_append.c - writes a Matrix Market coordinate file row by row. */
#include "io/mtx/mtx_append.h"

#include "io/formats/byte_file.h"
#include "io/mtx/mtx_text.h"

typedef struct appender {
    hy_byte_file file;
    const hy_encoder *encoder; /* NULL: the text is not compressed */
    hy_mtx_text *text;
    int64_t at; /* number of bytes of the file so far */
} appender;

static hybrid_status put(void *arg, const char *text, size_t bytes)
{
    appender *a = arg;

    HY_TRY(hy_byte_file_put(&a->file, a->at, text, bytes));
    a->at += (int64_t)bytes;
    return HYBRID_OK;
}

static hybrid_status append(hy_file_writer *self, const hybrid_csr *rows)
{
    appender *a = self->writer;

    HY_TRY(hy_mtx_text_put(a->text, rows, self->rows, -1));
    self->rows += rows->rows;
    self->nnz += rows->nnz;
    self->bytes = a->at;
    return HYBRID_OK;
}

static void free_appender(hy_file_writer *self)
{
    appender *a = self->writer;

    hy_mtx_text_close(a->text);
    hy_array_free(self->ctx, a);
    self->ops = NULL;
}

/* Writes the banner and the sizes at the beginning of the file. */
static hybrid_status put_head(const hy_file_writer *self, const appender *a,
                              size_t *bytes)
{
    const hy_file_shape *shape = &self->shape;
    char head[HY_MTX_HEAD_BYTES];

    *bytes = hy_mtx_head(head, a->encoder, shape->rows, shape->cols,
                         shape->nnz < 0 ? self->nnz : shape->nnz, shape->nnz < 0);
    return hy_byte_file_put(&a->file, 0, head, *bytes);
}

static hybrid_status finish(hy_file_writer *self)
{
    appender *a = self->writer;
    size_t bytes;

    if (self->rows != self->shape.rows ||
        (self->shape.nnz >= 0 && self->nnz != self->shape.nnz))
        return hy_fail(self->ctx, HYBRID_BAD_ARGUMENT,
                       "%s: has %lld rows and %lld entries; %lld and %lld were announced",
                       a->file.path, (long long)self->rows, (long long)self->nnz,
                       (long long)self->shape.rows, (long long)self->shape.nnz);
    HY_TRY(put_head(self, a, &bytes));
    HY_TRY(hy_byte_file_close(&a->file));
    free_appender(self);
    return HYBRID_OK;
}

static void abort_file(hy_file_writer *self)
{
    appender *a = self->writer;

    (void)hy_byte_file_close(&a->file); /* The file is incomplete in any case. */
    free_appender(self);
}

static hybrid_status begin(hy_file_writer *self, const char *path)
{
    const char *target = self->shape.target ? self->shape.target : path;
    appender *a        = self->writer;
    size_t bytes;

    HY_TRY(hy_encoder_of_name(self->ctx, target, &a->encoder));
    HY_TRY(hy_mtx_text_open(self->ctx, a->encoder, put, a, &a->text));
    HY_TRY(hy_byte_file_create(self->ctx, path, &a->file));
    HY_TRY(put_head(self, a, &bytes));
    a->at = self->bytes = (int64_t)bytes;
    return HYBRID_OK;
}

hybrid_status hy_mtx_create(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out)
{
    static const hy_file_writer_ops ops = {.state_bytes = sizeof(appender),
                                           .begin       = begin,
                                           .sparse      = append,
                                           .finish      = finish,
                                           .abort       = abort_file};

    if (!shape->sparse)
        return hy_fail(
            ctx, HYBRID_BAD_ARGUMENT,
            "%s: a Matrix Market file holds a sparse result; write a dense one "
            "as .npy",
            path);
    return hy_file_writer_open(ctx, path, shape, &ops, out);
}
