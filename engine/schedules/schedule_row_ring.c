/* engine/schedules/schedule_row_ring.c - X passes through the device in a ring of its
   rows.

   Rows of a banded A (stencils, finite elements, matrices ordered for a small bandwidth)
   touch rows of X near their own. Gathering would send a row of X with every chunk that
   touches it, several times under a small budget, and workers would copy it as often. A
   ring sends each row of X once, in order, as the chunks need it:

       rows of X   0 ........ x_begin .......... x_end ................. rows
                       free      |  chunk k       |   later chunks
                                 |<- the ring: row r at position r mod w ->|

   The loader sends row r to position r mod w when no chunk is left that needs row r - w.
   Chunk k enters the lanes when row x_end - 1 has been sent. When it has finished, rows
   before the first row that any later chunk touches are free. Packs of A contain
   positions instead of row numbers, so kernels see an X of w rows. X and A are sent once
   each.

   The ring works if all rows that a chunk touches fit together with the piece of X that
   is being sent (hy_ring_max_span()); the oldest chunk then never waits for a row that
   waits for a free position. It is fast if the rows of the next chunks fit as well. If a
   row of A has an entry far from its others, all chunks in between need all rows of X in
   between; no row is freed then, and another schedule gathers. */
#include "engine/plan/grain.h"
#include "engine/schedules/schedule.h"

static const struct {
    hy_allowance part; /* part of the budget that the ring may take */
    int all; /* 1: the ring must hold the rows of all chunks in flight; 0: the rows of one
                chunk */
} tries[] = {{HY_ALLOW, 1}, {HY_ALLOW_MORE, 1}, {HY_ALLOW_MOST, 0}};

enum { TRIES = sizeof tries / sizeof *tries };

/* Returns a layout with a ring of `rows` rows and `slots` slots, which together take 1 /
   share of the memory that the ring leaves. */
static hy_layout asked_for(const hy_planning *p, int slots, int share, int64_t rows)
{
    const hy_image whole = hy_portion_image(p->portion);

    return (hy_layout){
        .image = hy_image_row_ring(&whole, rows), .depth = slots, .share = share};
}

/* Returns the estimate, with 0 chunks if the ring would hold all rows of X: X then fits
   whole. */
static hy_estimate promise(const hy_planning *p)
{
    int64_t rows = 0;

    for (int i = 0; i < TRIES && rows == 0; i++)
        rows = hy_ring_rows(p->portion, tries[i].part);
    if (rows == 0 || rows >= p->product->b_rows)
        return (hy_estimate){.chunks = 0};
    const hy_layout asked = asked_for(p, hy_slots(p), 1, rows);
    return hy_schedule_even(p, &asked);
}

static hybrid_status cost(const hy_planning *p, hy_estimate *out)
{
    HY_TRY(hy_schedule_scan(p));
    *out = p->extents->blocks ? promise(p) : (hy_estimate){.chunks = 0};
    return HYBRID_OK;
}

/* Returns 1 if the ring holds the rows of every chunk together with those of the
   `following` chunks after it. */
static int holds(const hy_layout *layout, int64_t rows, int64_t following)
{
    const int64_t ring = layout->image.held;
    const int64_t most = ring < rows ? hy_ring_max_span(ring) : ring;

    for (int64_t k = 0; k < layout->count; k++)
        for (int64_t i = k; i < layout->count && i <= k + following; i++)
            if (layout->chunks[i].x_end - layout->chunks[k].x_begin > most)
                return 0;
    return 1;
}

/* Makes a layout by tries[which], which says how much of the budget the ring takes. The
   layout has 0 slots if rows do not fit. */
static hybrid_status try(const hy_planning *p, int slots, int share, int which,
                         hy_layout *out)
{
    const int64_t rows = hy_ring_rows(p->portion, tries[which].part);

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
    const int slots = hy_slots(p), fewer = hy_slots_fewer(p);

    *out = (hy_layout){.depth = 0};
    for (int i = 0; i < TRIES && out->depth == 0; i++)
        HY_TRY(try(p, slots, share, i, out));
    for (int i = 0; i < TRIES && out->depth == 0 && fewer < slots; i++)
        HY_TRY(try(p, fewer, share, i, out));
    return HYBRID_OK;
}

/* For a resident A: compares small slots with cached packs of A against large slots
   without cached packs, and takes the layout with the shorter predicted run. */
static hybrid_status cut_resident(const hy_planning *p, hy_layout *out)
{
    hy_layout large;

    HY_TRY(try_all(p, HY_RESIDENT_SHARE, out));
    if (out->depth > 0)
        hy_layout_cache(p->portion, out);
    if (hy_layout_caches_all(out))
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
    HY_TRY(hy_schedule_scan(p));
    if (!p->extents->blocks)
        return HYBRID_OK;
    return p->product->options.flags & HYBRID_RESIDENT ? cut_resident(p, out)
                                                       : try_all(p, 1, out);
}

const hy_schedule hy_schedule_row_ring = {.name   = "ring of rows",
                                          .values = HY_WITH_COPIES | HY_WITH_RING |
                                                    HY_WITH_ROW_RING,
                                          .promise = promise,
                                          .cost    = cost,
                                          .cut     = cut};
