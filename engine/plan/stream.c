/* engine/plan/stream.c - which products are planned while they run. */
#include "engine/plan/stream.h"

#include "base/data/min_max.h"
#include "partition/pattern/cut.h"

enum {
    SPARE = 16,      /* a chunk may turn out to have 1 / SPARE more scalar products than
                        estimated */
    ARRAYS = 16 << 8 /* bytes by which the alignment of its arrays may enlarge a chunk */
};

/* Returns 1 if B leaves the device little or no memory for slots. If B fits, it is sent
   to the device meanwhile, and the device waits for B, not for the plan. */
static int exceeds_device(const hy_product *product, hybrid_type type)
{
    const hy_image image =
        hy_image_of_csr(product->b_rows, product->b_cols, product->b_nnz, type);
    hy_rates rates;

    hy_rates_of(product->engine->device, &rates);
    return hy_align(hy_image_room(&image)) > hy_allowed(rates.memory, HY_ALLOW_MORE);
}

int hy_stream_may(const hy_product *product, const hybrid_csr *A)
{
    const hybrid_engine *engine  = product->engine;
    const hybrid_plan_options *o = &product->options;

    return product->op == HY_SPGEMM && product->one_shot && engine->device_count == 1 &&
           !hy_product_device(product) && !(o->flags & HYBRID_EXPLAIN) &&
           o->chunk_rows == 0 && o->split != HYBRID_SPLIT_HOST &&
           A->nnz >= hy_settings_of(engine)->stream_entries &&
           exceeds_device(product, A->type);
}

size_t hy_stream_slot(const hy_profile *profile, size_t slot_bytes)
{
    const size_t spare = slot_bytes / SPARE + ARRAYS;

    if (!hy_profile_is_sampled(profile))
        return slot_bytes;
    return spare < slot_bytes ? slot_bytes - spare : 0;
}

/* ---- settling ------------------------------------------------------------------- */

static hy_features grown(const hy_features *f)
{
    hy_features g = *f;

    g.products += g.products / SPARE;
    g.out_bound += g.out_bound / SPARE;
    g.out_room += g.out_room / SPARE;
    g.gather_rows += g.gather_rows / SPARE;
    g.gather_nnz += g.gather_nnz / SPARE;
    return g;
}

/* Returns the features of a row that needs at least as much memory as any row: it has as
   many entries as the longest row of A, and each touches the longest row of B. Unless all
   of B is on the device, the row may have to bring the rows of B that it touches. */
static hy_features longest_row(const hy_portion *portion)
{
    hy_features f = portion->profile.features;

    f.rows      = 1;
    f.nnz       = f.row_max;
    f.products  = f.row_max * portion->profile.lengths.longest;
    f.out_bound = f.products_max = f.products;
    if (portion->layout.image.axis != HY_AXIS_NONE) {
        f.gather_rows = f.nnz;
        f.gather_nnz  = f.products;
    }
    return f;
}

/* Returns 1 if every row fits a slot that suits a chunk with the features `largest`. */
static int holds_rows(const hy_portion *portion, const hy_features *largest)
{
    const hy_variant *v = portion->variant;
    const hy_rates *r   = &portion->rates;
    const hy_features f = longest_row(portion);
    const hy_cost row = v->cost(&f, r), slot = v->cost(largest, r);

    return hy_cost_bytes(&row) <= hy_cost_bytes(&slot) &&
           hy_slot_pinned_bytes(v, &f, r) <= hy_slot_pinned_bytes(v, largest, r);
}

int hy_stream_adopt(hy_portion *portion)
{
    hy_layout *layout           = &portion->layout;
    const hy_settings *settings = hy_settings_of(portion->product->engine);
    hy_features largest         = {0};

    if (!hy_portion_on_device(portion) || layout->depth == 0 ||
        layout->count < hy_max(settings->stream_chunks, 1) ||
        portion->variant->form != HY_FORM_CSR || hy_image_in_passes(&layout->image))
        return 0;
    for (int64_t k = 0; k < layout->count; k++) {
        const hy_features f = grown(&layout->chunks[k].features);
        if (f.products >= largest.products)
            largest = f;
    }
    if (!holds_rows(portion, &largest))
        return 0;
    for (int64_t k = 0; k < layout->count; k++)
        layout->chunks[k].features = grown(&layout->chunks[k].features);
    return 1;
}
