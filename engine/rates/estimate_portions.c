/* engine/rates/estimate_portions.c - estimates of portions: what a plan assumes about
   runs, one portion, and all portions together. */
#include "engine/rates/estimate.h"

#include "base/data/min_max.h"
#include "engine/rates/traffic.h"

hy_circumstances hy_circumstances_of(const hy_product *product)
{
    return (hy_circumstances){.cached = (product->options.flags & HYBRID_RESIDENT) != 0,
                              .pinned = product->pinned && hy_product_has_views(product)};
}

hy_circumstances hy_circumstances_planned(const hy_portion *portion, const hybrid_csr *A,
                                          const hybrid_csr *B)
{
    hy_circumstances found = hy_circumstances_of(portion->product);

    found.rows_of_b = hy_traffic_same(portion, A, B);
    return found;
}

double hy_estimate_seconds(const hy_portion *portion, const hy_estimate *estimate)
{
    hy_rates host;

    hy_rates_of(portion->product->engine->host, &host);
    return hy_seconds(estimate, &portion->rates, &host);
}

hy_features hy_features_share(const hy_features *all, int64_t parts)
{
    hy_features f = *all;

    f.rows /= parts;
    f.nnz /= parts;
    f.products /= parts;
    f.out_bound /= parts;
    f.gather_rows /= parts;
    f.gather_nnz /= parts;
    f.row_max      = hy_min(f.row_max, f.nnz);
    f.products_max = hy_min(f.products_max, f.products);
    return f;
}

hy_estimate hy_portion_estimate(const hy_portion *portion, const hy_circumstances *found)
{
    const hy_layout *layout = &portion->layout;
    const hy_estimate e     = hy_estimate_device(portion, layout, found);

    /* a portion of a dense result has a layout with its own rows only */
    return portion->product->op == HY_SPGEMM && portion->weight < 1
               ? hy_estimate_part(&e, layout, portion->weight)
               : e;
}

double hy_portions_s(const hy_portion *portions, int count, const hy_circumstances *found)
{
    const hy_portion *first = portions;
    hy_estimate each[HY_MAX_DEVICES];
    const hy_rates *rates[HY_MAX_DEVICES];
    hy_rates host;

    if (!hy_portion_on_device(first))
        return hy_estimated_host_s(first->product->engine, &first->profile.features,
                                   first->variant);
    hy_rates_of(first->product->engine->host, &host);
    for (int i = 0; i < count; i++) {
        each[i]  = hy_portion_estimate(&portions[i], &found[i]);
        rates[i] = &portions[i].rates;
    }
    return hy_seconds_together(each, rates, count, &host);
}

double hy_portions_workers_s(const hy_portion *portions, int count,
                             const hy_circumstances *found)
{
    hy_rates host;
    double sum = 0;

    hy_rates_of(portions->product->engine->host, &host);
    for (int i = 0; i < count; i++) {
        const hy_estimate e = hy_portion_estimate(&portions[i], &found[i]);
        sum += hy_workers_seconds(&e, &host);
    }
    return sum;
}
