/* tests/fuzz/fuzz_tsv.c - the reader of lists of edges survives any text.

   With HYBRID_LIBFUZZER this is a target of libFuzzer (tests/fuzz/libfuzzer.sh runs it).
   Otherwise it is a program that mutates the files of tests/data in the same way on every
   run. */
#include <stdlib.h>

#include "io/mtx/mtx.h"
#include "tests/support/files/read_whole.h"
#include "tests/support/engines/io_fixture.h"

static hy_context *ctx;

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    if (!ctx)
        ctx = io_open(2);
    io_sizes.lines_block = 16;
    read_whole(ctx, &hy_format_list, data, bytes);
    return 0;
}

#ifndef HYBRID_LIBFUZZER
int main(int argc, char **argv)
{
    io_mutate(".tsv", argc > 1 ? atoi(argv[1]) : 300, LLVMFuzzerTestOneInput);
    io_close(ctx);
    return 0;
}
#endif
