/* engine/schedules/schedule_whole.c - all of B or X is on the device as an image.

   With HYBRID_RESIDENT, B or X may take more of the budget. The slots then take a fourth
   of the rest, and cached packs of A take what remains. */
#include <math.h>

#include "base/data/csr.h"
#include "engine/plan/grain.h"
#include "engine/schedules/column_blocks.h"
#include "engine/schedules/schedule.h"
#include "partition/pattern/chunks.h"

enum {
    MOST_PINNED = 3, /* maximum number of column blocks, in runs with pinned X and Y */
    LEAST_ROW   = HY_X_LINE, /* minimum bytes of a block's row, with pinned X and Y */
    LEAST_X     = 64 << 20   /* minimum bytes of an X that is cut into column blocks; a
                                smaller one is sent so quickly that blocks gain nothing */
};

static hy_estimate promise(const hy_planning *p)
{
    const hy_layout asked = {
        .image = hy_portion_image(p->portion), .depth = hy_slots(p), .share = 1};

    return hy_portion_fits(p->portion) ? hy_schedule_even(p, &asked)
                                       : (hy_estimate){.chunks = 0};
}

/* ---- X and Y pinned --------------------------------------------------------------- */

/* Returns the predicted seconds of a run with pinned X and Y, with X in at most n column
   blocks. */
static double seconds_in(const hy_portion *portion, const hy_layout *layout, int64_t n)
{
    hy_circumstances found = hy_circumstances_of(portion->product);
    hy_layout with         = *layout;

    found.pinned           = 1;
    found.in_column_blocks = n > 1;
    with.pinned_blocks     = n;
    const hy_estimate e    = hy_estimate_device(portion, &with, &found);
    return hy_estimate_seconds(portion, &e);
}

/* Returns 1 if X can come in at most n > 1 column blocks: their rows are not too short,
   and no block would hold all of X. */
static int may_have(const hy_portion *portion, int64_t n)
{
    const int64_t size = (int64_t)hy_value_size(portion->profile.type);
    const hy_image p   = hy_column_blocks_beside(portion, n, 1);

    return p.axis == HY_AXIS_COLS && p.block * size >= LEAST_ROW;
}

/* Returns the number of column blocks with the shortest predicted run for pinned X and Y;
   0 if no number is predicted to be sooner than a whole X. */
static int64_t shortest_pinned(const hy_portion *portion, const hy_layout *layout)
{
    const double whole_s = seconds_in(portion, layout, 1);
    double least         = whole_s;
    int64_t best         = 0;

    for (int64_t n = 2; n <= MOST_PINNED; n++) {
        const double s = may_have(portion, n) ? seconds_in(portion, layout, n) : INFINITY;
        best           = s < least ? n : best;
        least          = fmin(s, least);
    }
    return hy_is_sooner(least, whole_s) ? best : 0;
}

static int64_t best_pinned(const hy_portion *portion, const hy_layout *layout)
{
    const int64_t n = hy_settings_of(portion->product->engine)->column_blocks;

    if (n == 0)
        return shortest_pinned(portion, layout);
    return hy_column_blocks_beside(portion, n, 1).axis == HY_AXIS_COLS ? n : 0;
}

/* Returns the bytes of device memory that suffice for X as a whole and also for X in
   column blocks `blocks`. */
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

/* Returns 1 if column blocks may be faster than a whole X: X has at least LEAST_X bytes,
   and there are at least as many chunks as slots. Always 1 in tests that ask for
   blocks. */
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

/* Sets pinned_blocks and image_room to the column blocks with the shortest predicted run
   for pinned X and Y, or to those that a test asks for. Returns 1 if that run is
   predicted to be sooner than with a whole X (not compared in such a test), and all packs
   of A fit beside X in either form. Else returns 0, and the `cached` flags of the chunks
   are undefined. */
static int take_best(const hy_portion *portion, hy_layout *layout)
{
    if (!caches_all(portion, layout, layout->image_room))
        return 0;
    const int64_t n = best_pinned(portion, layout);
    if (n == 0)
        return 0;
    const hy_image blocks = hy_column_blocks_beside(portion, n, 1);
    const size_t room     = room_of(layout, &blocks);
    if (!caches_all(portion, layout, room))
        return 0;
    layout->image_room    = room;
    layout->pinned_blocks = n;
    return 1;
}

/* Decides whether runs with pinned X and Y receive X in column blocks. They do if blocks
   are predicted to be faster than a whole X, and the packs of all of A fit beside X. Then
   sets layout->pinned_blocks and layout->image_room, and marks all packs as cached. The
   layout keeps its whole X for other runs. */
static void offer_column_blocks(const hy_portion *portion, hy_layout *layout)
{
    if (!can_have(portion, layout) || !may_gain(portion, layout) ||
        take_best(portion, layout))
        return;
    for (int64_t i = 0; i < layout->count; i++)
        layout->chunks[i].cached = 0;
}

/* ---- the layout -------------------------------------------------------------------- */

/* Completes a layout in which all of B or X is on the device. Adds column blocks for runs
   with pinned X and Y if such runs are predicted to be faster and options do not ask the
   host to help. Without column blocks, chooses which packs of a resident A are cached. */
static void complete(const hy_portion *portion, hy_layout *layout)
{
    const hy_product *product = portion->product;

    if (product->options.split != HYBRID_SPLIT_AUTO &&
        product->options.split != HYBRID_SPLIT_SHARE && hy_product_has_views(product) &&
        !hy_product_device(product))
        offer_column_blocks(portion, layout);
    if (product->options.flags & HYBRID_RESIDENT && layout->pinned_blocks == 0)
        hy_layout_cache(portion, layout);
}

/* Tries fewer slots if the longest row of A does not fit one of many, because bringing B
   with every chunk takes longer. */
static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    const hy_portion *portion = p->portion;
    const hy_image image      = hy_portion_image(portion);
    const int resident        = (portion->product->options.flags & HYBRID_RESIDENT) != 0;
    const int slots = hy_slots(p), fewer = hy_slots_fewer(p);
    const hy_layout asked[] = {
        {.image = image, .depth = resident ? slots : 0, .share = HY_RESIDENT_SHARE},
        {.image = image, .depth = slots, .share = 1},
        {.image = image, .depth = fewer, .share = 1},
        {.image = image, .depth = (fewer + 1) / 2, .share = 1}};

    HY_TRY(hy_schedule_first(p, asked, sizeof asked / sizeof *asked, out));
    complete(portion, out);
    return HYBRID_OK;
}

/* Tries a single slot. The rows of B that one row of A touches, counted with repetitions,
   may need more memory than B, so that this layout may fit where gathering does not. */
static hybrid_status cut_least(const hy_planning *p, hy_layout *out)
{
    const hy_layout asked = {
        .image = hy_portion_image(p->portion), .depth = 1, .share = 1};

    if (hy_align(hy_image_room(&asked.image)) <= p->portion->rates.memory)
        return hy_schedule_first(p, &asked, 1, out);
    *out          = asked;
    out->products = hy_grain_products(p, out);
    return hy_layout_cut(p, out); /* keeps the sentence of gathering, if there is one */
}

const hy_schedule hy_schedule_whole = {.name      = "whole",
                                       .values    = HY_WITH_COPIES,
                                       .promise   = promise,
                                       .cut       = cut,
                                       .cut_least = cut_least};
