/* engine/plan/rank.c - ranks the variants that may compute a product: refuses those that
   cannot, predicts the seconds of the others, and orders them. */
#include "engine/plan/rank.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/data/min_max.h"
#include "engine/rates/estimate.h"
#include "engine/tables/refusals.h"
#include "engine/tables/parameters.h"

enum {
    CHUNKS         = 8,
    CHUNK_PRODUCTS = 8 << 20 /* predictions for a device assume one chunk for every
                                CHUNK_PRODUCTS scalar products, at most CHUNKS */
};

int hy_runs_on(const hy_variant *variant, const hy_backend *backend)
{
    const char *name    = strchr(variant->name, '.') + 1;
    const size_t length = strlen(backend->ops->name);
    return strncmp(name, backend->ops->name, length) == 0 && name[length] == '.';
}

/* Returns 1 if chunks may bring the rows of a sparse B that they touch. */
static int can_gather(const hy_product *product)
{
    return product->op == HY_SPGEMM && !product->a_on && !product->second_on;
}

/* Returns an upper bound on the predicted seconds of a run whose chunks bring rows of B:
   one row for each entry of A, and one entry for each scalar product, but no chunk brings
   more than all of B. */
static double gathered_s(const hy_portion *all, int64_t chunks,
                         const hy_circumstances *found)
{
    const hy_product *product = all->product;
    hy_features f             = all->profile.features;
    hy_layout layout          = {.image = hy_portion_image(all)};

    layout.image.axis = HY_AXIS_GATHERED;
    f.gather_rows     = hy_min(f.nnz, chunks * product->b_rows);
    f.gather_nnz      = hy_min(f.products, chunks * product->b_nnz);
    const hy_estimate e =
        hy_estimate_even(all, &f, &layout, product->b_rows, chunks, found);
    return hy_estimate_seconds(all, &e);
}

/* Returns the predicted seconds of a run with this candidate. With a resident A it is a
   later run, which finds its packs cached. */
static double predict(const hy_product *product, const hy_candidate *c)
{
    const hy_circumstances found = hy_circumstances_of(product);
    const hy_features *f         = &product->profile.features;
    const int64_t chunks         = hy_min(f->products / CHUNK_PRODUCTS + 1, CHUNKS);
    hy_portion all               = {.variant = NULL};

    if (!c->backend->ops->copy)
        return hy_estimated_host_s(product->engine, f, c->variant);
    hy_portion_assign(&all, product, c->variant, c->backend);
    hy_layout layout = {.image = hy_portion_image(&all)};
    if (c->variant->form == HY_FORM_NONE)
        layout.image.axis = HY_AXIS_GATHERED;
    const hy_estimate e  = hy_estimate_even(&all, &all.profile.features, &layout,
                                            product->b_rows, chunks, &found);
    const double whole_s = hy_estimate_seconds(&all, &e);
    return layout.image.axis == HY_AXIS_GATHERED || !can_gather(product)
               ? whole_s
               : fmin(whole_s, gathered_s(&all, chunks, &found));
}

/* Returns the variant as a candidate: finds out whether it is refused, and why, but does
   not predict its seconds. */
static hy_candidate judge(const hy_product *product, const hy_variant *variant,
                          hy_backend *backend)
{
    hy_candidate c = {.variant = variant, .backend = backend};
    hy_features f  = product->profile.features;
    hy_rates rates;

    hy_rates_of(backend, &rates);
    hy_product_choose(product, variant, &rates, &f);
    c.refused = variant->refuse(&f, &rates);
    if (!c.refused)
        c.refused = hy_refused(hy_variant_values(variant), hy_product_values(product));
    return c;
}

/* Inserts a candidate among those from index `begin` on: cheapest first, refused ones
   last. */
static void add(hy_candidates *out, int begin, hy_candidate c)
{
    int i = out->count++;

    for (; i > begin; i--) { /* candidates with equal seconds stay in the order of the
                                table of variants */
        const hy_candidate *before = &out->of[i - 1];
        const int stays =
            c.refused || (!before->refused && before->predicted_s <= c.predicted_s);
        if (stays)
            break;
        out->of[i] = *before;
    }
    out->of[i] = c;
}

