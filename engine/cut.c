/* engine/cut.c - which layout on the device a product gets.

   The device's budget is shared by B or X, if it stays there, and by `depth` slots. Of
   these ways the first that can hold every row is taken:

       resident, all slots     when B or X takes at most half of the budget
       gathered, all slots     each chunk brings the rows of B or X that it touches
       gathered, fewer slots   down to one: no overlap, but the longest row fits
       resident, one slot      a row's share of B may exceed B itself

   With a variant that carries all it needs of B they differ in their slots only.

   HYBRID_RESIDENT comes before them: X resident if it takes no more than three quarters
   of the budget, slots in a fourth of what it leaves, and A in the rest. With X in a
   window or in panels of columns slots and A share the same way.

   For an X that takes more there are two ways that send each row of it once:

       a window    a row comes to the place of one that is done, if A is banded
       panels      of columns, two of them at once, beside as much of A as fits

   The host may be sooner by itself (weigh.h), than with a window or where there is none:
   then nothing is cut. Where rows touch X far and wide, gathered chunks are slow to cut.
   So a sample of the chunks of a window, or else of panels, says what gathered ones would
   send; these are cut if that is less, and then compared with panels once more, by what
   they do send. An X that fits comes in panels if that makes the product shorter.

   Each way is a function that returns a layout (layout.h), of 0 slots if there is none;
   choose() compares them, and the product gets the best one.
 */
#include "engine/cut.h"

#include "base/csr.h"
#include "engine/grain.h"
#include "engine/panels.h"
#include "engine/traffic.h"
#include "engine/weigh.h"
#include "engine/window.h"

enum {
    DEPTH        = 4, /* chunks in flight; */
    DEPTH_SMALL  = 6, /* where so many of CHUNKS fit the caches, too */
    CHUNKS       = 16,
    CACHED_BYTES = 48 << 20
};

/* Slots with which work is tried that finds no room with more. */
static int least_depth(const hy_planning *p)
{
    return p->product->options.depth > 0 ? p->product->options.depth : DEPTH;
}

/* Of SpMM workers pack a chunk and store its rows of Y: while one waits for the device
   others are to be at hand, but what is in flight shall stay in the last-level cache. */
static int depth_of(const hy_planning *p)
{
    const hy_features *f = &p->product->profile.features;
    const size_t bytes   = (size_t)hy_csr_bytes(f->rows, f->nnz, f->type) +
                         (size_t)f->out_bound * hy_value_size(f->type);

    if (p->product->options.depth == 0 && p->product->op == HY_SPMM &&
        hy_product_on_device(p->product) && bytes / CHUNKS * DEPTH_SMALL <= CACHED_BYTES)
        return DEPTH_SMALL;
    return least_depth(p);
}

/* The host is to take rows, in no order that a window could follow, and all of their
   columns. */
static int shares(const hy_planning *p)
{
    return p->product->options.split == HYBRID_SPLIT_SHARE;
}

static int has_panels(const hy_planning *p)
{
    return p->product->op == HY_SPMM && hy_product_on_device(p->product) && !shares(p);
}

static size_t room_of_whole(const hy_planning *p)
{
    const hy_image whole = hy_product_image(p->product);

    return hy_align(hy_image_room(&whole));
}

static int is_large(const hy_planning *p)
{
    const size_t eighths = p->product->options.flags & HYBRID_RESIDENT ? 6 : 4;

    return room_of_whole(p) > p->product->rates.memory / 8 * eighths;
}

/* ---- X whole, or what chunks touch ------------------------------------------------ */

/* The first layout that holds every row. */
static hybrid_status cut_rows(const hy_planning *p, hy_layout *out)
{
    const int depth     = depth_of(p);
    const int fewer     = least_depth(p);
    const size_t whole  = room_of_whole(p);
    const size_t memory = p->product->rates.memory;
    const struct {
        int gathered, depth, share;
        size_t most; /* of X */
    } tries[]            = {{0, depth, HY_RESIDENT_SHARE, memory / 4 * 3},
                            {0, depth, 1, memory / 2},
                            {0, fewer, 1, fewer < depth ? memory / 2 : 0},
                            {1, fewer, 1, 0},
                            {1, (fewer + 1) / 2, 1, 0},
                            {1, 1, 1, 0},
                            {0, 1, 1, memory}};
    const int in_place   = !hy_product_on_device(p->product);
    const int resident   = !in_place && p->product->options.flags & HYBRID_RESIDENT;
    hybrid_status status = HYBRID_NO_DEVICE_MEMORY;

    for (size_t i = resident ? 0 : 1; i < sizeof tries / sizeof *tries; i++) {
        if (tries[i].gathered ? in_place : whole > tries[i].most)
            continue;
        hy_message_clear(&p->product->engine->ctx.message);
        *out          = (hy_layout){.image    = hy_product_image(p->product),
                                    .gathered = tries[i].gathered,
                                    .depth    = tries[i].depth,
                                    .share    = tries[i].share};
        out->products = hy_grain_products(p, out);
        status        = hy_layout_cut(p, out);
        if (status != HYBRID_NO_DEVICE_MEMORY)
            break;
    }
    return status;
}

