/* engine/plan/layout.c - how a product would lie on its device: a value, to be
   compared. */
#include "engine/plan/layout.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/plan/stream.h"
#include "partition/pattern/chunks.h"
#include "pipeline/site/pack_cache.h"
#include "pipeline/site/tenant.h"

enum {
    PINNED = 8,           /* buffers of the chunks of a device take at most 1 / PINNED of
                             the budget of host memory */
    LEAST_HOST = 1 << 16, /* but LEAST_HOST bytes of each buffer are always allowed */
    QUICK      = 4        /* reading QUICK bytes of host memory takes at least as long as
                             sending 1 byte */
};

/* ---- what is there ---------------------------------------------------------------- */

/* Finds which rows of B or X each chunk waits for (hy_chunk.x_begin and x_end). This
   reads column indices of A: a cache line for each row, or all indices if these are fewer
   bytes. If sending all of B or X takes less time than reading them, and the product runs
   once, every chunk waits for all of B or X instead. A ring of rows or entries always
   needs the exact rows. */
static hybrid_status find_x_ranges(const hy_planning *p, const hy_layout *layout)
{
    hy_context *ctx     = &p->product->engine->ctx;
    const hybrid_csr *A = p->A;
    const size_t rows = (size_t)A->rows * HY_LINE, all = (size_t)A->nnz * 4;
    const size_t read   = rows < all ? rows : all;
    const int runs_once = !(p->product->options.flags & (HYBRID_RESIDENT | HYBRID_REUSE));

    if (hy_image_is_ring(&layout->image)) {
        HY_TRY(hy_chunks_find_band(ctx, p->extents, layout->chunks, layout->count));
        if (p->B && A->row_ptr == p->B->row_ptr) /* A is squared: kernels read the chunk's
                                                    rows of A as rows of B */
            hy_chunks_read_own(layout->chunks, layout->count);
        return HYBRID_OK;
    }
    if (runs_once && layout->image_room <= read / QUICK) {
        hy_chunks_read_all(layout->chunks, layout->count, A->cols);
        return HYBRID_OK;
    }
    return hy_chunks_find_x_ranges(ctx, A, p->portion->profile.ends,
                                   p->product->op == HY_SPGEMM, layout->chunks,
                                   layout->count);
}

/* Returns the bytes of host memory that the pack of a chunk, and the rows of Y of an
   SpMM, may take (hy_cut.host_bytes): pinned memory counts against a budget that the
   caller set. */
static size_t host_share(const hy_portion *portion, int depth)
{
    const hy_memory *memory = &portion->product->engine->ctx.memory;

    if (!memory->strict || !hy_portion_on_device(portion))
        return 0;
    return hy_larger((size_t)hy_meter_cap(&memory->meter) / PINNED / (size_t)depth,
                     LEAST_HOST);
}

/* ---- chunks ----------------------------------------------------------------------- */

/* Returns the bytes of device memory to set aside for B or X, whose image takes `image`
   bytes. If the caller has the operand in device memory, only copies that kernels need
   take memory: offsets of B, or an X in another order. 0 for an X whose copy would not
   fit. */
static size_t room_of(const hy_portion *portion, size_t image)
{
    const hy_product *product = portion->product;

    if (!product->second_on)
        return image;
    if (product->op == HY_SPGEMM)
        return hy_align((size_t)(product->b_rows + 1) * 8);
    return image <= hy_allowed(portion->rates.memory, HY_ALLOW_MOST) ? image : 0;
}

hybrid_status hy_layout_cut(const hy_planning *p, hy_layout *layout)
{
    const hy_portion *portion = p->portion;
    const hy_product *product = portion->product;
    const size_t room         = hy_align(hy_image_room(&layout->image));
    const int gathered        = hy_image_is_gathered(&layout->image);
    const size_t room_taken   = gathered ? 0 : room_of(portion, room);
    const size_t parts        = (size_t)layout->share * (size_t)layout->depth;

    if (gathered && portion->variant->form == HY_FORM_NONE)
        layout->image.axis = HY_AXIS_NONE; /* packs contain the entries of B, so chunks
                                              gather nothing */
    const int64_t rows   = p->product->options.chunk_rows;
    const hy_cut request = {
        .A          = p->A,
        .B          = p->B,
        .profile    = &portion->profile,
        .variant    = portion->variant,
        .rates      = &portion->rates,
        .slot_bytes = hy_stream_slot(
            &portion->profile,
            (portion->rates.memory - hy_smaller(room_taken, portion->rates.memory)) /
                    parts &
                ~(size_t)255),
        .host_bytes   = host_share(portion, layout->depth * layout->share),
        .products_max = rows > 0 ? INT64_MAX : layout->products,
        .chunk_rows   = rows,
        .first_row    = p->product->first_row,
        .image        = layout->image};
    HY_TRY(
        hy_cut_chunks(&product->engine->ctx, &request, &layout->chunks, &layout->count));
    layout->image_bytes     = hy_product_sent(product, &layout->image);
    layout->image_room      = product->second_on ? 0 : room_taken;
    layout->converted_bytes = product->second_on ? room_taken : 0;
    const hybrid_status status =
        layout->image_room > 0 ? find_x_ranges(p, layout) : HYBRID_OK;
    if (status != HYBRID_OK)
        hy_layout_free(product, layout);
    return status;
}

hybrid_status hy_layout_try(const hy_planning *p, hy_layout *layout)
{
    const hybrid_status status = hy_layout_cut(p, layout);

    if (status != HYBRID_NO_DEVICE_MEMORY)
        return status;
    hy_message_clear(&p->product->engine->ctx.message);
    layout->depth = 0;
    return HYBRID_OK;
}

void hy_layout_free(const hy_product *product, hy_layout *layout)
{
    hy_array_free(&product->engine->ctx, layout->chunks);
    layout->chunks = NULL;
    layout->count  = 0;
    layout->depth  = 0;
}

/* ---- packs that stay -------------------------------------------------------------- */

void hy_layout_cache_beside(const hy_portion *portion, size_t image_room,
                            hy_layout *layout)
{
    const size_t memory = portion->rates.memory;
    const size_t others = hy_tenants_transient(portion->backend);
    const int lasts     = (portion->product->options.flags & HYBRID_RESIDENT) != 0;
    const size_t most   = lasts ? memory - hy_smaller(memory, others) : SIZE_MAX;

    hy_pack_cache_choose(&portion->rates, layout->depth,
                         memory - hy_smaller(memory, image_room), most, layout->chunks,
                         layout->count);
}

void hy_layout_cache(const hy_portion *portion, hy_layout *layout)
{
    hy_layout_cache_beside(
        portion, layout->count == 0 ? 0 : layout->image_room + layout->converted_bytes,
        layout);
}

int hy_layout_caches_all(const hy_layout *layout)
{
    return layout->count > 0 && layout->chunks[layout->count - 1].cached;
}
