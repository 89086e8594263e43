/* engine/traffic.c - bytes that a plan will move, and those of the way it did not take.
 */
#include "engine/traffic.h"

#include "base/csr.h"
#include "base/pool.h"
#include "partition/chunks.h"
#include "partition/pack.h"
#include "partition/touched.h"

enum { SAMPLES = 4 }; /* chunks of which the touched rows are counted */

static int64_t pack_bytes(const hy_product *product, const hy_chunk *chunk,
                          const hy_features *f)
{
    const hy_cost cost = chunk->variant->cost(f, &product->rates);
    return (int64_t)hy_sent_bytes(&cost);
}

/* The chunk's rows of A, alone. */
static int64_t own_bytes(const hy_product *product, const hy_chunk *chunk)
{
    hy_features f = chunk->features;

    f.gather_rows = f.gather_nnz = 0;
    return pack_bytes(product, chunk, &f);
}

int hy_traffic_same(const hy_product *product, const hybrid_csr *A, const hybrid_csr *B)
{
    return B && product->backend->ops->rebase && hy_pack_csr_same(product->variant, A, B);
}

/* With B or X on the device: its image, and the rows of A, unless they are rows of it:
   with each panel, but for those that stay. */
static int64_t resident_up(const hy_product *product, const hy_layout *layout,
                           const hybrid_csr *A, const hybrid_csr *B)
{
    const int64_t ranges = hy_chunk_ranges(layout->chunks, layout->count);
    const int64_t panels = hy_image_col_blocks(&layout->image);
    int64_t sum          = (int64_t)layout->resident_bytes;

    if (hy_traffic_same(product, A, B))
        return sum;
    for (int64_t i = 0; i < ranges; i++)
        sum += own_bytes(product, &layout->chunks[i]) *
               (layout->chunks[i].kept ? 1 : panels);
    return sum;
}

/* Packs that stay: sent in the first run, and whenever A has changed. */
static int64_t kept_up(const hy_product *product, const hy_layout *layout)
{
    const int64_t ranges = hy_chunk_ranges(layout->chunks, layout->count);
    int64_t sum          = 0;

    for (int64_t i = 0; i < ranges && layout->chunks[i].kept; i++)
        sum += own_bytes(product, &layout->chunks[i]);
    return sum;
}

/* Packs as they were cut, with what they carry. */
static int64_t packed_up(const hy_product *product, const hy_layout *layout)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < layout->count; i++)
        sum += pack_bytes(product, &layout->chunks[i], &layout->chunks[i].features);
    return sum;
}

/* Bytes of the rows of B or X that a chunk would bring. */
static hybrid_status gathered_bytes(const hy_product *product, const hy_chunk *chunk,
                                    const hybrid_csr *A, const hybrid_csr *B,
                                    int64_t *bytes)
{
    hy_context *ctx      = &product->engine->ctx;
    hy_features f        = chunk->features;
    hybrid_status status = HYBRID_OK;
    hy_touched touched;

    HY_TRY_ELSE_DONE(hy_touched_find(ctx, A, chunk->row_begin, chunk->row_end, &touched));
    f.gather_rows = touched.count;
    f.gather_nnz  = 0;
    for (int64_t r = 0; B && r < touched.count; r++)
        f.gather_nnz +=
            hy_offset(B, (int64_t)touched.rows[r] + 1) - hy_offset(B, touched.rows[r]);
    *bytes = pack_bytes(product, chunk, &f) - own_bytes(product, chunk);
done:
    hy_touched_free(ctx, &touched);
    return status;
}

typedef struct sampling {
    const hy_product *product;
    const hybrid_csr *A, *B;
    const hy_chunk *chunks[SAMPLES];
    int64_t bytes[SAMPLES]; /* that each would bring */
} sampling;

static hybrid_status count_samples(void *arg, int part, int64_t begin, int64_t end)
{
    sampling *s = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++)
        HY_TRY(gathered_bytes(s->product, s->chunks[k], s->A, s->B, &s->bytes[k]));
    return HYBRID_OK;
}