/* ---- panels of X ------------------------------------------------------------------ */

/* Of an X that does not fit: of panels that leave more and more to A, until all of it
   stays, those that send the fewest bytes. */
static hybrid_status cut_panels(const hy_planning *p, hy_layout *out, int64_t *up)
{
    const hy_product *product = p->product;
    int all                   = 0;

    *out = (hy_layout){.depth = 0};
    for (size_t share = 2; !all; share *= 2) {
        const hy_image panels = hy_panels_within(product, product->rates.memory / share);
        hy_layout other;
        if (panels.axis == HY_AXIS_NONE)
            break;
        HY_TRY(hy_panels_try(p, depth_of(p), panels, &other));
        if (other.depth == 0)
            continue;
        const int64_t sent = hy_traffic_dense_up(product, &other);
        all                = hy_layout_keeps_all(&other);
        if (out->depth > 0 && sent >= *up) {
            hy_layout_free(product, &other);
            continue;
        }
        hy_layout_free(product, out);
        *out = other;
        *up  = sent;
    }
    return HYBRID_OK;
}

/* Of an X that fits: if they make the product shorter and all of A fits beside them. */
static hybrid_status cut_shorter(const hy_planning *p, const hy_layout *whole,
                                 hy_layout *out)
{
    const hy_image panels = hy_panels_best(p->product, whole);

    *out = (hy_layout){.depth = 0};
    if (panels.axis == HY_AXIS_NONE)
        return HYBRID_OK;
    HY_TRY(hy_panels_try(p, whole->depth, panels, out));
    if (out->depth > 0 && !hy_layout_keeps_all(out))
        hy_layout_free(p->product, out);
    return HYBRID_OK;
}

/* ---- the best --------------------------------------------------------------------- */

typedef struct ways {
    hy_layout rows; /* B or X whole, or those that chunks touch */
    hy_layout window, panels;
    int panels_known; /* those of an X that does not fit are cut, or there are none */
    hy_ways_up up;
    hy_extents extents; /* for a window */
    double spared_s;    /* as in cut.h: if not 0, none is looked at further */
} ways;

static hybrid_status know_panels(const hy_planning *p, ways *w)
{
    if (w->panels_known)
        return HYBRID_OK;
    w->panels_known = 1;
    return cut_panels(p, &w->panels, &w->up.panels);
}

/* A window, unless gathered chunks would send less. */
static hybrid_status try_window(const hy_planning *p, ways *w, hy_layout **best)
{
    hy_planning known = *p;
    int64_t gathered  = 0;

    HY_TRY(hy_window_look(p, &w->extents));
    if (!w->extents.blocks)
        return HYBRID_OK;
    if (!hy_is_compact(&p->product->compact) &&
        p->product->options.order != HYBRID_COL_MAJOR)
        w->spared_s = hy_weigh_window(p->product, &w->extents);
    if (w->spared_s > 0)
        return HYBRID_OK;
    known.extents = &w->extents;
    HY_TRY(hy_window_try(&known, depth_of(p), least_depth(p), &w->window));
    if (w->window.depth == 0)
        return HYBRID_OK;
    w->up.window = hy_traffic_dense_up(p->product, &w->window);
    HY_TRY(hy_traffic_gathered_up(p->product, &w->window, p->A, NULL, &gathered));
    if (w->up.window <= gathered)
        *best = &w->window;
    else
        hy_layout_free(p->product, &w->window);
    return HYBRID_OK;
}

/* Panels, if even a sample of their chunks, which are longer than gathered ones, says
   that these would send more. */
