/* engine/plan/column_blocks.c - decides whether X is sent to the device in column blocks,
   and how wide they are. */
#include "engine/plan/column_blocks.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/rates/estimate.h"
#include "partition/pattern/chunks.h"
#include "pipeline/site/pack_cache.h"

enum {
    MOST_PINNED = 3,
    LEAST_ROW = HY_X_LINE, /* least bytes of a block's row in runs with pinned X and Y */
    LEAST_X   = 64 << 20,  /* an X that fits the device is cut if it has at least this
                              many bytes; a smaller X is sent too quickly */
    HALF_LINE = HY_LINE / 2, /* least bytes of a block's row if X does not fit the device;
                                used if whole cache lines are too wide */
    FORCED_ROW = 16
};

static int64_t value_size(const hy_portion *portion)
{
    return (int64_t)hy_value_size(portion->profile.type);
}

/* ---- widths ----------------------------------------------------------------------- */

/* Returns the unit, in bytes, to which rows of a block are rounded up: a cache line of
   the host, or of the device if the device copies from pinned memory. Tests may ask for a
   smaller unit, to cut a narrow X. */
static int64_t unit_of(const hy_portion *portion, int pinned)
{
    const hy_product *product = portion->product;
    const int forced          = hy_settings_of(product->engine)->column_blocks > 0;

    if (forced && product->b_cols * value_size(portion) < 2 * HY_LINE)
        return FORCED_ROW;
    return pinned ? HY_X_LINE : HY_LINE;
}

/* Returns the columns of a block if X is cut into `blocks` blocks and the rows of a block
   are multiples of `unit` bytes. */
static int64_t cols_of(const hy_portion *portion, int64_t blocks, int64_t unit)
{
    const int64_t row =
        (portion->product->b_cols * value_size(portion) + blocks - 1) / blocks;
    return (row + unit - 1) / unit * unit / value_size(portion);
}

/* Returns an image of X in blocks of `cols` columns, the last of which may have
   `last`. */
static hy_image in_blocks(const hy_portion *portion, int64_t cols, int64_t last)
{
    hy_image image = hy_portion_image(portion);

    image.axis  = HY_AXIS_COLS;
    image.block = image.pitch = cols;
    image.last                = last;
    return image;
}

/* Returns blocks of `cols` columns. In a run, blocks may begin earlier than planned, at
   cache lines of Y; the last block then becomes wider. So the number of blocks does not
   depend on the address of Y. */
static hy_image blocks_of(const hy_portion *portion, int64_t cols)
{
    hy_image p         = in_blocks(portion, cols, cols);
    const int64_t last = p.cols - hy_image_begin(&p, hy_image_col_blocks(&p) - 1);

    p.last = hy_max(last + hy_image_max_back(&p), cols);
    return p;
}

int hy_column_blocks_may_move(const hy_product *product)
{
    return !(product->options.flags & HYBRID_DETERMINISTIC);
}

/* Returns at most `blocks` blocks that are all on the device at once. */
static hy_image side_by_side(const hy_portion *portion, int64_t blocks, int pinned)
{
    hy_image p = blocks_of(portion, cols_of(portion, blocks, unit_of(portion, pinned)));

    p.held = hy_image_col_blocks(&p);
    return p;
}

/* Returns at most n blocks for pinned X and Y, or no blocks if their rows would be short
   or one block would hold all of X. */
static hy_image in_column_blocks(const hy_portion *portion, int64_t n)
{
    const hy_image p = side_by_side(portion, n, 1);

    return p.block * value_size(portion) < LEAST_ROW ||
                   p.block >= portion->product->b_cols
               ? (hy_image){.axis = HY_AXIS_NONE}
               : p;
}

static hy_image forced(const hy_portion *portion, int64_t n, int pinned)
{
    const hy_product *product = portion->product;
    const hy_image p          = side_by_side(portion, n, pinned);

    return p.block < product->b_cols && product->b_rows > 0
               ? p
               : (hy_image){.axis = HY_AXIS_NONE};
}

hy_image hy_column_blocks_forced(const hy_portion *portion)
{
    hy_image p =
        forced(portion, hy_settings_of(portion->product->engine)->column_blocks, 0);

    p.pitch = p.last;
    p.held  = 2;
    return p;
}

/* ---- X that does not fit ---------------------------------------------------------- */

/* The image has room for the additional columns of the last block, if blocks begin
   earlier than planned, at cache lines of Y. If memory is short for these columns, such a
   run has one more block. */
