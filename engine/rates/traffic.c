/* engine/rates/traffic.c - bytes that a plan and its alternative will copy. */
#include "engine/rates/traffic.h"

#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/report/least.h"
#include "engine/schedules/touch_samples.h"
#include "partition/parts/passes.h"
#include "partition/pattern/chunks.h"
#include "partition/format/pack.h"

static int64_t pack_bytes(const hy_portion *portion, const hy_chunk *chunk,
                          const hy_features *f)
{
    const hy_cost cost = chunk->variant->cost(f, &portion->rates);
    return (int64_t)hy_sent_bytes(&cost);
}

/* Returns the bytes of the chunk's rows of A, without gathered rows. In passes, the
   chunk's own features are those of its largest pass. */
static int64_t own_bytes(const hy_portion *portion, const hy_chunk *chunk)
{
    hy_features f = chunk->features;

    if (hy_image_in_passes(&portion->layout.image))
        f = hy_profile_range(&portion->profile, chunk->row_begin, chunk->row_end,
                             chunk->col_end);
    f.gather_rows = f.gather_nnz = 0;
    return pack_bytes(portion, chunk, &f);
}

int hy_traffic_same(const hy_portion *portion, const hybrid_csr *A, const hybrid_csr *B)
{
    return B && portion->backend->ops->rebase && hy_pack_csr_same(portion->variant, A, B);
}

/* Returns the bytes up (to the device) with B or X on the device: the image, and the rows
   of A unless they are rows of B. Rows of A are sent once if they are cached, else with
   every column block. */
static int64_t resident_up(const hy_portion *portion, const hy_layout *layout,
                           const hybrid_csr *A, const hybrid_csr *B)
{
    const int64_t ranges     = hy_chunk_ranges(layout->chunks, layout->count);
    const int64_t col_blocks = hy_image_col_blocks(&layout->image);
    int64_t sum              = (int64_t)layout->image_bytes;

    if (portion->product->a_on || hy_traffic_same(portion, A, B))
        return sum;
    for (int64_t i = 0; i < ranges; i++)
        sum += own_bytes(portion, &layout->chunks[i]) *
               (layout->chunks[i].cached ? 1 : col_blocks);
    return sum;
}

/* Returns the bytes of the cached packs. They are sent once, and again after A has
   changed. */
static int64_t cached_up(const hy_portion *portion, const hy_layout *layout)
{
    const int64_t ranges = hy_chunk_ranges(layout->chunks, layout->count);
    int64_t sum          = 0;

    for (int64_t i = 0; i < ranges && layout->chunks[i].cached; i++)
        sum += own_bytes(portion, &layout->chunks[i]);
    return sum;
}

/* Returns the bytes of the list of rows that the device reads itself; 0 if workers gather
   the rows. */
static int64_t list_bytes(const hy_layout *layout, const hy_chunk *chunk)
{
    return hy_image_is_collected(&layout->image) ? 8 * chunk->features.gather_rows : 0;
}

/* Returns the bytes of the packs of all chunks that bring B in passes. Every pass has
   offsets of all rows of the chunk. All but the first have an entry for each row, and
   room for the offset of the row's sums. */
static int64_t passes_up(const hy_portion *portion, const hy_layout *layout)
{
    const hy_product *product = portion->product;
    const hy_features *f      = &portion->profile.features;
    const int64_t passes      = hy_passes(&layout->image);
    const int64_t entry       = 4 + (int64_t)hy_value_size(f->type);
    const int64_t b =
        hy_csr_bytes(product->b_rows, product->b_nnz, f->type) + 8 * (passes - 1);
    const int64_t a = 8 * passes * (f->rows + layout->count) + f->nnz * entry +
                      (passes - 1) * f->rows * (entry + 8);

    return a + layout->count * b;
}

/* Returns the bytes of the packs of all chunks, gathered rows included. */
static int64_t packed_up(const hy_portion *portion, const hy_layout *layout)
{
    int64_t sum = 0;

    if (hy_image_in_passes(&layout->image))
        return passes_up(portion, layout);
    for (int64_t i = 0; i < layout->count; i++)
        sum += pack_bytes(portion, &layout->chunks[i], &layout->chunks[i].features) +
               list_bytes(layout, &layout->chunks[i]);
    return sum;
}

/* Returns the bytes of the rows that a chunk would gather. */
static int64_t brought(const hy_portion *portion, const hy_chunk *chunk,
                       const hy_touch *touched)
{
    hy_features f = chunk->features;

    f.gather_rows = touched->rows;
    f.gather_nnz  = touched->nnz;
    return pack_bytes(portion, chunk, &f) - own_bytes(portion, chunk);
}

/* Estimates the bytes up if each chunk gathered the rows of B or X that it touches. The
   layout has B or X on the device. Rows are counted for a few chunks, and scaled up by
   the number of entries of A. */
static hybrid_status find_gathered_up(const hy_portion *portion, const hy_layout *layout,
                                      const hybrid_csr *A, const hybrid_csr *B,
                                      int64_t *up)
{
    const int64_t col_blocks = hy_image_col_blocks(&layout->image);
    const int64_t count      = layout->count / col_blocks;
    hy_touch_samples s       = {.count = hy_min(count, HY_TOUCH_SAMPLES)};
    int64_t nnz = 0, bytes = 0;

    for (int64_t k = 0; k < s.count; k++)
        s.chunks[k] = layout->chunks[(2 * k + 1) * count / (2 * s.count)];
    HY_TRY(hy_touch_count(portion, A, B, &s));
    for (int64_t k = 0; k < s.count; k++) {
        bytes += brought(portion, &s.chunks[k], &s.touched[k]);
        nnz += s.chunks[k].features.nnz;
    }
    *up = 0;
    for (int64_t i = 0; i < count; i++)
        *up += own_bytes(portion, &layout->chunks[i]);
    if (nnz > 0)
        *up += (int64_t)((double)bytes * (double)col_blocks *
                         (double)portion->profile.features.nnz / (double)nnz);
    return HYBRID_OK;
}

