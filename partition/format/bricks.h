/* partition/format/bricks.h - packs one row panel of 16 rows into blocks of four
   bricks. */
#ifndef HY_BRICKS_H
#define HY_BRICKS_H

#include "partition/format/pack.h"
#include "partition/format/panel.h"
#include "partition/pattern/touched.h"
#include "partition/format/ring.h"

typedef struct hy_brick_panel {
    const hybrid_csr *A;
    int64_t row, rows;         /* rows of A in the panel */
    const hy_touched *touched; /* new numbers of columns if touched->rows is set */
    const hy_ring *ring;         /* places of columns in a ring if ring->rows > 0 */
} hy_brick_panel;

typedef struct hy_brick_work {
    hy_panel_map map;
    /* The position of the next value of each brick. */
    int32_t next[HY_MAP_WORDS * 64 / HY_HRPB_BRICK];
} hy_brick_work;

/* Returns the number of columns in which the panel has entries. */
int64_t hy_brick_columns(const hy_brick_panel *panel, hy_brick_work *work);

/* Fills the panel's `blocks` blocks, and its values from val[first] on. */
void hy_brick_pack(const hy_brick_panel *panel, int64_t blocks, int64_t first,
                   hy_brick_work *work, hy_hrpb_block *block, void *val);

#endif /* HY_BRICKS_H */
