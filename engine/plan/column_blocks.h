/* engine/plan/column_blocks.h - decides whether X is sent to the device in column blocks,
   and how wide they are. */
#ifndef HY_COLUMN_BLOCKS_H
#define HY_COLUMN_BLOCKS_H

#include "engine/plan/layout.h"

/* Returns the image of an X that would fit the device, in about hy_settings.column_blocks
   column blocks. Only tests ask for this. Two blocks are on the device at once. */
hy_image hy_column_blocks_forced(const hy_portion *portion);

/* Returns the image of X in the fewest column blocks of which two fit in `bytes` of
   device memory. Its axis is HY_AXIS_NONE if even narrow blocks do not fit, or if one
   block would hold all columns. */
hy_image hy_column_blocks_within(const hy_portion *portion, size_t bytes);

/* Decides whether runs with pinned X and Y receive X in column blocks. They do if blocks
   are predicted to be faster than a whole X, and the packs of all of A fit beside X. Then
   sets layout->if_pinned and layout->image_room, and marks all packs as cached. The
   layout keeps its whole X for other runs. */
void hy_column_blocks_offer(const hy_portion *portion, hy_layout *layout);

/* Returns 1 if the column blocks of a run may begin at other columns than planned, so
   that they begin at cache lines of Y. Returns 0 if every run must have the same bits
   (HYBRID_DETERMINISTIC), since the order of a sum depends on the width of its block. */
int hy_column_blocks_may_move(const hy_product *product);

#endif /* HY_COLUMN_BLOCKS_H */
