/* tests/fuzz/fuzz_npy.c - the .npy reader survives any bytes.

   With HYBRID_LIBFUZZER this is a target of libFuzzer (tests/fuzz/libfuzzer.sh runs it).
   Otherwise it is a program that mutates the files of tests/data in the same way on every
   run. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory/results.h"
#include "io/text/io.h"
#include "tests/support/engines/io_fixture.h"
#include "tests/support/files/read_whole.h"

static hy_context *ctx;

/* Reads every value of X, so that a sanitizer notices values beyond the file's `bytes`
   bytes. */
static void check_values(const hybrid_dense *X, size_t bytes)
{
    const int64_t count = X->rows * X->cols;
    volatile float sum  = 0;

    io_must(ctx, X->rows >= 0 && X->cols >= 0 && (size_t)count <= bytes,
            "more values than bytes");
    for (int64_t i = 0; i < count; i++)
        sum = sum + ((const float *)X->data)[i];
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    hybrid_dense X = {.rows = -1};

    if (!ctx) {
        ctx                   = io_open(2);
        ctx->memory.meter.cap = 64 << 20;
    }
    const hybrid_status status =
        hy_read_dense_memory(ctx, "fuzz", data, bytes, HYBRID_F32, &X);
    if (status == HYBRID_OK) {
        check_values(&X, bytes);
        hy_results_release(ctx, X.data);
    } else {
        io_must(ctx, status == HYBRID_BAD_FILE || status == HYBRID_NO_MEMORY,
                "unexpected status");
        io_must(ctx, ctx->message.text[0] != 0 && X.rows == -1,
                "no sentence, or a touched result");
        hy_message_clear(&ctx->message);
    }
    read_whole(ctx, &hy_format_npy, data, bytes);
    return 0;
}

#ifndef HYBRID_LIBFUZZER
int main(int argc, char **argv)
{
    io_mutate(".npy", argc > 1 ? atoi(argv[1]) : 500, LLVMFuzzerTestOneInput);
    io_close(ctx);
    return 0;
}
#endif