int64_t hy_traffic_dense_up(const hy_portion *portion, const hy_layout *layout)
{
    if (hy_image_is_gathered(&layout->image))
        return packed_up(portion, layout);
    const int64_t cached = portion->product->options.flags & HYBRID_RESIDENT
                               ? cached_up(portion, layout)
                               : 0;
    return resident_up(portion, layout, NULL, NULL) - cached;
}

int64_t hy_traffic_first(const hy_portion *portion)
{
    const hy_pack_cache *cache = &portion->site->cache;
    int64_t sum                = 0;

    for (int64_t i = 0; i < cache->count; i++)
        if (cache->packs[i].bytes == 0)
            sum += own_bytes(portion, &portion->layout.chunks[i]);
    return sum;
}

double hy_traffic_cached(const hy_portion *portion)
{
    if (!portion->site->cache.lasts)
        return 0;
    const int64_t left = hy_traffic_first(portion);
    return left == 0 ? 1
                     : 1 - (double)left / (double)cached_up(portion, &portion->layout);
}

static int64_t result_down(const hy_portion *portion, const hy_layout *layout)
{
    const hy_product *product = portion->product;
    const hy_features *f      = &portion->profile.features;
    const int64_t size        = (int64_t)hy_value_size(f->type);

    if (product->result_on)
        return 0;
    if (product->op == HY_SPMM)
        return f->out_bound * size;
    return (f->rows + layout->count) * 8 + (int64_t)hy_expected_entries(f) * (4 + size);
}

/* Returns the bytes up (to the device) if X were not gathered: those of a ring, if
   planning considered one, else those of a whole X. */
static int64_t whole_up(const hy_portion *portion, const hy_layout *layout,
                        const hybrid_csr *A, const hybrid_csr *B)
{
    return layout->ways_up.ring >= 0 ? layout->ways_up.ring
                                     : resident_up(portion, layout, A, B);
}

/* Returns the bytes of B in the packs of all chunks, and sets *most to the largest number
   of such bytes in one chunk. */
static int64_t gathered_b(const hy_portion *portion, int64_t *most)
{
    const hy_layout *layout = &portion->layout;
    int64_t sum             = 0;

    *most = 0;
    for (int64_t i = 0; i < layout->count; i++) {
        const hy_chunk *chunk = &layout->chunks[i];
        const int64_t bytes =
            pack_bytes(portion, chunk, &chunk->features) - own_bytes(portion, chunk);
        sum += bytes;
        *most = hy_max(*most, bytes);
    }
    return sum;
}

/* Sets the bytes of B that are sent, and the least that would be sent if the memory in
   which rows of B lie, in an image or in the slots, were used in the best way. */
static hybrid_status find_b(const hy_portion *portion, const hybrid_csr *A,
                            const hybrid_csr *B, hy_traffic *out)
{
    const hy_layout *layout   = &portion->layout;
    const hy_product *product = portion->product;
    int64_t room              = (int64_t)layout->image_room;

    if (!B || !(product->options.flags & HYBRID_EXPLAIN) || product->a_on ||
        product->second_on || portion->variant->form == HY_FORM_NONE)
        return HYBRID_OK;
    out->b_up = (int64_t)layout->image_bytes;
    if (hy_image_in_passes(&layout->image)) {
        out->b_up = layout->count * hy_csr_bytes(B->rows, B->nnz, B->type);
        room      = layout->image.block * layout->depth;
    } else if (hy_image_is_gathered(&layout->image)) {
        out->b_up = gathered_b(portion, &room);
        room *= layout->depth;
    }
    HY_TRY(hy_least_sent(&product->engine->ctx, A, B, layout->chunks, layout->count, room,
                         &out->b_least));
    out->b_least = hy_min(out->b_least, out->b_up); /* a sample may have too many bytes */
    return HYBRID_OK;
}

hybrid_status hy_traffic_find(const hy_portion *portion, const hybrid_csr *A,
                              const hybrid_csr *B, hy_traffic *out)
{
    const hy_layout *layout   = &portion->layout;
    const hy_product *product = portion->product;

    *out = (hy_traffic){.other_up = -1, .b_up = -1, .b_least = -1};
    if (!hy_portion_on_device(portion) || layout->count == 0)
        return HYBRID_OK;
    HY_TRY(find_b(portion, A, B, out));
    out->down = result_down(portion, layout);
    if (portion->variant->form == HY_FORM_NONE || hy_image_is_gathered(&layout->image)) {
        out->up = packed_up(portion, layout);
        if (portion->variant->form != HY_FORM_NONE)
            out->other_up = whole_up(portion, layout, A, B);
        return HYBRID_OK;
    }
    const int64_t cached =
        product->options.flags & HYBRID_RESIDENT ? cached_up(portion, layout) : 0;
    out->up       = resident_up(portion, layout, A, B) - cached;
    out->other_up = layout->ways_up.gathered;
    if (layout->ways_up.gathered >= 0)
        return HYBRID_OK;
    return product->options.flags & HYBRID_EXPLAIN
               ? find_gathered_up(portion, layout, A, B, &out->other_up)
               : HYBRID_OK;
}
