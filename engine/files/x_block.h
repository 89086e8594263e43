/* engine/files/x_block.h - panels of columns of an X that is not in memory, for the host,
   which computes in place. One of them is in memory at a time. */
#ifndef HY_X_BLOCK_H
#define HY_X_BLOCK_H

#include "base/contract/image.h"
#include "base/contract/source.h"

typedef struct hy_x_block {
    const hy_source *source; /* borrowed */
    hybrid_dense X;          /* columns [begin, end) of the source's, in its order */
    int64_t begin, end;
    int64_t width; /* most columns */
} hy_x_block;

/* Room for panels as wide as half of the host memory that is left, of one column at least.
   On failure too to be closed. */
hybrid_status hy_x_block_open(const hy_source *source, hy_x_block *out);
void hy_x_block_close(hy_x_block *panel);

/* Load the columns that follow, there are some. What it took goes to the report. */
hybrid_status hy_x_block_next(hy_x_block *panel, hybrid_report *report);

/* The same columns of Y, and one block of so many, for chunks of them. */
hybrid_dense hy_x_block_of_y(const hy_x_block *panel, const hybrid_dense *Y);
hy_image hy_x_block_image(const hy_x_block *panel);

#endif /* HY_X_BLOCK_H */
