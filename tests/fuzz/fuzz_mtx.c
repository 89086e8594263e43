/* tests/fuzz/fuzz_mtx.c - the Matrix Market reader survives any text.

   With HYBRID_LIBFUZZER this is a target of libFuzzer (tests/fuzz/libfuzzer.sh runs it).
   Otherwise it is a program that mutates the files of tests/data in the same way on every
   run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/memory/results.h"
#include "io/text/io.h"
#include "io/mtx/mtx.h"
#include "tests/support/files/read_whole.h"
#include "tests/support/engines/io_fixture.h"

enum { CAP = 16 << 20 };

static hy_context *ctx;

static void check_status(hybrid_status status)
{
    io_must(ctx,
            status == HYBRID_BAD_FILE || status == HYBRID_NO_MEMORY ||
                (status == HYBRID_UNSUPPORTED && !HYBRID_WITH_ZSTD),
            "unexpected status");
    io_must(ctx, ctx->message.text[0] != 0, "no sentence");
    hy_message_clear(&ctx->message);
}

static void open_context(void)
{
    ctx                   = io_open(2);
    ctx->memory.meter.cap = CAP; /* bytes; limits the number of empty rows that a
                                         file announces, which take time too */
    io_sizes.lines_block = 16;
    io_sizes.bucket      = 2;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    const hybrid_type type = bytes % 2 ? HYBRID_F32 : HYBRID_F64;
    hybrid_csr A           = {.rows = -1};
    hybrid_dense X         = {.rows = -1};

    if (!ctx)
        open_context();
    const hybrid_status sparse = hy_read_mtx_memory(ctx, "fuzz", data, bytes, type, &A);
    if (sparse == HYBRID_OK) {
        io_must(ctx, hy_csr_check(ctx, &A, "A") == HYBRID_OK,
                "a matrix that breaks the rules");
        hy_csr_free(ctx, &A);
    } else {
        io_must(ctx, A.rows == -1, "a failed call touched its result");
        check_status(sparse);
    }
    const hybrid_status dense = hy_read_dense_memory(ctx, "fuzz", data, bytes, type, &X);
    if (dense == HYBRID_OK) {
        io_must(ctx, X.rows >= 0 && X.cols >= 0 && X.type == type,
                "a dense matrix that is none");
        hy_results_release(ctx, X.data);
    } else {
        io_must(ctx, X.rows == -1, "a failed call touched its result");
        check_status(dense);
    }
    io_must(ctx, sparse != HYBRID_OK || dense != HYBRID_OK, "both sparse and dense");
    read_whole(ctx, &hy_format_mtx, data, bytes);
    ctx->memory.meter.cap = CAP;
    return 0;
}

#ifndef HYBRID_LIBFUZZER
int main(int argc, char **argv)
{
    io_mutate(".mtx", argc > 1 ? atoi(argv[1]) : 300, LLVMFuzzerTestOneInput);
    io_close(ctx);
    return 0;
}
#endif
