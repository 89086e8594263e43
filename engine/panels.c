/* engine/panels.c - into which panels of columns an X on the device is cut. */
#include "engine/panels.h"

#include <math.h>

#include "base/csr.h"
#include "base/extremes.h"
#include "partition/chunks.h"
#include "pipeline/pack_cache.h"

enum {
    MOST_PINNED = 3,
    LEAST_ROW   = 2 * HY_LINE, /* of a panel: that is what copying them past it takes */
    LEAST_X     = 64 << 20,    /* X of less is there soon */
    HALF_LINE   = HY_LINE / 2, /* of an X that does not fit, if lines are too much */
    FORCED_ROW  = 16
};

static const double LAUNCHES = 20; /* what a panel costs besides its bytes */

/* Copies of rows from and to pinned memory, rows that begin and end with lines. Of 55e9
   bytes a second, rows of 128 move at 51e9 alone and in runs at some 35e9 each way while
   the bus is used both ways, rows of 256 at 54e9 and 46e9, whole blocks at 50e9 each way
   (docs/performance.md). So a row costs ALONE_BYTES besides its own; both ways leave each
   a share of BOTH_WAYS, of which rows of HALF_BYTES get half, and longer ones soon all.
 */
static const double ALONE_BYTES = 8, BOTH_WAYS = 0.91, HALF_BYTES = 86;

static const double WORTH = 0.9; /* of the time of X whole: less is worth it */

static int64_t value_size(const hy_product *product)
{
    return (int64_t)hy_value_size(product->profile.type);
}

/* ---- widths ----------------------------------------------------------------------- */

/* Rows of a panel are whole lines of the host's cache, or of the device's if it copies
   them by itself; in tests they may be less, so that there are panels of a narrow X. */
static int64_t unit_of(const hy_product *product, int pinned)
{
    const hybrid_engine *e = product->engine;
    const int forced       = e->panels > 0;

    if (forced && product->b_cols * value_size(product) < 2 * HY_LINE)
        return FORCED_ROW;
    return pinned ? HY_X_LINE : HY_LINE;
}

/* Columns of each of so many panels, of so many bytes or a multiple. */
static int64_t cols_of(const hy_product *product, int64_t panels, int64_t unit)
{
    const int64_t row = (product->b_cols * value_size(product) + panels - 1) / panels;
    return (row + unit - 1) / unit * unit / value_size(product);
}

/* X in blocks of so many columns. */
static hy_image in_blocks(const hy_product *product, int64_t cols, int64_t last)
{
    hy_image image = hy_product_image(product);

    image.axis  = HY_AXIS_COLS;
    image.block = image.pitch = cols;
    image.last                = last;
    return image;
}

/* Panels of so many columns, of which the last takes in what moving them adds at the end:
   their number is the same wherever Y lies. */
static hy_image panels_of(const hy_product *product, int64_t cols)
{
    hy_image p         = in_blocks(product, cols, cols);
    const int64_t last = p.cols - hy_image_begin(&p, hy_image_col_blocks(&p) - 1);

    p.last = hy_greater(last + hy_image_most_back(&p), cols);
    return p;
}

/* ---- X that fits and is pinned
 * ------------------------------------------------------------------ */

int hy_panels_may_move(const hy_product *product)
{
    return !(product->options.flags & HYBRID_DETERMINISTIC);
}

typedef struct speeds {
    double up_Bps, down_Bps;
} speeds;

/* What of the bus rows of a panel get. */
static double share_of_rows(const hy_product *product, const hy_image *panels, int alone)
{
    const double row = (double)(panels->block * value_size(product));

    return alone ? row / (row + ALONE_BYTES)
                 : BOTH_WAYS * row * row / (row * row + HALF_BYTES * HALF_BYTES);
}

/* Of X, its packs, and Y, in panels or whole; `alone`: nothing goes the other way. */
static speeds speeds_of(const hy_product *product, const hy_image *panels, int alone)
{
    const speeds bus   = {product->rates.h2d_Bps, product->rates.d2h_Bps};
    const double share = share_of_rows(product, panels, alone);

    if (panels->axis != HY_AXIS_COLS)
        return bus;
    return (speeds){bus.up_Bps * share, bus.down_Bps * share};
}

/* When the last chunk is down, if X comes in these panels. A chunk waits for the packs
   before it, for its rows of X, and for chunks before it that go down. While the first
   panel comes nothing goes down, while the last goes nothing comes. */
static double finished(const hy_product *product, const hy_layout *whole,
                       const hy_image *panels)
{
    const double size   = (double)value_size(product);
    const int64_t count = hy_image_col_blocks(panels);
    double up_s = 0, down_s = 0;

    for (int64_t k = 0; k < count; k++) {
        const double up_Bps   = speeds_of(product, panels, k == 0).up_Bps;
        const double down_Bps = speeds_of(product, panels, k == count - 1).down_Bps;
        const int64_t width   = hy_image_width(panels, k);
        double sent           = 0;
        for (int64_t i = 0; i < whole->count; i++) {
            const hy_chunk *c = &whole->chunks[i];
            const hy_features f =
                hy_profile_range(&product->profile, c->row_begin, c->row_end, width);
            const hy_cost cost = c->variant->cost(&f, &product->rates);
            sent += k > 0 || product->options.flags & HYBRID_RESIDENT
                        ? 0
                        : hy_sent_bytes(&cost);
            const double x = (double)c->needs * (double)width * size;
            const double run_s =
                up_s + (sent + x) / up_Bps + cost.multiply_s + cost.finish_s;
            down_s = (run_s > down_s ? run_s : down_s) +
                     (double)f.rows * (double)width * size / down_Bps;
        }
        up_s += (sent + (double)product->b_rows * (double)width * size) / up_Bps;
    }
    return down_s + (double)count * LAUNCHES * product->rates.launch_s;
}

