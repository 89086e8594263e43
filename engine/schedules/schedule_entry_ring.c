/* engine/schedules/schedule_entry_ring.c - B passes through the device in a ring of its
   entries.

   This is for SpGEMM what the ring of rows (schedule_row_ring.c) is for SpMM: if A is
   banded, each chunk touches rows of B near its own, and a ring sends every row of B once
   and in order, where gathering would send and copy some rows with several chunks.

   Rows of B have different sizes, so the ring holds entries: entry e is at position e mod
   `held` of one array of columns and one of values. The offsets of all rows stay on the
   device as they are. Kernels read entry e at e minus a multiple of `held`, which is the
   same for all rows that a chunk touches. These rows may lie across the end of the ring,
   so the first `span` entries of the ring are stored behind its end, too, and no chunk
   touches rows of B with more than `span` entries between the first and the last.

   The rest works as in the ring of rows: the loader replaces an entry once no chunk needs
   its row, and a chunk begins when the last row that it touches has been sent.

   Each of several devices has a ring of its own. It receives no rows of B before the
   first row that its next chunk touches.

   Slots share the memory that the ring leaves, and large slots make few chunks. A larger
   ring sends fewer entries twice. The ring takes the part of the budget with the shortest
   predicted run, of those that hold what the chunks in flight touch. Two numbers predict
   what they touch: the widest window, which is the largest number of entries of B that
   neighbouring rows of A touch, and the advance from one chunk to the next. */
#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "engine/plan/grain.h"
#include "engine/schedules/schedule.h"

enum {
    SHARES        = 16, /* the budget is divided into SHARES equal shares */
    MOST_SHARES   = 14, /* maximum number of shares that the ring takes */
    LEAST_ENTRIES = 64 * HY_RING_PIECES,
    TWICE         = 4, /* a run should send at most 1 / TWICE of the entries of B a
                          second time */
    GAP   = 256,       /* arrays of an image are aligned to this many bytes */
    SPARE = 8,         /* with a sampled profile, chunks may touch 1 / SPARE more entries
                          of B than estimated */
    BLOCKS = 1 << 12   /* blocks of rows that one worker takes at a time */
};

/* ---- sizes --------------------------------------------------------------------- */

/* Returns the number of entries of B for which this many shares of the budget have room
   beside the offsets of B. */
static int64_t entries_of(const hy_portion *portion, int shares)
{
    const hy_image whole = hy_portion_image(portion);
    const hy_image none  = hy_image_entry_ring(&whole, 1, 0);
    const size_t bytes =
        portion->rates.memory / SHARES * (size_t)shares & ~(size_t)(GAP - 1);
    const size_t fixed = hy_image_room(&none) + 2 * GAP;
    const size_t each  = 4 + hy_value_size(portion->profile.type);

    return bytes > fixed ? (int64_t)((bytes - fixed) / each) : 0;
}

/* Returns the entries that a ring stores twice for chunks that are estimated to touch
   `span` entries. */
static int64_t spared(const hy_profile *profile, int64_t span)
{
    return hy_profile_is_sampled(profile) ? span + span / SPARE : span;
}

/* Returns a layout whose ring takes this many shares of the budget and stores `span`
   entries twice. The layout has 0 slots if such a ring would be too small. */
static hy_layout asked_for(const hy_planning *p, int slots, int shares, int64_t span)
{
    const hy_image whole = hy_portion_image(p->portion);
    const int64_t held   = entries_of(p->portion, shares) - span;

    return (hy_layout){.image = hy_image_entry_ring(&whole, hy_max(held, 1), span),
                       .depth = held < LEAST_ENTRIES ? 0 : slots,
                       .share = 1};
}

/* ---- the window ------------------------------------------------------------------ */

typedef struct widest {
    const hy_extents *extents;
    const hybrid_csr *B;
    int64_t entries; /* largest number of entries found so far; atomic */
} widest;

