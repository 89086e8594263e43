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
   its row, and a chunk begins when the last row that it touches has been sent. */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/plan/grain.h"
#include "engine/schedules/schedule.h"

static const hy_allowance parts[] = {HY_ALLOW, HY_ALLOW_MORE, HY_ALLOW_MOST};

enum {
    PARTS         = sizeof parts / sizeof *parts,
    LEAST_ENTRIES = 64 * HY_RING_PIECES,
    GAP           = 256 /* arrays of an image are aligned to this many bytes */
};

/* Returns the entries for which this part of the budget has room beside the offsets of
   B. */
static int64_t entries_of(const hy_portion *portion, hy_allowance part)
{
    const hy_image whole = hy_portion_image(portion);
    const hy_image none  = hy_image_entry_ring(&whole, 1, 0);
    const size_t bytes   = hy_allowed(portion->rates.memory, part) & ~(size_t)255;
    const size_t fixed   = hy_image_room(&none) + 2 * GAP;
    const size_t each    = 4 + hy_value_size(portion->profile.type);

    return bytes > fixed ? (int64_t)((bytes - fixed) / each) : 0;
}

/* Returns a layout whose ring takes room for `entries` entries. */
static hy_layout asked_for(const hy_planning *p, int slots, int64_t entries)
{
    const hy_image whole = hy_portion_image(p->portion);
    const int64_t span   = entries / 4;

    return (hy_layout){.image = hy_image_entry_ring(&whole, entries - span, span),
                       .depth = slots,
                       .share = 1};
}

/* A ring that holds all of B is refused: B then fits whole. */
static hy_estimate promise(const hy_planning *p)
{
    int64_t entries = 0;

    for (int i = 0; i < PARTS && entries < LEAST_ENTRIES; i++)
        entries = entries_of(p->portion, parts[i]);
    if (entries < LEAST_ENTRIES || entries >= p->product->b_nnz)
        return (hy_estimate){.chunks = 0};
    const hy_layout asked = asked_for(p, hy_slots_fewer(p->portion), entries);
    return hy_schedule_even(p, &asked);
}

static hybrid_status cost(const hy_planning *p, hy_estimate *out)
{
    HY_TRY(hy_schedule_scan(p));
    *out = p->extents->blocks ? promise(p) : (hy_estimate){.chunks = 0};
    return HYBRID_OK;
}

/* Returns the entries of B from the first row that chunk k and later ones touch to the
   last row that chunk i touches. */
static int64_t reach(const hy_layout *layout, const hybrid_csr *B, int64_t k, int64_t i)
{
    const int64_t first = hy_offset(B, layout->chunks[k].x_begin);

    return hy_max(0, hy_offset(B, layout->chunks[i].x_end) - first);
}

/* Divides the room between the ring and the entries that are stored twice. Returns 1 if
   the ring then holds what each chunk touches together with the `following` chunks after
   it, and the piece that brings the last of it. */
static int divide(hy_layout *layout, const hybrid_csr *B, int64_t following)
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
    image->held         = room - image->span;
    layout->image_bytes = image->held > 0 ? hy_image_bytes(image) : 0;
    return most <= hy_ring_max_span(image->held);
}

/* Makes a layout with this part of the budget; 0 slots if the ring, or the rest for the
   slots, is too small. `following` chunks should be in flight together with each. */
static hybrid_status try(const hy_planning *p, hy_allowance part, int slots,
                         int following, hy_layout *out)
{
    const int64_t entries = entries_of(p->portion, part);

    *out = (hy_layout){.depth = 0};
    if (entries < LEAST_ENTRIES)
        return HYBRID_OK;
    *out          = asked_for(p, slots, entries);
    out->products = hy_grain_products(p, out);
    HY_TRY(hy_layout_try(p, out));
    if (out->depth > 0 && !divide(out, p->B, following))
        hy_layout_free(p->product, out);
    return HYBRID_OK;
}

/* The ring should hold what all chunks in flight touch. If no part of the budget allows
   that, what one chunk touches is enough; then fewer slots are tried. */
static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    const int slots = hy_slots_fewer(p->portion);

    *out = (hy_layout){.depth = 0};
    HY_TRY(hy_schedule_scan(p));
    if (!p->extents->blocks)
        return HYBRID_OK;
    for (int i = 0; i < PARTS && out->depth == 0; i++)
        HY_TRY(try(p, parts[i], slots, slots - 1, out));
    for (int few = slots; few > 0 && out->depth == 0; few /= 2)
        for (int i = PARTS - 1; i >= 0 && out->depth == 0; i--)
            HY_TRY(try(p, parts[i], few, 0, out));
    return HYBRID_OK;
}

const hy_schedule hy_schedule_entry_ring = {.name   = "ring of entries",
                                            .values = HY_WITH_COPIES | HY_WITH_ENTRY_RING,
                                            .promise = promise,
                                            .cost    = cost,
                                            .cut     = cut};
