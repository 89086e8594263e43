/* engine/schedules/column_blocks.h - images of X in column blocks. */
#ifndef HY_COLUMN_BLOCKS_H
#define HY_COLUMN_BLOCKS_H

#include "engine/plan/layout.h"

/* Returns the unit, in bytes, to which rows of a block are rounded up: a cache line of
   the host, or of the device if the device copies from pinned memory. */
int64_t hy_column_blocks_unit(const hy_portion *portion, int pinned);

/* Returns the columns of a block if X is cut into `blocks` blocks and the rows of a block
   are multiples of `unit` bytes. */
int64_t hy_column_blocks_cols(const hy_portion *portion, int64_t blocks, int64_t unit);

/* Return X in blocks of `cols` columns. Movable blocks may begin earlier in a run than
   planned, at cache lines of Y; the last block then becomes wider. So the number of
   blocks does not depend on the address of Y. */
hy_image hy_column_blocks_fixed(const hy_portion *portion, int64_t cols);
hy_image hy_column_blocks_movable(const hy_portion *portion, int64_t cols);

/* Returns X in at most `blocks` movable blocks that are all on the device at once. The
   axis is HY_AXIS_NONE if one block would hold all columns. */
hy_image hy_column_blocks_beside(const hy_portion *portion, int64_t blocks, int pinned);

/* Returns X in the column blocks of a run whose X and Y are pinned. layout->pinned_blocks
   must not be 0. */
hy_image hy_column_blocks_pinned(const hy_portion *portion, const hy_layout *layout);

/* Returns 1 if the column blocks of a run may begin at other columns than planned, so
   that they begin at cache lines of Y. Returns 0 if every run must have the same bits
   (HYBRID_DETERMINISTIC), since the order of a sum depends on the width of its block. */
int hy_column_blocks_may_move(const hy_product *product);

#endif /* HY_COLUMN_BLOCKS_H */