/* All of them on the device at once. */
static hy_image side_by_side(const hy_product *product, int64_t panels, int pinned)
{
    hy_image p = panels_of(product, cols_of(product, panels, unit_of(product, pinned)));

    p.places = hy_image_col_blocks(&p);
    return p;
}

/* In so many or fewer; NONE if that is no gain. */
static hy_image in_panels(const hy_product *product, int64_t n, int pinned)
{
    const hy_image p = side_by_side(product, n, pinned);

    return p.block * value_size(product) < LEAST_ROW || p.block >= product->b_cols
               ? (hy_image){.axis = HY_AXIS_NONE}
               : p;
}

static hy_image shortest_pinned(const hy_product *product, const hy_layout *whole)
{
    hy_image best = hy_product_image(product);
    double least  = WORTH * finished(product, whole, &best);

    for (int64_t n = 2; n <= MOST_PINNED; n++) {
        const hy_image p = in_panels(product, n, 1);
        if (p.axis == HY_AXIS_NONE)
            continue;
        const double s = finished(product, whole, &p);
        if (s >= least)
            continue;
        least = s;
        best  = p;
    }
    return best;
}

static hy_image forced(const hy_product *product, int64_t n, int pinned)
{
    const hy_image p = side_by_side(product, n, pinned);

    return p.block < product->b_cols && product->b_rows > 0
               ? p
               : (hy_image){.axis = HY_AXIS_NONE};
}

hy_image hy_panels_forced(const hy_product *product)
{
    return forced(product, product->engine->panels, 0);
}

hy_image hy_panels_side_by_side(const hy_product *product, int64_t n)
{
    const hy_image whole = hy_product_image(product);

    return hy_align(hy_image_room(&whole)) < LEAST_X ? (hy_image){.axis = HY_AXIS_NONE}
                                                     : in_panels(product, n, 0);
}

/* ---- X that does not fit ---------------------------------------------------------- */

/* The fewest panels for which places of `most` columns are enough, two of them: with a
   last one that may grow, or, in places that are full already, with one more for what
   moving them adds. */
hy_image hy_panels_within(const hy_product *product, size_t bytes)
{
    const int64_t line = unit_of(product, 0) / value_size(product);
    const int64_t half = HALF_LINE / value_size(product);
    const int64_t most = product->b_rows > 0
                             ? (int64_t)(bytes / 2 & ~(size_t)255) / 16 /
                                   product->b_rows * 16 / value_size(product)
                             : 0;
    const int all      = bytes >= hy_allowed(product->rates.memory, HY_ALLOW);
    const int64_t unit = most < line && all ? half : line;

    if (most < unit || most / unit * unit >= product->b_cols)
        return (hy_image){.axis = HY_AXIS_NONE};
    const int64_t full = most / unit * unit;
    const int64_t even =
        cols_of(product, (product->b_cols + full - 1) / full, unit * value_size(product));
    hy_image p = panels_of(product, even);
    if (p.last > most)
        p = in_blocks(product, even, even);
    p.pitch  = p.last;
    p.places = 2;
    return p;
}

/* ---- X and Y pinned --------------------------------------------------------------- */

static hy_image best_pinned(const hy_product *product, const hy_layout *whole)
{
    const int64_t n = product->engine->panels;

    if (!product->variant->rings || whole->shared_bytes == 0 || whole->count == 0)
        return (hy_image){.axis = HY_AXIS_NONE};
    if (n > 0)
        return forced(product, n, 1);
    return whole->shared_bytes < LEAST_X ? (hy_image){.axis = HY_AXIS_NONE}
                                         : shortest_pinned(product, whole);
}

/* On the device, where X is whole in other runs. */
static size_t room_of(const hy_layout *whole, const hy_image *panels)
{
    return hy_larger(hy_align(hy_image_room(panels)), whole->shared_bytes);
}

/* Packs of A get their places beside so many bytes of X. 0: not all of them do, so none.
 */
static int keeps_all(const hy_product *product, const hy_layout *layout, size_t x_bytes)
{
    const size_t memory = product->rates.memory;

    hy_pack_cache_choose(&product->rates, layout->depth,
                         memory > x_bytes ? memory - x_bytes : 0, layout->chunks,
                         layout->count);
    if (memory > x_bytes && hy_layout_keeps_all(layout))
        return 1;
    for (int64_t i = 0; i < layout->count; i++)
        layout->chunks[i].kept = 0;
    return 0;
}

/* One chunk at a time would not overlap with others. */
static int has_enough_chunks(const hy_product *product, const hy_layout *layout)
{
    return layout->count >= layout->depth || product->engine->panels > 0;
}

void hy_panels_offer(const hy_product *product, hy_layout *layout)
{
    if (!product->backend->ops->copy_rows || !hy_panels_may_move(product) ||
        !has_enough_chunks(product, layout) ||
        hy_chunk_ranges(layout->chunks, layout->count) < layout->count)
        return;
    const hy_image panels = best_pinned(product, layout);
    if (panels.axis == HY_AXIS_NONE)
        return;
    const size_t room = room_of(layout, &panels);
    if (!keeps_all(product, layout, room))
        return;
    layout->shared_bytes = room;
    layout->if_pinned    = panels;
}

double hy_panels_pinned_s(const hy_product *product, const hy_layout *layout)
{
    return finished(product, layout, &layout->if_pinned);
}