hybrid_status hy_traffic_gathered_up(const hy_product *product, const hy_layout *layout,
                                     const hybrid_csr *A, const hybrid_csr *B,
                                     int64_t *up)
{
    const int64_t panels = hy_image_col_blocks(&layout->image);
    const int64_t count  = layout->count / panels;
    const int64_t tried  = count < SAMPLES ? count : SAMPLES;
    hy_pool *pool        = product->engine->ctx.pool;
    sampling s           = {.product = product, .A = A, .B = B};
    int64_t nnz = 0, bytes = 0;

    for (int64_t k = 0; k < tried; k++)
        s.chunks[k] = &layout->chunks[(2 * k + 1) * count / (2 * tried)];
    HY_TRY(hy_pool_for(pool, HY_PLAN, 0, tried, 1, count_samples, &s));
    for (int64_t k = 0; k < tried; k++) {
        bytes += s.bytes[k];
        nnz += s.chunks[k]->features.nnz;
    }
    *up = 0;
    for (int64_t i = 0; i < count; i++)
        *up += own_bytes(product, &layout->chunks[i]);
    if (nnz > 0)
        *up += (int64_t)((double)bytes * (double)panels * (double)A->nnz / (double)nnz);
    return HYBRID_OK;
}

int64_t hy_traffic_dense_up(const hy_product *product, const hy_layout *layout)
{
    if (layout->gathered)
        return packed_up(product, layout);
    const int64_t kept =
        product->options.flags & HYBRID_RESIDENT ? kept_up(product, layout) : 0;
    return resident_up(product, layout, NULL, NULL) - kept;
}

int64_t hy_traffic_first(const hy_product *product, const hy_layout *layout,
                         const hy_site *site)
{
    const hy_pack_cache *cache = &site->cache;
    int64_t sum                = 0;

    for (int64_t i = 0; i < cache->count; i++)
        if (cache->packs[i].bytes == 0)
            sum += own_bytes(product, &layout->chunks[i]);
    return sum;
}

static int64_t result_down(const hy_product *product, const hy_layout *layout)
{
    const hy_features *f = &product->profile.features;
    const int64_t size   = (int64_t)hy_value_size(f->type);

    if (product->op == HY_SPMM)
        return f->out_bound * size;
    return (f->rows + layout->count) * 8 + (int64_t)hy_expected_entries(f) * (4 + size);
}

/* If X stayed or came once: by what was looked at, or as if it fitted. */
static int64_t whole_up(const hy_product *product, const hy_layout *layout,
                        const hybrid_csr *A, const hybrid_csr *B)
{
    const int64_t window = layout->ways_up.window, panels = layout->ways_up.panels;

    if (window >= 0 && panels >= 0)
        return window < panels ? window : panels;
    if (window >= 0 || panels >= 0)
        return window >= 0 ? window : panels;
    return resident_up(product, layout, A, B);
}

hybrid_status hy_traffic_find(const hy_product *product, const hy_layout *layout,
                              const hybrid_csr *A, const hybrid_csr *B, hy_traffic *out)
{
    *out = (hy_traffic){0, 0, -1};
    if (!hy_product_on_device(product) || layout->count == 0)
        return HYBRID_OK;
    out->down = result_down(product, layout);
    if (product->variant->carries_b || layout->gathered) {
        out->up = packed_up(product, layout);
        if (!product->variant->carries_b)
            out->other_up = whole_up(product, layout, A, B);
        return HYBRID_OK;
    }
    const int64_t kept =
        product->options.flags & HYBRID_RESIDENT ? kept_up(product, layout) : 0;
    out->up       = resident_up(product, layout, A, B) - kept;
    out->other_up = layout->ways_up.gathered;
    if (layout->ways_up.gathered >= 0)
        return HYBRID_OK;
    return product->options.flags & HYBRID_EXPLAIN
               ? hy_traffic_gathered_up(product, layout, A, B, &out->other_up)
               : HYBRID_OK;
}