static hybrid_status try_panels(const hy_planning *p, ways *w, hy_layout **best)
{
    int64_t gathered = 0;

    HY_TRY(know_panels(p, w));
    if (w->panels.depth == 0)
        return HYBRID_OK;
    HY_TRY(hy_traffic_gathered_up(p->product, &w->panels, p->A, NULL, &gathered));
    if (gathered > w->up.panels) {
        w->up.gathered = gathered;
        *best          = &w->panels;
    }
    return HYBRID_OK;
}

/* Panels instead of a window or of gathered chunks, if they send less. */
static hybrid_status compare_bytes(const hy_planning *p, ways *w, hy_layout **best)
{
    const hy_layout *rows = *best;
    const int again       = (p->product->options.flags & HYBRID_RESIDENT) == 0;
    const int64_t sent    = hy_traffic_dense_up(p->product, rows);

    if (rows->gathered)
        w->up.gathered = sent;
    if (rows->image.axis == HY_AXIS_ROWS &&
        (again || hy_layout_keeps_all(rows))) /* the least */
        return HYBRID_OK;
    HY_TRY(know_panels(p, w));
    if (w->panels.depth > 0 && w->up.panels < sent)
        *best = &w->panels;
    return HYBRID_OK;
}

/* Panels instead of X whole, if they are done sooner. */
static hybrid_status compare_time(const hy_planning *p, ways *w, hy_layout **best)
{
    hy_layout_free(p->product, &w->panels);
    HY_TRY(cut_shorter(p, *best, &w->panels));
    if (w->panels.depth > 0)
        *best = &w->panels;
    return HYBRID_OK;
}

/* What X and Y that are pinned would gain, and packs that stay. */
static hybrid_status complete(const hy_planning *p, hy_layout *best)
{
    const int direct =
        !hy_is_compact(&p->product->compact) && best->image.axis != HY_AXIS_ROWS;

    if (!hy_product_on_device(p->product) || best->image.axis == HY_AXIS_COLS)
        return HYBRID_OK;
    if (p->product->options.split != HYBRID_SPLIT_AUTO && !shares(p) && direct)
        hy_panels_offer(p->product, best);
    if (p->product->options.flags & HYBRID_RESIDENT &&
        best->if_pinned.axis == HY_AXIS_NONE)
        hy_layout_keep(p->product, best);
    return HYBRID_OK;
}

/* Of the rest of A that has been weighed already. */
static double spared_s(const hy_product *product)
{
    return hy_is_compact(&product->compact)
               ? 0
               : hy_weigh(product, product->rows, product->cols);
}

/* One of `ways`; none where the device is spared. */
static hybrid_status choose(const hy_planning *p, ways *w, hy_layout **best)
{
    const int large = is_large(p);

    if (large && !shares(p))
        HY_TRY(try_window(p, w, best));
    if (large && !*best && w->spared_s <= 0)
        w->spared_s = spared_s(p->product);
    if (w->spared_s > 0)
        return HYBRID_OK;
    if (large && !*best && has_panels(p))
        HY_TRY(try_panels(p, w, best));
    if (!*best) {
        HY_TRY(cut_rows(p, &w->rows));
        *best = &w->rows;
    }
    if (has_panels(p) && *best != &w->panels)
        HY_TRY((*best)->gathered || (*best)->image.axis == HY_AXIS_ROWS
                   ? compare_bytes(p, w, best)
                   : compare_time(p, w, best));
    return complete(p, *best);
}

static void free_ways(const hy_product *product, ways *w)
{
    hy_extents_free(&product->engine->ctx, &w->extents);
    hy_layout_free(product, &w->rows);
    hy_layout_free(product, &w->window);
    hy_layout_free(product, &w->panels);
}

hybrid_status hy_cut_layout(const hy_product *product, const hybrid_csr *A,
                            const hybrid_csr *B, hy_layout *out, double *spared_s)
{
    const hy_planning planning = {.product = product, .A = A, .B = B};
    ways w                     = {.up = {-1, -1, -1}};
    hy_layout *best            = NULL;

    const hybrid_status status = choose(&planning, &w, &best);
    *spared_s                  = w.spared_s;
    if (status == HYBRID_OK && best) {
        *out         = *best;
        out->ways_up = w.up;
        best->chunks = NULL; /* they are the caller's */
    }
    free_ways(product, &w);
    return status;
}
