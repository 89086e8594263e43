/* io/arrays/npy_write.c - writes a dense matrix, in its own order, as NumPy .npy 1.0. */
#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "io/text/io.h"

/* bytes of the header; data must begin at a multiple of 64 */
enum { HEADER_BYTES = 128 };

/* Writes 10 bytes of preamble, the dictionary, spaces and a newline. */
static void make_header(const hybrid_dense *X, char *out)
{
    const size_t dictionary = HEADER_BYTES - 10;

    memset(out, ' ', HEADER_BYTES);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8]      = (char)dictionary;
    out[9]      = 0;
    const int n = snprintf(
        out + 10, dictionary,
        "{'descr': '<f%d', 'fortran_order': %s, 'shape': (%lld, %lld), }",
        X->type == HYBRID_F64 ? 8 : 4, X->order == HYBRID_COL_MAJOR ? "True" : "False",
        (long long)X->rows, (long long)X->cols);
    out[10 + n]           = ' ';
    out[HEADER_BYTES - 1] = '\n';
}

static hybrid_status write_data(hy_context *ctx, const hybrid_dense *X, hy_output *output)
{
    const int by_row    = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines = by_row ? X->rows : X->cols, length = by_row ? X->cols : X->rows;
    const size_t size = hy_value_size(X->type), bytes = (size_t)length * size;
    const char *data = X->data;

    if (bytes == 0)
        return HYBRID_OK;
    if (X->ld == length)
        return hy_output_write(ctx, output, data, (size_t)lines * bytes);
    for (int64_t i = 0; i < lines; i++)
        HY_TRY(hy_output_write(ctx, output, data + (size_t)(i * X->ld) * size, bytes));
    return HYBRID_OK;
}

hybrid_status hy_write_npy(hy_context *ctx, const char *path, const hybrid_dense *X)
{
    char header[HEADER_BYTES];
    hy_output output;

    make_header(X, header);
    hy_progress_begin_file(&ctx->progress,
                           HEADER_BYTES +
                               X->rows * X->cols * (int64_t)hy_value_size(X->type));
    HY_TRY(hy_output_open(ctx, path, &output));
    hybrid_status status = hy_output_write(ctx, &output, header, sizeof header);
    if (status == HYBRID_OK)
        status = write_data(ctx, X, &output);
    return hy_output_finish(ctx, &output, status);
}