static hybrid_status find_widest(void *arg, int part, int64_t begin, int64_t end)
{
    widest *w    = arg;
    int64_t most = 0;

    (void)part;
    for (int64_t b = begin; b < end; b++) {
        const hy_extent rows = w->extents->blocks[b];
        if (rows.first < rows.end)
            most = hy_max(most, hy_offset(w->B, rows.end) - hy_offset(w->B, rows.first));
    }
    hy_raise_to(&w->entries, most);
    return HYBRID_OK;
}

/* Sets *out to the largest number of entries of B from the first to the last row that
   HY_ENDS_ROWS neighbouring rows of A touch. */
static hybrid_status find_window(const hy_planning *p, int64_t *out)
{
    widest w = {p->extents, p->B, 0};

    HY_TRY(hy_pool_for(p->product->engine->ctx.pool, HY_PLAN, 0, p->extents->count,
                       BLOCKS, find_widest, &w));
    *out = w.entries;
    return HYBRID_OK;
}

/* ---- the ring to use ------------------------------------------------------------- */

/* A ring of entries that cut() may choose. */
typedef struct ring {
    hy_layout asked; /* layout with this ring; 0 slots: there is no such ring */
    int shares;      /* number of shares of the budget that the ring takes */
    double seconds;  /* predicted seconds of a run with this ring */
} ring;

/* Returns the ring with this many shares of the budget for chunks that touch `window`
   entries of B. It has 0 slots if it would probably not hold what the chunks in flight
   touch. Chunks have about equal numbers of scalar products, so each begins about equally
   many entries of B after the one before. */
static ring ring_of(const hy_planning *p, int shares, int64_t window)
{
    const int slots = hy_slots_fewer(p);
    ring r          = {asked_for(p, slots, shares, 0), shares, INFINITY};

    if (r.asked.depth == 0)
        return r;
    r.asked.products = hy_grain_products(p, &r.asked);
    const double part =
        (double)r.asked.products / (double)hy_max(p->features.products, 1);
    const int64_t ahead = (int64_t)(fmin(part, 1) * (double)p->product->b_nnz);
    const hy_layout as =
        asked_for(p, slots, shares, spared(&p->portion->profile, window + ahead));
    r.asked.image = as.image;
    r.asked.depth = as.depth;
    if (window + slots * ahead > hy_ring_max_span(as.image.held))
        r.asked.depth = 0;
    if (r.asked.depth > 0) {
        const hy_estimate e = hy_schedule_even(p, &r.asked);
        r.seconds           = hy_estimate_seconds(p->portion, &e);
    }
    return r;
}

/* Returns the ring with the shortest predicted run. If that ring sends more than 1 /
   TWICE of B twice, and another does not and is predicted to be about as fast
   (hy_is_sooner()), returns the other. Rings are tried from small to large, until slots
   become so small that runs take longer. */
static ring choose(const hy_planning *p, int64_t window)
{
    ring best = {.seconds = INFINITY}, frugal = best;

    for (int i = 1; i <= MOST_SHARES; i++) {
        const ring r   = ring_of(p, i, window);
        const int once = r.asked.image.held >= TWICE * r.asked.image.span;
        if (r.asked.depth == 0)
            continue;
        if (hy_is_sooner(best.seconds, r.seconds))
            break;
        best   = r.seconds < best.seconds ? r : best;
        frugal = once && r.seconds < frugal.seconds ? r : frugal;
    }
    return hy_is_sooner(best.seconds, frugal.seconds) ? best : frugal;
}

/* ---- estimates ------------------------------------------------------------------- */

/* Returns 1 if the ring exists and does not hold all of B. */
static int is_ring(const hy_planning *p, const hy_layout *asked)
{
    return asked->depth > 0 && asked->image.held < p->product->b_nnz;
}

/* Estimates the smallest ring, which leaves the most memory to the slots. The estimate
   has 0 chunks if no ring is possible or all of B fits. */
static hy_estimate promise(const hy_planning *p)
{
    hy_layout asked = {.depth = 0};

    for (int i = 1; i <= MOST_SHARES && asked.depth == 0; i++)
        asked = asked_for(p, hy_slots_fewer(p), i, 0);
    return is_ring(p, &asked) ? hy_schedule_even(p, &asked) : (hy_estimate){.chunks = 0};
}

