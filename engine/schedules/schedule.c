/* engine/schedules/schedule.c - the table of schedules, and functions that they share. */
#include "engine/schedules/schedule.h"

#include "base/data/csr.h"
#include "engine/run/prefetch.h"
#include "engine/plan/grain.h"

enum {
    DEPTH = 4, /* slots of a site, which is the maximum number of chunks in flight */
    DEPTH_SMALL = 6, /* slots of a site for an SpMM with small chunks. Chunks count as
                        small if A and Y have at most CACHED_BYTES bytes * CHUNKS /
                        DEPTH_SMALL, so that all chunks in flight stay in the last-level
                        cache */
    CHUNKS       = 16,
    CACHED_BYTES = 48 << 20,
    LEAST_ROWS   = 4 * HY_RING_PIECES /* minimum rows of X in a ring */
};

const hy_schedule *const hy_schedules[] = {
#define HY_SCHEDULE(name) &name,
#include "engine/schedules/schedules.def"
#undef HY_SCHEDULE
    NULL,
};

/* ---- sizes --------------------------------------------------------------------- */

/* Returns options.depth or p->slots if they are set. Else returns one slot if operands
   and result are in device memory, because there are no copies to overlap with. Returns
   two slots (with one thread: one) for an SpGEMM on a host with few cores: a core begins
   the next chunk while others end the one before. Otherwise returns DEPTH. */
int hy_slots_fewer(const hy_planning *p)
{
    const hy_product *product = p->product;

    if (product->options.depth > 0)
        return product->options.depth;
    if (p->slots > 0)
        return p->slots;
    if (hy_product_in_gpu_memory(product))
        return 1;
    if (!hy_portion_by_few(p->portion))
        return DEPTH;
    return hy_pool_threads(product->engine->ctx.pool) == 1 ? 1 : 2;
}

/* Returns DEPTH_SMALL for an SpMM with small chunks, else what hy_slots_fewer() returns.
   Workers pack the chunks of an SpMM and store its rows of Y. With more slots, other
   chunks are ready while one waits for the device. But the buffers of all chunks in
   flight must stay in the last-level cache. */
int hy_slots(const hy_planning *p)
{
    const hy_portion *portion = p->portion;
    const hy_product *product = portion->product;
    const hy_features *f      = &portion->profile.features;
    const size_t bytes        = (size_t)hy_csr_bytes(f->rows, f->nnz, f->type) +
                         (size_t)f->out_bound * hy_value_size(f->type);

    if (product->options.depth == 0 && product->op == HY_SPMM &&
        hy_portion_on_device(portion) && !hy_product_in_gpu_memory(product) &&
        bytes / CHUNKS * DEPTH_SMALL <= CACHED_BYTES)
        return DEPTH_SMALL;
    return hy_slots_fewer(p);
}

/* ---- rings --------------------------------------------------------------------- */

int64_t hy_ring_rows(const hy_portion *portion, hy_allowance part)
{
    const hy_product *product = portion->product;
    const size_t bytes        = hy_allowed(portion->rates.memory, part);
    const hy_image whole      = hy_portion_image(portion);
    const hy_image one        = hy_image_row_ring(&whole, 1);
    const size_t row          = hy_image_room(&one);

    if (row == 0)
        return 0;
    const int64_t rows = (int64_t)((bytes & ~(size_t)255) / row);
    const int64_t most = product->b_rows < INT32_MAX ? product->b_rows : INT32_MAX;
    return rows < LEAST_ROWS ? 0 : rows < most ? rows : most;
}

hybrid_status hy_schedule_scan(const hy_planning *p)
{
    const int64_t largest = hy_ring_rows(p->portion, HY_ALLOW_MOST);
    const int64_t most =
        largest < p->product->b_rows ? hy_ring_max_span(largest) : largest;

    if (p->extents->A)
        return HYBRID_OK;
    if (p->product->op == HY_SPGEMM)
        return hy_extents_take(&p->product->engine->ctx, p->A, &p->portion->profile,
                               p->extents);
    p->extents->A = p->A;
    return largest == 0
               ? HYBRID_OK
               : hy_extents_find(&p->product->engine->ctx, p->A, most, p->extents);
}

/* ---- estimates ----------------------------------------------------------------- */

hy_estimate hy_schedule_even(const hy_planning *p, const hy_layout *layout)
{
    const hy_circumstances found = hy_circumstances_planned(p->portion, p->A, p->B);

    return hy_estimate_even(p->portion, &p->features, layout, hy_prefetch_x_end(p->A),
                            hy_grain_chunks(p, layout), &found);
}

double hy_schedule_layout_s(const hy_planning *p, const hy_layout *layout)
{
    const hy_circumstances found = hy_circumstances_planned(p->portion, p->A, p->B);
    const hy_estimate e          = hy_estimate_device(p->portion, layout, &found);

    return hy_estimate_seconds(p->portion, &e);
}

/* ---- layouts ------------------------------------------------------------------- */

hybrid_status hy_schedule_first(const hy_planning *p, const hy_layout *asked, int count,
                                hy_layout *out)
{
    hybrid_status status = HYBRID_NO_DEVICE_MEMORY;

    for (int i = 0; i < count && status == HYBRID_NO_DEVICE_MEMORY; i++) {
        if (asked[i].depth == 0)
            continue;
        hy_message_clear(&p->product->engine->ctx.message);
        *out          = asked[i];
        out->products = hy_grain_products(p, out);
        status        = hy_layout_cut(p, out);
    }
    return status;
}
