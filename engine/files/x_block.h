/* engine/files/x_block.h - reads column blocks of an X that is not in memory, for the
   host, which computes in place. One block is in memory at a time. */
#ifndef HY_X_BLOCK_H
#define HY_X_BLOCK_H

#include "base/contract/image.h"
#include "base/contract/source.h"

typedef struct hy_x_block {
    const hy_source *source; /* source of X, which the caller owns */
    hybrid_dense X;          /* columns [begin, end) of X, in the order (row- or
                                column-major) of the source */
    int64_t begin, end;
    int64_t width; /* maximum number of columns of a block */
} hy_x_block;

/* hy_x_block_open() allocates a block as wide as half of free host memory allows, but at
   least one column. hy_x_block_close() must be called even if this fails. */
hybrid_status hy_x_block_open(const hy_source *source, hy_x_block *out);
void hy_x_block_close(hy_x_block *block);

/* Reads the next columns. At least one must remain. Adds time and bytes to the report. */
hybrid_status hy_x_block_next(hy_x_block *block, hybrid_report *report);

/* hy_x_block_of_y() returns the columns of Y that correspond to the block.
   hy_x_block_image() returns an image with one column block of the block's width, for
   cutting chunks. */
hybrid_dense hy_x_block_of_y(const hy_x_block *block, const hybrid_dense *Y);
hy_image hy_x_block_image(const hy_x_block *block);

#endif /* HY_X_BLOCK_H */