static hybrid_status cost(const hy_planning *p, hy_estimate *out)
{
    int64_t window;

    *out = (hy_estimate){.chunks = 0};
    HY_TRY(hy_schedule_scan(p));
    HY_TRY(find_window(p, &window));
    const ring r = choose(p, window);
    if (is_ring(p, &r.asked))
        *out = hy_schedule_even(p, &r.asked);
    return HYBRID_OK;
}

/* ---- the cut --------------------------------------------------------------------- */

/* Returns the number of entries of B from the first row that chunk k or a later one
   touches to the last row that chunk i touches. */
static int64_t reach(const hy_layout *layout, const hybrid_csr *B, int64_t k, int64_t i)
{
    const int64_t first = hy_offset(B, layout->chunks[k].x_begin);

    return hy_max(0, hy_offset(B, layout->chunks[i].x_end) - first);
}

/* Divides the room between the ring and the entries that are stored twice. Returns 1 if
   the ring then holds what each chunk touches together with the `following` chunks after
   it, and the piece that brings the last of it. */
static int divide(const hy_profile *profile, hy_layout *layout, const hybrid_csr *B,
                  int64_t following)
{
    hy_image *image    = &layout->image;
    const int64_t room = image->held + image->span;
    int64_t most       = 0;

    image->span = 1;
    for (int64_t k = 0; k < layout->count; k++) {
        const int64_t last = hy_min(k + following, layout->count - 1);
        image->span        = hy_max(image->span, reach(layout, B, k, k));
        for (int64_t i = k; i <= last; i++)
            most = hy_max(most, reach(layout, B, k, i));
    }
    image->span         = spared(profile, image->span);
    image->held         = room - image->span;
    layout->image_bytes = image->held > 0 ? hy_image_bytes(image) : 0;
    return hy_max(most, image->span) <= hy_ring_max_span(image->held);
}

/* Makes a layout with the ring of `asked`. The layout has 0 slots if the ring, or the
   memory left for the slots, is too small. The ring must hold what each chunk and the
   `following` chunks after it touch together. */
static hybrid_status try(const hy_planning *p, const hy_layout *asked, int64_t following,
                         hy_layout *out)
{
    *out = *asked;
    HY_TRY(hy_layout_try(p, out));
    if (out->depth > 0 && !divide(&p->portion->profile, out, p->B, following))
        hy_layout_free(p->product, out);
    return HYBRID_OK;
}

/* Tries the ring that choose() returns, and larger ones if chunks need more than was
   predicted. */
static hybrid_status cut_chosen(const hy_planning *p, int64_t window, hy_layout *out)
{
    const ring chosen = choose(p, window);

    for (int i = chosen.shares; i > 0 && i <= MOST_SHARES && out->depth == 0; i++) {
        const ring r = ring_of(p, i, window);
        if (r.asked.depth > 0)
            HY_TRY(try(p, &r.asked, r.asked.depth - 1, out));
    }
    return HYBRID_OK;
}

/* Tries large rings, and fewer and fewer slots, if the ring holds only what one chunk at
   a time touches. */
static hybrid_status cut_large(const hy_planning *p, hy_layout *out)
{
    for (int slots = hy_slots_fewer(p); slots > 0 && out->depth == 0; slots /= 2)
        for (int i = MOST_SHARES; i > 0 && out->depth == 0; i -= SHARES / 8) {
            hy_layout asked = asked_for(p, slots, i, 0);
            if (asked.depth == 0)
                continue;
            asked.products = hy_grain_products(p, &asked);
            HY_TRY(try(p, &asked, 0, out));
        }
    return HYBRID_OK;
}

static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    int64_t window;

    *out = (hy_layout){.depth = 0};
    HY_TRY(hy_schedule_scan(p));
    HY_TRY(find_window(p, &window));
    HY_TRY(cut_chosen(p, window, out));
    return out->depth > 0 ? HYBRID_OK : cut_large(p, out);
}

const hy_schedule hy_schedule_entry_ring = {.name   = "ring of entries",
                                            .values = HY_WITH_COPIES | HY_WITH_ENTRY_RING,
                                            .promise = promise,
                                            .cost    = cost,
                                            .cut     = cut};
