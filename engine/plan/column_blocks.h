/* engine/plan/column_blocks.h - into which panels of columns an X on the device is cut. */
#ifndef HY_COLUMN_BLOCKS_H
#define HY_COLUMN_BLOCKS_H

#include "engine/plan/layout.h"

/* Returns as many panels as a test asks for, of an X that fits. Two are on the device at
   once. */
hy_image hy_column_blocks_forced(const hy_product *product);

/* The fewest panels of which two take no more than so many bytes of the device; whole:
   not even a narrow one fits. */
hy_image hy_column_blocks_within(const hy_product *product, size_t bytes);

/* Prepare a layout that has X whole for runs in panels too in which X and Y are pinned,
   should they be a gain, and A and X fit so. layout->if_pinned says. */
void hy_column_blocks_offer(const hy_product *product, hy_layout *layout);

/* Bits of a sum depend on the lanes that share a row, those on a panel's width: where
   they shall be the same in every run, panels are the same wherever Y lies. */
int hy_column_blocks_may_move(const hy_product *product);

#endif /* HY_COLUMN_BLOCKS_H */