hy_image hy_column_blocks_within(const hy_portion *portion, size_t bytes)
{
    const hy_product *product = portion->product;
    const int64_t line        = unit_of(portion, 0) / value_size(portion);
    const int64_t half        = HALF_LINE / value_size(portion);
    const int64_t most        = product->b_rows > 0
                                    ? (int64_t)(bytes / 2 & ~(size_t)255) / 16 /
                                   product->b_rows * 16 / value_size(portion)
                                    : 0;
    const int all             = bytes >= hy_allowed(portion->rates.memory, HY_ALLOW);
    const int64_t unit        = most < line && all ? half : line;

    if (most < unit || most / unit * unit >= product->b_cols)
        return (hy_image){.axis = HY_AXIS_NONE};
    const int64_t full = most / unit * unit;
    const int64_t even =
        cols_of(portion, (product->b_cols + full - 1) / full, unit * value_size(portion));
    hy_image p = blocks_of(portion, even);
    if (p.last > most)
        p = in_blocks(portion, even, even);
    p.pitch = p.last;
    p.held  = 2;
    return p;
}

/* ---- X and Y pinned --------------------------------------------------------------- */

/* Returns the predicted seconds of a run with these blocks, for pinned X and Y. */
static double seconds_in(const hy_portion *portion, const hy_layout *layout,
                         const hy_image *blocks)
{
    hy_circumstances found = hy_circumstances_of(portion->product);
    hy_layout with         = *layout;

    found.pinned           = 1;
    found.in_column_blocks = 1;
    with.if_pinned         = *blocks;
    const hy_estimate e    = hy_estimate_device(portion, &with, &found);
    return hy_estimate_seconds(portion, &e);
}

static hy_image shortest_pinned(const hy_portion *portion, const hy_layout *layout)
{
    const hy_image whole = hy_portion_image(portion);
    hy_image best        = {.axis = HY_AXIS_NONE};
    const double whole_s = seconds_in(portion, layout, &whole);
    double least         = whole_s;

    for (int64_t n = 2; n <= MOST_PINNED; n++) {
        const hy_image p = in_column_blocks(portion, n);
        if (p.axis == HY_AXIS_NONE)
            continue;
        const double s = seconds_in(portion, layout, &p);
        if (s >= least)
            continue;
        least = s;
        best  = p;
    }
    return hy_is_sooner(least, whole_s) ? best : (hy_image){.axis = HY_AXIS_NONE};
}

static hy_image best_pinned(const hy_portion *portion, const hy_layout *layout)
{
    const int64_t n = hy_settings_of(portion->product->engine)->column_blocks;

    return n > 0 ? forced(portion, n, 1) : shortest_pinned(portion, layout);
}

/* Returns the room on the device that suits both X as a whole and these blocks. */
static size_t room_of(const hy_layout *whole, const hy_image *blocks)
{
    return hy_larger(hy_align(hy_image_room(blocks)), whole->image_room);
}

/* Chooses packs of A to be cached beside `x_bytes` of X. Returns 1 if all packs fit. */
static int caches_all(const hy_portion *portion, hy_layout *layout, size_t x_bytes)
{
    hy_layout_cache_beside(portion, x_bytes, layout);
    return portion->rates.memory > x_bytes && hy_layout_caches_all(layout);
}

/* Returns 1 if blocks may be faster than a whole X: X is large enough, and there are at
   least as many chunks as slots. Always 1 in tests that ask for blocks. */
static int may_gain(const hy_portion *portion, const hy_layout *layout)
{
    return hy_settings_of(portion->product->engine)->column_blocks > 0 ||
           (layout->count >= layout->depth && layout->image_room >= LEAST_X);
}

static int can_have(const hy_portion *portion, const hy_layout *layout)
{
    return portion->variant->rings && portion->backend->ops->copy_rows &&
           hy_column_blocks_may_move(portion->product) && layout->image_room > 0 &&
           layout->count > 0 &&
           hy_chunk_ranges(layout->chunks, layout->count) == layout->count;
}

/* Sets if_pinned and image_room to the column blocks with the shortest predicted run for
   pinned X and Y. Returns 1 if this run is sooner than with a whole X, and all packs of A
   fit beside it. Else returns 0, and the `cached` flags of the chunks are undefined. */
static int take_best(const hy_portion *portion, hy_layout *layout)
{
    if (!caches_all(portion, layout, layout->image_room))
        return 0;
    const hy_image blocks = best_pinned(portion, layout);
    const size_t room     = room_of(layout, &blocks);
    if (blocks.axis == HY_AXIS_NONE || !caches_all(portion, layout, room))
        return 0;
    layout->image_room = room;
    layout->if_pinned  = blocks;
    return 1;
}

void hy_column_blocks_offer(const hy_portion *portion, hy_layout *layout)
{
    if (!can_have(portion, layout) || !may_gain(portion, layout) ||
        take_best(portion, layout))
        return;
    for (int64_t i = 0; i < layout->count; i++)
        layout->chunks[i].cached = 0;
}
