/* engine/schedules/schedule_column_ring.c - X passes through the device in column blocks,
   two of which the device holds at once.

   This schedule serves an X that does not fit the device. Packs of A that fit are cached;
   the others are sent again with each column block. X is sent once, whereas gathering
   sends a row of X with every chunk that touches it. */
#include <math.h>

#include "base/data/csr.h"
#include "engine/plan/grain.h"
#include "engine/schedules/column_blocks.h"
#include "engine/schedules/schedule.h"

enum {
    HALF_LINE = HY_LINE / 2 /* minimum bytes of a block's row, used if two blocks with
                               rows of a cache line do not fit the device */
};

/* ---- widths of blocks -------------------------------------------------------------- */

/* Returns the image of X in the fewest column blocks of which two fit in `bytes` of
   device memory. Its axis is HY_AXIS_NONE if even narrow blocks do not fit, or if one
   block would hold all columns.

   The image has room for the additional columns of the last block, if blocks begin
   earlier than planned, at cache lines of Y. If memory is short for these columns, such a
   run has one more block. */
static hy_image blocks_within(const hy_portion *portion, size_t bytes)
{
    const hy_product *product = portion->product;
    const int64_t size        = (int64_t)hy_value_size(portion->profile.type);
    const int64_t line        = hy_column_blocks_unit(portion, 0) / size;
    const int64_t half        = HALF_LINE / size;
    const int64_t most = product->b_rows > 0 ? (int64_t)(bytes / 2 & ~(size_t)255) / 16 /
                                                   product->b_rows * 16 / size
                                             : 0;
    const int all      = bytes >= hy_allowed(portion->rates.memory, HY_ALLOW);
    const int64_t unit = most < line && all ? half : line;

    if (most < unit || most / unit * unit >= product->b_cols)
        return (hy_image){.axis = HY_AXIS_NONE};
    const int64_t full = most / unit * unit;
    const int64_t even =
        hy_column_blocks_cols(portion, (product->b_cols + full - 1) / full, unit * size);
    hy_image p = hy_column_blocks_movable(portion, even);
    if (p.last > most)
        p = hy_column_blocks_fixed(portion, even);
    p.pitch = p.last;
    p.held  = 2;
    return p;
}

/* Returns the image of an X that would fit the device, in about as many column blocks as
   a test asks for; two of them are on the device at once. */
static hy_image blocks_asked(const hy_portion *portion)
{
    const int64_t n = hy_settings_of(portion->product->engine)->column_blocks;
    hy_image p      = hy_column_blocks_beside(portion, n, 0);

    p.pitch = p.last;
    p.held  = 2;
    return p;
}

/* ---- layouts ---------------------------------------------------------------------- */

static hy_layout asked_for(const hy_planning *p, hy_image blocks)
{
    return (hy_layout){.image = blocks, .depth = hy_slots(p), .share = HY_RESIDENT_SHARE};
}

/* Returns 1 if a test asks for this schedule with a number of column blocks. */
static int is_named(const hybrid_engine *engine)
{
    const hy_settings *settings = hy_settings_of(engine);

    return settings->schedule == &hy_schedule_column_ring && settings->column_blocks > 0;
}

static hy_image best(const hy_planning *p)
{
    const size_t part = hy_allowed(p->portion->rates.memory, HY_ALLOW);

    if (!hy_portion_fits(p->portion))
        return blocks_within(p->portion, part);
    return is_named(p->product->engine) ? blocks_asked(p->portion)
                                        : (hy_image){.axis = HY_AXIS_NONE};
}

static hy_estimate promise(const hy_planning *p)
{
    const hy_layout asked = asked_for(p, best(p));

    if (asked.image.axis == HY_AXIS_NONE)
        return (hy_estimate){.chunks = 0};
    return hy_schedule_even(p, &asked);
}

/* Tries a layout with as many cached packs of A as fit beside the column blocks. The
   layout has 0 slots if `blocks` has no column blocks, or if they or some row of A do not
   fit. */
static hybrid_status try(const hy_planning *p, hy_image blocks, hy_layout *out)
{
    *out = asked_for(p, blocks);
    if (blocks.axis == HY_AXIS_NONE ||
        hy_align(hy_image_room(&blocks)) >= p->portion->rates.memory) {
        out->depth = 0;
        return HYBRID_OK;
    }
    out->products = hy_grain_products(p, out);
    HY_TRY(hy_layout_try(p, out));
    if (out->depth > 0)
        hy_layout_cache(p->portion, out);
    return HYBRID_OK;
}

/* Tries narrower and narrower column blocks, which leave more memory for packs of A,
   until all of A is cached or blocks would be too narrow. Takes the layout with the
   shortest predicted run. */
static hybrid_status cut_ring(const hy_planning *p, hy_layout *out)
{
    int all        = 0;
    double least_s = INFINITY;

    for (size_t part = hy_allowed(p->portion->rates.memory, HY_ALLOW); !all; part /= 2) {
        const hy_image blocks = blocks_within(p->portion, part);
        hy_layout other;
        if (blocks.axis == HY_AXIS_NONE)
            break;
        HY_TRY(try(p, blocks, &other));
        if (other.depth == 0)
            continue;
        const double s = hy_schedule_layout_s(p, &other);
        all            = hy_layout_caches_all(&other);
        if (s >= least_s) {
            hy_layout_free(p->product, &other);
            continue;
        }
        hy_layout_free(p->product, out);
        *out    = other;
        least_s = s;
    }
    return HYBRID_OK;
}

static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    *out = (hy_layout){.depth = 0};
    if (hy_portion_fits(p->portion))
        HY_TRY(try(p, best(p), out));
    return out->depth > 0 ? HYBRID_OK : cut_ring(p, out);
}

const hy_schedule hy_schedule_column_ring = {.name   = "ring of columns",
                                             .values = HY_WITH_COPIES | HY_WITH_RING |
                                                       HY_WITH_COLUMN_RING,
                                             .promise = promise,
                                             .cut     = cut};
