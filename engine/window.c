/* engine/window.c - X passes through the device, a window of its rows at a time.

   Rows of a banded A (stencils, finite elements, whatever was put in order to have a
   small bandwidth) name rows of X near their own. Chunks that gather what they touch send
   a row of X with each chunk whose band it lies in: bandwidth and length of a chunk are
   much the same under a small budget, so that X goes up several times, and what is
   slower, workers copy it as often. But the chunks come in order, and so do the rows that
   they need:

       rows of X   0 ........ first ............ needs ................. rows
                      free      |  chunk k       |   those to come
                                |<- the window: row r at place r mod w ->|

   The loader sends each row once, to place r mod w, when no chunk is left that needs row
   r - w. Chunk k enters the lanes when row needs - 1 is on its way; when it is finished
   the rows before the first one that any later chunk touches are free. Packs of A name
   places instead of rows, which takes a subtraction or two of an entry, and a kernel
   cannot tell the places from an X of w rows. So X and A go up once each: nothing that
   does not keep A sends less, unless A leaves rows of X out.

   It works if all that a chunk touches fits with the piece of X that comes with it
   (hy_ring_most()): then the oldest chunk never waits for a row that waits for a place.
   It works well if the next chunks' rows fit as well, which are packed meanwhile. The
   ring takes half of the budget, more if it must. An entry far from the others makes all
   chunks from the first to the last that is so long need all rows between: then nothing
   is freed, and chunks gather. */
#include "engine/window.h"

#include "engine/grain.h"

enum { LEAST_ROWS = 4 * HY_RING_PIECES };

static const struct {
    size_t eighths; /* of the budget */
    int all;        /* chunks in flight find a place there, not one alone */
} tries[] = {{4, 1}, {6, 1}, {7, 0}};

enum { TRIES = sizeof tries / sizeof *tries };

/* Rows of X that take no more than so many bytes of the device, if X can pass through it:
   else 0. */
static int64_t rows_within(const hy_product *product, size_t bytes)
{
    const hy_image whole = hy_product_image(product);
    const hy_image one   = hy_image_row_ring(&whole, 1);
    const size_t row     = hy_image_room(&one);

    if (product->op != HY_SPMM || !product->variant->row_rings || row == 0)
        return 0;
    const int64_t rows = (int64_t)((bytes & ~(size_t)255) / row);
    const int64_t most = product->b_rows < INT32_MAX ? product->b_rows : INT32_MAX;
    return rows < LEAST_ROWS ? 0 : rows < most ? rows : most;
}

/* Rows that a chunk and those in flight with it may touch. */
static int64_t most_of(int64_t window, int64_t rows)
{
    return window < rows ? hy_ring_most(window) : window;
}

/* Whether it holds all that a chunk and `ahead` more after it touch, whichever chunk it
   is. */
static int holds(const hy_layout *layout, int64_t rows, int64_t ahead)
{
    const int64_t most = most_of(layout->image.places, rows);

    for (int64_t k = 0; k < layout->count; k++)
        for (int64_t i = k; i < layout->count && i <= k + ahead; i++)
            if (layout->chunks[i].needs - layout->chunks[k].first > most)
                return 0;
    return 1;
}

/* In so many bytes, with the next `ahead` chunks. */
static hybrid_status try_bytes(const hy_planning *p, size_t bytes, int64_t ahead,
                               hy_layout *out)
{
    const hy_image whole = hy_product_image(p->product);
    const int64_t rows   = rows_within(p->product, bytes);

    if (rows == 0) {
        out->depth = 0;
        return HYBRID_OK;
    }
    out->image    = hy_image_row_ring(&whole, rows);
    out->products = hy_grain_products(p, out);
    HY_TRY(hy_layout_try(p, out));
    if (out->depth > 0 && !holds(out, p->product->b_rows, ahead))
        hy_layout_free(p->product, out);
    return HYBRID_OK;
}

/* In the first of them that does. */
static hybrid_status try_all(const hy_planning *p, int depth, hy_layout *out)
{
    const int resident = (p->product->options.flags & HYBRID_RESIDENT) != 0;

    for (size_t i = 0; i < TRIES && out->depth == 0; i++) {
        *out = (hy_layout){.depth = depth, .share = resident ? HY_RESIDENT_SHARE : 1};
        HY_TRY(try_bytes(p, p->product->rates.memory / 8 * tries[i].eighths,
                         tries[i].all ? depth - 1 : 0, out));
    }
    if (resident && out->depth > 0)
        hy_layout_keep(p->product, out);
    return HYBRID_OK;
}

hybrid_status hy_window_look(const hy_planning *p, hy_extents *out)
{
    const int64_t largest =
        rows_within(p->product, p->product->rates.memory / 8 * tries[TRIES - 1].eighths);

    *out = (hy_extents){.A = p->A};
    if (largest == 0)
        return HYBRID_OK;
    return hy_extents_find(&p->product->engine->ctx, p->A,
                           most_of(largest, p->product->b_rows), out);
}

hybrid_status hy_window_try(const hy_planning *p, int depth, int least_depth,
                            hy_layout *out)
{
    out->depth = 0;
    HY_TRY(try_all(p, depth, out));
    if (out->depth == 0 && least_depth < depth)
        HY_TRY(try_all(p, least_depth, out));
    return HYBRID_OK;
}
