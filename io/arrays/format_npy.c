/* io/arrays/format_npy.c - a dense matrix in a NumPy .npy file, as an operand or as a
   result that is written by rows. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/value_type.h"
#include "io/arrays/dense_put.h"
#include "io/arrays/npy.h"
#include "io/formats/byte_file.h"
#include "io/formats/file_format.h"
#include "io/formats/plain_numbers.h"
#include "io/numbers/converted.h"
#include "io/sort/spill.h"

/* ---- reading ----------------------------------------------------------------------- */

/* Returns the size of the file in bytes if its numbers can be read in place: it is a
   regular file that is not compressed. Otherwise, as for a pipe or gzip data, returns
   -1. */
static int64_t bytes_in_place(const hy_input *input)
{
    char begin[8];
    struct stat st;

    if (hy_is_descriptor(input->path))
        return -1;
    const int fd = hy_open(input->path, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return -1;
    const int is_plain = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                         pread(fd, begin, sizeof begin, 0) == sizeof begin &&
                         memcmp(begin, input->text, sizeof begin) == 0;
    close(fd);
    return is_plain ? st.st_size : -1;
}

/* Copies the values of a pipe or of gzip data to a temporary file. */
static hybrid_status copy_values(hy_context *ctx, hy_input *input, const hy_npy_header *h,
                                 const hy_spill *spill)
{
    const char *from = h->data;

    for (int64_t before = 0;;) {
        const char *end     = input->text + input->bytes;
        const int64_t found = end - from;
        HY_TRY(hy_npy_check_bytes(ctx, input, h, before + found));
        HY_TRY(hy_progress_check(&ctx->progress));
        HY_TRY(hy_spill_write(spill, from, (size_t)found, before));
        if (input->last)
            return HYBRID_OK;
        before += found;
        HY_TRY(hy_input_next(ctx, input, end));
        from = input->text;
    }
}

static hybrid_status open_spilled(hy_context *ctx, hy_input *input,
                                  const hy_npy_header *h, int64_t count, hy_stored *out)
{
    hy_spill spill;

    HY_TRY(hy_spill_open(ctx, &spill));
    const hybrid_status status = copy_values(ctx, input, h, &spill);
    if (status != HYBRID_OK) {
        hy_spill_close(&spill);
        return status;
    }
    return hy_plain_numbers_take(ctx, input->path, spill.fd, count, (size_t)h->kind.size,
                                 out);
}

static hybrid_status open_values(hy_context *ctx, hy_input *input, const hy_npy_header *h,
                                 hy_stored *out)
{
    const int64_t bytes = bytes_in_place(input), count = h->rows * h->cols;
    const int64_t before = h->data - input->text;

    if (bytes < 0)
        return open_spilled(ctx, input, h, count, out);
    if (bytes - before > h->bytes)
        return hy_npy_check_bytes(ctx, input, h, bytes - before);
    return hy_plain_numbers_open(ctx, input->path, before, count, (size_t)h->kind.size,
                                 out);
}

static hybrid_status open_matrix(hy_context *ctx, const hy_opening *opening,
                                 hy_matrix_file *out, hy_entry_reader *entries)
{
    hy_npy_header h;

    (void)entries;
    HY_TRY(hy_npy_read_header(ctx, opening->input, &h));
    out->dense = (hybrid_dense){.rows  = h.rows,
                                .cols  = h.cols,
                                .ld    = h.order == HYBRID_ROW_MAJOR ? h.cols : h.rows,
                                .order = h.order,
                                .type  = hy_type_of_kind(h.kind),
                                .space = HYBRID_SPACE_HOST};
    HY_TRY(open_values(ctx, opening->input, &h, &out->values));
    return hy_stored_to_values(&out->values, h.kind, out->name);
}

/* ---- writing ----------------------------------------------------------------------- */

typedef struct npy_writer {
    hy_byte_file file;
    hy_reused
        lines; /* buffer for the rows of one call, arranged in the order of the file */
} npy_writer;

static hy_dense_place place_of(npy_writer *w)
{
    return (hy_dense_place){&w->file, HY_NPY_HEADER_BYTES, &w->lines};
}

static hybrid_status append(hy_file_writer *self, const hybrid_dense *rows)
{
    const hy_dense_place place = place_of(self->writer);

    return hy_dense_put(self, &place, rows);
}

static void close_writer(hy_file_writer *self)
{
    npy_writer *w = self->writer;

    (void)hy_byte_file_close(&w->file);
    hy_array_free_reused(self->ctx, &w->lines);
    hy_array_free(self->ctx, w);
    self->ops = NULL;
}

static hybrid_status finish(hy_file_writer *self)
{
    npy_writer *w              = self->writer;
    const hy_dense_place place = place_of(w);

    HY_TRY(hy_dense_put_end(self, &place));
    HY_TRY(hy_byte_file_close(&w->file));
    close_writer(self);
    return HYBRID_OK;
}

static hybrid_status begin(hy_file_writer *self, const char *path)
{
    const hy_file_shape *shape = &self->shape;
    npy_writer *w              = self->writer;
    char header[HY_NPY_HEADER_BYTES];

    HY_TRY(hy_byte_file_create(self->ctx, path, &w->file));
    hy_npy_make_header(hy_value_type_of(shape->type)->npy_name, shape->order, shape->rows,
                       shape->cols, header);
    return hy_byte_file_put(&w->file, 0, header, sizeof header);
}

static const hy_file_writer_ops writer_ops = {.state_bytes = sizeof(npy_writer),
                                              .begin       = begin,
                                              .dense       = append,
                                              .finish      = finish,
                                              .abort       = close_writer};

static hybrid_status create(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out)
{
    if (shape->sparse)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "%s: a .npy file cannot hold a sparse matrix", path);
    return hy_file_writer_open(ctx, path, shape, &writer_ops, out);
}

const hy_file_format hy_format_npy = {.name    = "npy",
                                      .endings = ".npy",
                                      .is      = hy_npy_is,
                                      .open    = open_matrix,
                                      .create  = create};