static void add_backend(const hy_product *product, hy_backend *backend,
                        hy_candidates *out)
{
    const hybrid_engine *engine = product->engine;
    const char *wanted          = product->options.variant;
    const int begin             = out->count;

    for (const hy_variant *const *v = engine->variants; *v && out->count < HY_CANDIDATES;
         v++)
        if ((*v)->op == product->op && hy_runs_on(*v, backend) &&
            hy_parameters_want(engine->variants, wanted, (*v)->name)) {
            hy_candidate c = judge(product, *v, backend);
            c.predicted_s  = c.refused ? 0 : predict(product, &c);
            add(out, begin, c);
        }
}

int hy_rank_first_host(const hy_candidates *candidates)
{
    int i = 0;

    while (i < candidates->count && candidates->of[i].backend->ops->copy)
        i++;
    return i;
}

const hy_candidate *hy_rank_first(const hy_candidates *candidates)
{
    for (int i = 0; i < candidates->count; i++)
        if (!candidates->of[i].refused)
            return &candidates->of[i];
    return NULL;
}

void hy_rank_host(const hy_product *product, hy_candidate *out)
{
    const hybrid_engine *engine = product->engine;

    *out = (hy_candidate){.predicted_s = INFINITY};
    for (const hy_variant *const *v = engine->variants; *v; v++) {
        if ((*v)->op != product->op || !hy_runs_on(*v, engine->host))
            continue;
        hy_candidate c = judge(product, *v, engine->host);
        c.predicted_s  = hy_estimated_host_s(engine, &product->profile.features, *v);
        if (!c.refused && c.predicted_s < out->predicted_s)
            *out = c;
    }
}

/* Fails because no variant has a name that begins as options say. */
static hybrid_status no_such(const hy_product *product)
{
    return hy_fail(&product->engine->ctx, HYBRID_UNSUPPORTED,
                   "this engine has no variant for a %s B whose name begins with '%s'; "
                   "see 'hybrid_spmm list'",
                   product->op == HY_SPGEMM ? "sparse" : "dense",
                   product->options.variant);
}

static hybrid_status none_left(const hy_product *product, const hy_candidates *candidates)
{
    const char *prefix              = product->options.variant;
    const int count                 = candidates->count;
    char text[HY_MESSAGE_BYTES / 2] = "";
    int used                        = 0;

    if (count == 0 && prefix)
        return no_such(product);
    for (int i = 0; i < count && used < (int)sizeof text; i++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%s %s: %s", i ? ";" : "",
                     candidates->of[i].variant->name, candidates->of[i].refused);
    return hy_fail(&product->engine->ctx, HYBRID_UNSUPPORTED,
                   "no variant can compute this product:%s%s", text,
                   prefix ? "; leave out variant (--variant), or name another" : "");
}

void hy_rank_device(const hy_product *product, hy_backend *device, hy_candidates *out)
{
    out->count = out->chosen = 0;
    add_backend(product, device, out);
}

hybrid_status hy_rank(const hy_product *product, hy_candidates *out)
{
    hybrid_engine *engine    = product->engine;
    const char *prefix       = product->options.variant;
    const hybrid_split split = product->options.split;
    const int wants_device   = split == HYBRID_SPLIT_GPU || split == HYBRID_SPLIT_SHARE;
    const int on_device      = engine->device && split != HYBRID_SPLIT_HOST;
    hy_backend *there        = hy_product_device(product);

    out->count = 0;
    if (wants_device && !engine->device)
        return hy_fail(
            &engine->ctx, HYBRID_NO_DEVICE,
            "the split needs a GPU, and this engine has none (%s); leave it out",
            engine->device_text);
    if (on_device)
        add_backend(product, there ? there : engine->device, out);
    if (!on_device || (!wants_device && (engine->wanted == HYBRID_AUTO || prefix)))
        add_backend(product, engine->host, out);
    return hy_rank_first(out) ? HYBRID_OK : none_left(product, out);
}
