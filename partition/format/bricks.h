/* partition/format/bricks.h - one panel of 16 rows, cut into blocks of four bricks. */
#ifndef HY_BRICKS_H
#define HY_BRICKS_H

#include "partition/format/pack.h"
#include "partition/format/panel.h"
#include "partition/pattern/touched.h"
#include "partition/format/ring.h"

typedef struct hy_brick_panel {
    const hybrid_csr *A;
    int64_t row, rows;         /* of A */
    const hy_touched *touched; /* numbers of columns, if it has any, */
    const hy_ring *ring;         /* or their places, if it has rows */
} hy_brick_panel;

/* Scratch of one thread. */
typedef struct hy_brick_work {
    hy_panel_map map;
    int32_t next[HY_MAP_WORDS * 64 / HY_HRPB_BRICK]; /* value of each brick */
} hy_brick_work;

/* Columns that have entries. */
int64_t hy_brick_columns(const hy_brick_panel *panel, hy_brick_work *work);

/* Fill the panel's blocks, and its values from val[first] on. */
void hy_brick_pack(const hy_brick_panel *panel, int64_t blocks, int64_t first,
                   hy_brick_work *work, hy_hrpb_block *block, void *val);

#endif /* HY_BRICKS_H */
