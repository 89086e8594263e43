/* engine/plan/column_blocks.h - into which panels of columns an X on the device is cut. */
#ifndef HY_COLUMN_BLOCKS_H
#define HY_COLUMN_BLOCKS_H

#include "engine/plan/layout.h"

enum { HY_COLUMN_BLOCKS = 4 /* of an X that fits and is not pinned, at most */ };

/* In so many panels or fewer, all of them on the device at once; whole if they would be
   too narrow, or X is there soon. The second: as many as a test names, whatever X is. */
hy_image hy_column_blocks_side_by_side(const hy_product *product, int64_t n);
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
