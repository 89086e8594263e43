/* tests/fuzz/fuzz_petsc.c - the reader of PETSc's files survives any bytes.

   With HYBRID_LIBFUZZER this is a target of libFuzzer (tests/fuzz/libfuzzer.sh runs it).
   Otherwise it is a program that mutates the files of tests/data in the same way on every
   run. */
#include <stdlib.h>

#include "tests/support/files/read_whole.h"
#include "tests/support/engines/io_fixture.h"

static hy_context *ctx;

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    if (!ctx)
        ctx = io_open(2);
    read_whole(ctx, &hy_format_petsc, data, bytes);
    return 0;
}

#ifndef HYBRID_LIBFUZZER
int main(int argc, char **argv)
{
    io_mutate(".petsc", argc > 1 ? atoi(argv[1]) : 200, LLVMFuzzerTestOneInput);
    io_close(ctx);
    return 0;
}
#endif
