/* io/mtx/mtx_write.c - writes a sparse matrix as a Matrix Market coordinate file: at
   once, or row by row. */
#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "io/mtx/mtx_text.h"
#include "io/text/io.h"

size_t hy_mtx_head(char to[HY_MTX_HEAD_BYTES], const hy_encoder *encoder, int64_t rows,
                   int64_t cols, int64_t nnz, int is_padded)
{
    char text[HY_MTX_HEAD_BYTES];
    const size_t bytes = (size_t)snprintf(
        text, sizeof text,
        "%%%%MatrixMarket matrix coordinate real general\n"
        "%lld %lld %-*lld\n",
        (long long)rows, (long long)cols, is_padded ? 19 : 1, (long long)nnz);

    if (encoder)
        return encoder->store(text, bytes, to);
    memcpy(to, text, bytes);
    return bytes;
}

typedef struct target {
    hy_context *ctx;
    hy_output output;
} target;

static hybrid_status put(void *arg, const char *text, size_t bytes)
{
    target *t = arg;

    return hy_output_write(t->ctx, &t->output, text, bytes);
}

static hybrid_status write_entries(target *t, const hybrid_csr *A,
                                   const hy_encoder *encoder, int64_t bytes)
{
    hy_mtx_text *text;

    HY_TRY(hy_mtx_text_open(t->ctx, encoder, put, t, &text));
    const hybrid_status status = hy_mtx_text_put(text, A, 0, bytes);
    hy_mtx_text_close(text);
    return status;
}

hybrid_status hy_write_mtx(hy_context *ctx, const char *path, const hybrid_csr *A)
{
    char head[HY_MTX_HEAD_BYTES];
    const hy_encoder *encoder;
    target t = {.ctx = ctx};

    HY_TRY(hy_csr_check_header(ctx, A, "A"));
    HY_TRY(hy_encoder_of_name(ctx, path, &encoder));
    const size_t length = hy_mtx_head(head, encoder, A->rows, A->cols, A->nnz, 0);
    hy_progress_begin_file(&ctx->progress, (int64_t)length);
    HY_TRY(hy_output_open(ctx, path, &t.output));
    hybrid_status status = hy_output_write(ctx, &t.output, head, length);
    if (status == HYBRID_OK)
        status = write_entries(&t, A, encoder, (int64_t)length);
    return hy_output_finish(ctx, &t.output, status);
}
