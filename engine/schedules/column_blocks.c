/* engine/schedules/column_blocks.c - images of X in column blocks. */
#include "engine/schedules/column_blocks.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"

/* unit, in bytes, to which a block's row is rounded up in tests that cut a narrow X */
enum { FORCED_ROW = 16 };

static int64_t value_size(const hy_portion *portion)
{
    return (int64_t)hy_value_size(portion->profile.type);
}

/* ---- widths ----------------------------------------------------------------------- */

/* Returns what column_blocks.h says; tests may ask for a smaller unit, to cut a narrow
   X. */
int64_t hy_column_blocks_unit(const hy_portion *portion, int pinned)
{
    const hy_product *product = portion->product;
    const int forced          = hy_settings_of(product->engine)->column_blocks > 0;

    if (forced && product->b_cols * value_size(portion) < 2 * HY_LINE)
        return FORCED_ROW;
    return pinned ? HY_X_LINE : HY_LINE;
}

int64_t hy_column_blocks_cols(const hy_portion *portion, int64_t blocks, int64_t unit)
{
    const int64_t row =
        (portion->product->b_cols * value_size(portion) + blocks - 1) / blocks;
    return (row + unit - 1) / unit * unit / value_size(portion);
}

hy_image hy_column_blocks_fixed(const hy_portion *portion, int64_t cols)
{
    hy_image image = hy_portion_image(portion);

    image.axis  = HY_AXIS_COLS;
    image.block = image.pitch = image.last = cols;
    return image;
}

hy_image hy_column_blocks_movable(const hy_portion *portion, int64_t cols)
{
    hy_image p         = hy_column_blocks_fixed(portion, cols);
    const int64_t last = p.cols - hy_image_begin(&p, hy_image_col_blocks(&p) - 1);

    p.last = hy_max(last + hy_image_max_back(&p), cols);
    return p;
}

hy_image hy_column_blocks_beside(const hy_portion *portion, int64_t blocks, int pinned)
{
    const hy_product *product = portion->product;
    const int64_t unit        = hy_column_blocks_unit(portion, pinned);
    const int64_t cols        = hy_column_blocks_cols(portion, blocks, unit);
    hy_image p                = hy_column_blocks_movable(portion, cols);

    p.held = hy_image_col_blocks(&p);
    return p.block < product->b_cols && product->b_rows > 0
               ? p
               : (hy_image){.axis = HY_AXIS_NONE};
}

hy_image hy_column_blocks_pinned(const hy_portion *portion, const hy_layout *layout)
{
    return hy_column_blocks_beside(portion, layout->pinned_blocks, 1);
}

int hy_column_blocks_may_move(const hy_product *product)
{
    return !(product->options.flags & HYBRID_DETERMINISTIC);
}
