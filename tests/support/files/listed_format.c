/* tests/support/files/listed_format.c - formats that write every entry as a line. */
#include "support/files/listed_format.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/data/csr.h"

int64_t listed_writes_left = -1;

static void put_head(FILE *file, int64_t rows, int64_t cols, int64_t nnz)
{
    fprintf(file, "%lld %lld", (long long)rows, (long long)cols);
    if (nnz >= 0)
        fprintf(file, " %lld", (long long)nnz);
    fputc('\n', file);
}

static void put_rows(FILE *file, int64_t first, const hybrid_csr *rows)
{
    for (int64_t i = 0; i < rows->rows; i++)
        for (int64_t k = hy_offset(rows, i); k < hy_offset(rows, i + 1); k++)
            fprintf(file, "%lld %lld %.17g\n", (long long)(first + i),
                    (long long)hy_col(rows, k),
                    rows->type == HYBRID_F64 ? ((const double *)rows->val)[k]
                                             : (double)((const float *)rows->val)[k]);
}

char *listed_text(const hybrid_csr *C, int with_count)
{
    size_t bytes;
    char *text = NULL;
    FILE *file = open_memstream(&text, &bytes);

    put_head(file, C->rows, C->cols, with_count ? C->nnz : -1);
    put_rows(file, 0, C);
    fclose(file);
    return text;
}

/* ---- the writer ---- */

static hybrid_status sparse(hy_file_writer *self, const hybrid_csr *rows)
{
    if (__atomic_fetch_sub(&listed_writes_left, 1, __ATOMIC_SEQ_CST) == 0)
        return hy_fail(self->ctx, HYBRID_IO_FAILED, "a write fails");
    put_rows(self->writer, self->rows, rows);
    self->rows += rows->rows;
    self->nnz += rows->nnz;
    self->bytes += rows->nnz;
    return HYBRID_OK;
}

static hybrid_status finish(hy_file_writer *self)
{
    const int complete = self->rows == self->shape.rows &&
                         (self->shape.nnz < 0 || self->nnz == self->shape.nnz);

    if (!complete)
        return hy_fail(self->ctx, HYBRID_BAD_STATE, "the rows are not those announced");
    fclose(self->writer);
    return HYBRID_OK;
}

static void abort_file(hy_file_writer *self)
{
    fclose(self->writer);
}

static const hy_file_writer_ops ops = {
    .sparse = sparse, .finish = finish, .abort = abort_file};

static hybrid_status create(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out)
{
    *out = (hy_file_writer){
        .ops = &ops, .ctx = ctx, .shape = *shape, .writer = fopen(path, "we")};
    if (!out->writer)
        return hy_fail(ctx, HYBRID_IO_FAILED, "the file cannot be created");
    put_head(out->writer, shape->rows, shape->cols, -1);
    return HYBRID_OK;
}

static hybrid_status create_counted(hy_context *ctx, const char *path,
                                    const hy_file_shape *shape, hy_file_writer *out)
{
    HY_TRY(create(ctx, path, shape, out));
    rewind(out->writer);
    put_head(out->writer, shape->rows, shape->cols, shape->nnz);
    return HYBRID_OK;
}

static int is_never(const hy_input *input)
{
    (void)input;
    return 0;
}

static const hy_file_format by_rows = {
    .name = "rows", .endings = ".rows", .is = is_never, .create = create};
static const hy_file_format counted = {.name      = "count",
                                       .endings   = ".count",
                                       .is        = is_never,
                                       .create    = create_counted,
                                       .nnz_first = 1};

const hy_file_format *const listed_formats[] = {&by_rows, &counted, &hy_format_npy,
                                                &hy_format_raw, NULL};
