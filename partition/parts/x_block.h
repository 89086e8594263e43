/* partition/parts/x_block.h - column blocks of an X, for the host, which computes in
   place.

   An X in memory is one block. From a file, one block after the other is read, and one is
   in memory at a time. */
#ifndef HY_X_BLOCK_H
#define HY_X_BLOCK_H

#include "base/contract/image.h"
#include "base/contract/source.h"

typedef struct hy_x_block {
    const hy_source *source; /* source of X, which the caller owns */
    int64_t bytes;           /* maximum bytes of a block that is read from a file */
    hybrid_dense X;          /* columns [begin, end) of X, in the order (row- or
                                column-major) of the source */
    int64_t begin, end;
    hy_reused own; /* memory of a block that is read; reused for the next block */
} hy_x_block;

/* hy_x_block_open() prepares reading, but reads nothing. */
void hy_x_block_open(const hy_source *source, int64_t bytes, hy_x_block *out);
void hy_x_block_close(hy_x_block *block);

/* Moves the block to the columns after its end: to all of them if X is in memory or fits
   into block->bytes, to none if not a single column fits. Reading adds its time and bytes
   to the report. */
static inline hybrid_status hy_x_block_next(hy_x_block *block, hybrid_report *report)
{
    return block->source->ops->next_block(block, report);
}

/* Does what hy_x_block_next() does, for an X in a file. */
hybrid_status hy_x_block_read(hy_x_block *block, hybrid_report *report);

/* Returns 1 if hy_x_block_next() gives all of X at once, without reading a file or making
   a copy. */
int hy_x_is_at_hand(const hy_source *source);

/* hy_x_block_of_y() returns the columns of Y with the numbers of the block's columns.
   hy_x_block_image() returns an image with a single column block, the columns of the
   block; it is used to cut chunks. */
hybrid_dense hy_x_block_of_y(const hy_x_block *block, const hybrid_dense *Y);
hy_image hy_x_block_image(const hy_x_block *block);

#endif /* HY_X_BLOCK_H */
