/* tests/formats/copy_matrix.c - copies a matrix from a file of any format to another.

   Each line of the standard input is a job: IN OUT ROWS [i64] [col] [nnz], separated by
   tabs. For each job, a line with the status and the message of the library is written.

   Rows are copied ROWS at a time. i64: the file has indices of 64 bits if its format has
   a choice. col: a dense matrix is written in columns. nnz: the number of entries is told
   even if the format does not need it. formats.py compares the files with those of the
   packages that own the formats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract/image.h"
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "io/formats/file_format.h"
#include "partition/move/sources.h"
#include "tests/support/engines/io_fixture.h"

static hy_context *ctx;

static void *get(size_t bytes)
{
    void *memory = malloc(bytes + 1);

    io_must(ctx, memory != NULL, "no memory");
    return memory;
}

/* Memory for the rows that are copied at a time. */
typedef struct buffers {
    int64_t *offset;
    char *col, *val;
} buffers;

static void free_buffers(buffers *b)
{
    free(b->offset);
    free(b->col);
    free(b->val);
}

static hybrid_status copy_sparse(const hy_matrix_file *file, int64_t begin, int64_t end,
                                 buffers *b, hy_file_writer *writer)
{
    const hy_source source = hy_source_csr_file(file);
    hybrid_csr rows        = file->csr;

    b->offset = get((size_t)(end - begin + 1) * 8);
    HY_TRY(hy_source_array(&source, HY_CSR_OFFSETS, begin, end - begin + 1, b->offset));
    const int64_t first = b->offset[0], nnz = b->offset[end - begin] - first;
    for (int64_t i = 0; i <= end - begin; i++)
        b->offset[i] -= first;
    rows.rows        = end - begin;
    rows.nnz         = nnz;
    rows.offset_type = HYBRID_I64;
    rows.row_ptr     = b->offset;
    rows.col = b->col = get((size_t)nnz * 4);
    rows.val = b->val = get((size_t)nnz * 8);
    HY_TRY(hy_source_array(&source, HY_CSR_COLS, first, nnz, rows.col));
    HY_TRY(hy_source_array(&source, HY_CSR_VALUES, first, nnz, rows.val));
    HY_TRY(hy_csr_check(ctx, &rows, file->name));
    return writer->ops->sparse(writer, &rows);
}

static hybrid_status copy_dense(const hy_matrix_file *file, int64_t begin, int64_t end,
                                buffers *b, hy_file_writer *writer)
{
    const hy_source source = hy_source_file(file);
    hybrid_dense rows      = file->dense;
    const int in_rows      = rows.order == HYBRID_ROW_MAJOR;

    rows.rows = end - begin;
    rows.ld   = in_rows ? rows.cols : rows.rows;
    rows.data = b->val = get((size_t)(rows.rows * rows.cols) * 8);
    const hy_rect rect = {begin, end - begin, 0, rows.cols};
    const hy_grid to   = {rows.data, in_rows ? rows.ld : 1, in_rows ? 1 : rows.ld};
    HY_TRY(source.ops->fill(&source, &rect, &to));
    return writer->ops->dense(writer, &rows);
}

static hybrid_status copy_rows(const hy_matrix_file *file, int64_t step,
                               hy_file_writer *writer)
{
    const int64_t rows   = writer->shape.rows;
    hybrid_status status = HYBRID_OK;

    for (int64_t row = 0; row < rows && status == HYBRID_OK; row += step) {
        buffers b = {NULL, NULL, NULL};
        status    = (file->sparse ? copy_sparse : copy_dense)(
            file, row, hy_min(rows, row + step), &b, writer);
        free_buffers(&b);
    }
    return status == HYBRID_OK ? writer->ops->finish(writer) : status;
}

static hy_file_shape shape_of(const hy_matrix_file *file, const char *words)
{
    const hybrid_index index = strstr(words, "i64") ? HYBRID_I64 : HYBRID_I32;

    return (hy_file_shape){.sparse  = file->sparse,
                           .rows    = file->csr.rows + file->dense.rows,
                           .cols    = file->csr.cols + file->dense.cols,
                           .nnz     = file->csr.nnz,
                           .type    = file->sparse ? file->csr.type : file->dense.type,
                           .offsets = index,
                           .columns = index,
                           .order   = strstr(words, "col") ? HYBRID_COL_MAJOR
                                                           : HYBRID_ROW_MAJOR};
}

static hybrid_status copy(const hy_matrix_file *file, const char *out, const char *words)
{
    const hy_file_format *format = hy_format_of_name(hy_file_formats, out);
    hy_file_shape shape          = shape_of(file, words);
    hy_file_writer writer;

    io_must(ctx, format && format->create, "no format writes such a file");
    if (!format->nnz_first && !strstr(words, "nnz"))
        shape.nnz = -1;
    HY_TRY(format->create(ctx, out, &shape, &writer));
    const hybrid_status status = copy_rows(file, atoll(words), &writer);
    if (writer.ops)
        writer.ops->abort(&writer);
    return status;
}

static hybrid_status run(char *job)
{
    char *in = strtok(job, "\t"), *out = strtok(NULL, "\t"), *words = strtok(NULL, "\n");
    hy_matrix_file file;

    io_must(ctx, in && out && words && atoll(words) > 0, "a bad job");
    HY_TRY(hy_matrix_file_open(ctx, hy_file_formats, in, &file));
    const hybrid_status status = copy(&file, out, words);
    hy_matrix_file_close(&file);
    return status;
}

int main(void)
{
    char job[8192];

    ctx = io_open(2);
    while (fgets(job, sizeof job, stdin)) {
        const int status = (int)run(job);
        printf("%d %s\n", status, ctx->message.text);
        fflush(stdout);
        hy_message_clear(&ctx->message);
    }
    io_close(ctx);
    return 0;
}
