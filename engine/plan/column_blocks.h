/* engine/plan/column_blocks.h - cuts an X on the device into column blocks. */
#ifndef HY_COLUMN_BLOCKS_H
#define HY_COLUMN_BLOCKS_H

#include "engine/plan/layout.h"

/* Returns as many blocks as a test asks for, for an X that fits. Two are on the device at
   once. */
hy_image hy_column_blocks_forced(const hy_product *product);

/* Returns the fewest blocks of which two fit in `bytes` of device memory; the image is
   whole if even narrow blocks do not fit. */
hy_image hy_column_blocks_within(const hy_product *product, size_t bytes);

/* Prepares a layout with a whole X for runs in column blocks as well, if X and Y are
   pinned, the blocks are a gain, and A and X fit. Sets layout->if_pinned. */
void hy_column_blocks_offer(const hy_product *product, hy_layout *layout);

/* Returns 1 if blocks may be moved to cache lines of Y. They must not if every run must
   have the same bits, since the order of a sum depends on the width of its block. */
int hy_column_blocks_may_move(const hy_product *product);

#endif /* HY_COLUMN_BLOCKS_H */
