/* io/arrays/npy_write.c - writes a dense matrix, in its own order, as NumPy .npy 1.0. */
#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "io/arrays/npy.h"

/* Writes 10 bytes of preamble, the dictionary, spaces and a newline. */
void hy_npy_make_header(const char *descr, hybrid_order order, int64_t rows, int64_t cols,
                        char out[HY_NPY_HEADER_BYTES])
{
    const size_t dictionary = HY_NPY_HEADER_BYTES - 10;
    char shape[48]          = "";

    if (cols >= 0)
        snprintf(shape, sizeof shape, "%lld, %lld", (long long)rows, (long long)cols);
    else if (rows >= 0)
        snprintf(shape, sizeof shape, "%lld,", (long long)rows);
    memset(out, ' ', HY_NPY_HEADER_BYTES);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8]                       = (char)dictionary;
    out[9]                       = 0;
    const int n                  = snprintf(out + 10, dictionary,
                                            "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr,
                           order == HYBRID_COL_MAJOR ? "True" : "False", shape);
    out[10 + n]                  = ' ';
    out[HY_NPY_HEADER_BYTES - 1] = '\n';
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
    char header[HY_NPY_HEADER_BYTES];
    hy_output output;

    hy_npy_make_header(hy_value_type_of(X->type)->npy_name, X->order, X->rows, X->cols,
                       header);
    hy_progress_begin_file(&ctx->progress,
                           HY_NPY_HEADER_BYTES +
                               X->rows * X->cols * (int64_t)hy_value_size(X->type));
    HY_TRY(hy_output_open(ctx, path, &output));
    hybrid_status status = hy_output_write(ctx, &output, header, sizeof header);
    if (status == HYBRID_OK)
        status = write_data(ctx, X, &output);
    return hy_output_finish(ctx, &output, status);
}
