/* io/text/io_sizes.c - the sizes that every engine outside tests uses. */
#include "io/text/io_sizes.h"

const hy_io_sizes hy_usual_io_sizes = {.window        = (size_t)16 << 20,
                                       .lines_block   = (size_t)1 << 17,
                                       .bucket        = 1 << 15,
                                       .merge_block   = 4096,
                                       .records_piece = 1 << 16,
                                       .spill_most    = INT64_MAX};

const hy_io_sizes *hy_io_sizes_of(const hy_context *ctx)
{
    return ctx->io_sizes ? ctx->io_sizes : &hy_usual_io_sizes;
}
