/* engine/plan/weigh.c - decides whether the host computes in place of a device.

   Both are estimated (estimate.h) before anything is cut, since cutting would take as
   long. If B or X fits the device, the decision is made before A is inspected for empty
   rows and columns; otherwise their number decides, and for an A with few of them the
   comparison of schedules (cut.h).

   With X on the device, workers copy X and Y once each and the device gathers. Few hosts
   gather as fast, but A is sent as well, and with few columns A is most of the bytes.
   Without room for X, workers do more for the device, or in smaller pieces. Times in ms
   on 16 cores and an H200; 128 MiB is a limit on device memory:

       product                                       device      host
       stencil27:80, 16 columns                         3.9       1.6
       stencil27:80, 128 columns                        9.4   8 to 11
       Erdos-Renyi, 128 columns, 128 MiB, blocks   85 to 97  33 to 49
       fem3:36, 128 columns, 128 MiB, row ring   4.1 to 4.5  2.8 to 3 */
#include "engine/plan/weigh.h"

#include <math.h>

#include "engine/plan/cut.h"

/* hy_features.tile_fill of an A whose rows share no columns: its least value */
static const double LEAST_FILL = 1.0 / 16;

/* Returns the host's candidate if it may take the product from a device; else NULL. */
static const hy_candidate *find_host(const hy_product *product,
                                     const hy_candidates *candidates)
{
    const hybrid_plan_options *o = &product->options;
    const int host               = hy_rank_first_host(candidates);
    const int chosen = o->flags & HYBRID_RESIDENT || (o->split != HYBRID_SPLIT_DEFAULT &&
                                                      o->split != HYBRID_SPLIT_AUTO);

    if (chosen || host == 0 || host == candidates->count || candidates->of[host].refused)
        return NULL;
    return &candidates->of[host];
}

double hy_weigh_host(const hy_product *product, const hy_candidates *candidates)
{
    const hy_candidate *host = find_host(product, candidates);

    return host && product->op == HY_SPMM ? host->predicted_s : INFINITY;
}

hybrid_status hy_weigh(const hy_product *product, const hy_candidate *device,
                       const hybrid_csr *A, int64_t rows, int64_t cols, double *device_s)
{
    hy_product rest = *product; /* the product with an A that has no empty rows and
                                   columns, as the device would compute it */
    hy_features *f    = &rest.profile.features;
    const double left = (double)(rows + cols) / (double)(product->rows + product->cols);

    rest.b_rows = f->cols = cols;
    f->rows               = rows;
    f->out_bound          = rows * product->b_cols;
    hy_product_assign(&rest, device->variant, device->backend);
    *device_s = 0;
    if (isinf(product->host_s) || hy_product_fits(&rest))
        return HYBRID_OK;
    HY_TRY(hy_cut_least(&rest, A, device_s));
    if (!hy_is_sooner(product->host_s * left, *device_s))
        *device_s = 0;
    return HYBRID_OK;
}

/* Returns the device's predicted seconds, or INFINITY if B or X does not fit. */
static double fitting_s(hy_product *product, const hy_candidate *device,
                        const hybrid_csr *A, const hybrid_csr *B)
{
    const hy_planning planning = {.product = product, .A = A, .B = B};

    hy_product_assign(product, device->variant, device->backend);
    const hy_estimate e = hy_schedule_whole.promise(&planning);
    return e.chunks > 0 ? hy_estimate_seconds(product, &e) : INFINITY;
}

double hy_weigh_worst(const hy_product *product, const hy_candidates *candidates)
{
    const int host     = hy_rank_first_host(candidates);
    hy_product worst   = *product;
    double *const fill = &worst.profile.features.tile_fill;

    *fill = *fill > 0 ? *fill : LEAST_FILL;
    return host < candidates->count && !candidates->of[host].refused
               ? hy_estimated_host_s(&worst, candidates->of[host].variant)
               : INFINITY;
}

/* Unless the positions of A's entries were inspected (hy_product_inspect_tiles()), the
   host is estimated with the worst and the device with the best positions. */
double hy_weigh_fitting(const hy_product *product, const hy_candidates *candidates,
                        const hybrid_csr *A, const hybrid_csr *B, double look_s)
{
    const double fill    = product->profile.features.tile_fill;
    hy_product on_device = *product;

    if (!find_host(product, candidates) || candidates->of[0].refused ||
        hy_settings_of(product->engine)->device_first || hy_product_in_columns(product))
        return 0;
    on_device.profile.features.tile_fill = fill > 0 ? fill : 1;
    const double s = fitting_s(&on_device, &candidates->of[0], A, B) + look_s;
    return isfinite(s) && hy_is_sooner(hy_weigh_worst(product, candidates), s) ? s : 0;
}
