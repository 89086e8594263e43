/* engine/schedules/schedule_row_ring.c - X passes through the device, a ring of its rows
   at a time.

   Rows of a banded A (stencils, finite elements, whatever was put in order to have a
   small bandwidth) name rows of X near their own. Chunks that gather what they touch send
   a row of X with each chunk whose band it lies in: bandwidth and length of a chunk are
   much the same under a small budget, so that X goes up several times, and what is
   slower, workers copy it as often. But the chunks come in order, and so do the rows that
   they need:

       rows of X   0 ........ first ............ needs ................. rows
                      free      |  chunk k       |   those to come
                                |<- the ring: row r at place r mod w --->|

   The loader sends each row once, to place r mod w, when no chunk is left that needs row
   r - w. Chunk k enters the lanes when row needs - 1 is on its way; when it is finished
   the rows before the first one that any later chunk touches are free. Packs of A name
   places instead of rows, which takes a subtraction or two of an entry, and a kernel
   cannot tell the places from an X of w rows. So X and A go up once each: nothing that
   does not keep A sends less, unless A leaves rows of X out.

   It works if all that a chunk touches fits with the piece of X that comes with it
   (hy_ring_most()): then the oldest chunk never waits for a row that waits for a place.
   It works well if the next chunks' rows fit as well, which are packed meanwhile. The
   ring takes its part of the budget, more if it must. An entry far from the others makes
   all chunks from the first to the last that is so long need all rows between: then
   nothing is freed, and chunks gather. */
#include "engine/plan/grain.h"
#include "engine/schedules/schedule.h"

static const struct {
    hy_allowance part; /* of the budget */
    int all;           /* chunks in flight find a place there, not one alone */
} tries[] = {{HY_ALLOW, 1}, {HY_ALLOW_MORE, 1}, {HY_ALLOW_MOST, 0}};

enum { TRIES = sizeof tries / sizeof *tries };

/* Slots take one part in `share` of what the ring leaves. */
static hy_layout asked_for(const hy_planning *p, int slots, int share, int64_t rows)
{
    const hy_image whole = hy_product_image(p->product);

    return (hy_layout){
        .image = hy_image_row_ring(&whole, rows), .depth = slots, .share = share};
}

/* A ring of all rows is none. */
static hy_estimate promise(const hy_planning *p)
{
    int64_t rows = 0;

    for (int i = 0; i < TRIES && rows == 0; i++)
        rows = hy_ring_rows(p->product, tries[i].part);
    if (rows == 0 || rows >= p->product->b_rows)
        return (hy_estimate){.chunks = 0};
    const hy_layout asked = asked_for(p, hy_slots(p->product), 1, rows);
    return hy_schedule_even(p, &asked);
}

static hybrid_status cost(const hy_planning *p, hy_estimate *out)
{
    HY_TRY(hy_schedule_look(p));
    *out = p->extents->blocks ? promise(p) : (hy_estimate){.chunks = 0};
    return HYBRID_OK;
}

/* Whether it holds all that a chunk and `ahead` more after it touch, whichever chunk it
   is. */
static int holds(const hy_layout *layout, int64_t rows, int64_t ahead)
{
    const int64_t ring = layout->image.places;
    const int64_t most = ring < rows ? hy_ring_most(ring) : ring;

    for (int64_t k = 0; k < layout->count; k++)
        for (int64_t i = k; i < layout->count && i <= k + ahead; i++)
            if (layout->chunks[i].needs - layout->chunks[k].first > most)
                return 0;
    return 1;
}

/* In a part of the budget, the try of that number. 0 slots: not so. */
static hybrid_status try(const hy_planning *p, int slots, int share, int which,
                         hy_layout *out)
{
    const int64_t rows = hy_ring_rows(p->product, tries[which].part);

    *out = (hy_layout){.depth = 0};
    if (rows == 0)
        return HYBRID_OK;
    *out          = asked_for(p, slots, share, rows);
    out->products = hy_grain_products(p, out);
    HY_TRY(hy_layout_try(p, out));
    if (out->depth > 0 &&
        !holds(out, p->product->b_rows, tries[which].all ? slots - 1 : 0))
        hy_layout_free(p->product, out);
    return HYBRID_OK;
}

static hybrid_status try_all(const hy_planning *p, int share, hy_layout *out)
{
    const int slots = hy_slots(p->product), fewer = hy_slots_fewer(p->product);

    *out = (hy_layout){.depth = 0};
    for (int i = 0; i < TRIES && out->depth == 0; i++)
        HY_TRY(try(p, slots, share, i, out));
    for (int i = 0; i < TRIES && out->depth == 0 && fewer < slots; i++)
        HY_TRY(try(p, fewer, share, i, out));
    return HYBRID_OK;
}

/* Small slots and a part of A that stays, unless large slots and none of it are better.
 */
static hybrid_status cut_resident(const hy_planning *p, hy_layout *out)
{
    hy_layout large;

    HY_TRY(try_all(p, HY_RESIDENT_SHARE, out));
    if (out->depth > 0)
        hy_layout_keep(p->product, out);
    if (hy_layout_keeps_all(out))
        return HYBRID_OK;
    const hybrid_status status = try_all(p, 1, &large);
    if (status == HYBRID_OK && large.depth > 0 &&
        (out->depth == 0 ||
         hy_schedule_layout_s(p, &large) < hy_schedule_layout_s(p, out))) {
        hy_layout_free(p->product, out);
        *out = large;
        return HYBRID_OK;
    }
    hy_layout_free(p->product, status == HYBRID_OK ? &large : out);
    return status;
}

static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    *out = (hy_layout){.depth = 0};
    HY_TRY(hy_schedule_look(p));
    if (!p->extents->blocks)
        return HYBRID_OK;
    return p->product->options.flags & HYBRID_RESIDENT ? cut_resident(p, out)
                                                       : try_all(p, 1, out);
}

static const char *refuse(const hy_product *product)
{
    return product->a_there ? "columns of A on the device are row numbers of X, but a "
                              "ring needs positions"
                            : hy_refuse_ring(product);
}

const hy_schedule hy_schedule_row_ring = {.name    = "ring of rows",
                                          .refuse  = refuse,
                                          .promise = promise,
                                          .cost    = cost,
                                          .cut     = cut};
