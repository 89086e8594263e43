/* partition/format/bricks.h - packs one row panel of 16 rows into blocks of four bricks,
   which are 16 x 4 elements (pack.h). */
#ifndef HY_BRICKS_H
#define HY_BRICKS_H

#include "partition/format/pack.h"
#include "partition/format/panel.h"
#include "partition/pattern/touched.h"
#include "partition/format/ring.h"

typedef struct hy_brick_panel {
    const hybrid_csr *A;
    int64_t row, rows;         /* row: first row of the panel in A; rows: their number */
    const hy_touched *touched; /* if touched->rows is set: the rows of X in the pack,
                                  whose numbers replace columns */
    const hy_ring *ring;         /* if ring->rows > 0: the ring of rows of X, whose places
                                    replace columns */
} hy_brick_panel;

typedef struct hy_brick_work {
    hy_panel_map map;
    /* for each brick of the panel, the index in `val` of its next value */
    int32_t next[HY_MAP_WORDS * 64 / HY_HRPB_BRICK];
} hy_brick_work;

/* Returns the number of columns in which the panel has entries. Sets work->map if the
   columns are near each other. */
int64_t hy_brick_columns(const hy_brick_panel *panel, hy_brick_work *work);

/* Sets the panel's `blocks` blocks at `block`, and its values from index `first` of `val`
   on. hy_brick_columns() must have been called with the same panel and `work`. */
void hy_brick_pack(const hy_brick_panel *panel, int64_t blocks, int64_t first,
                   hy_brick_work *work, hy_hrpb_block *block, void *val);

#endif /* HY_BRICKS_H */
