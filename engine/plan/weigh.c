/* engine/plan/weigh.c - whether the host computes instead of a device.

   Both are estimated (estimate.h), before anything is cut, which would take as long.
   Where B or X fits the device that is decided before A is looked at for empty rows and
   columns, else by their number; of an A that has few of them when schedules are compared
   (cut.h).

   X and Y of an SpMM are in host memory. Where X is on the device workers copy each of
   both once, and the device gathers: few hosts gather as fast as that, but A goes up as
   well, and with few columns it is most of the bytes: 16 of stencil27:80 take the device
   3.9 ms and the host 1.6, 128 of them 9.4 and 8 to 11. Where X does not fit, workers do
   more for the device, or in smaller pieces: on 16 cores whose memory copies 80e9 bytes a
   second, 128 columns of Erdos-Renyi take it 85 to 97 ms under 128 MiB, in panels of half
   lines, and the host 33 to 49; those of fem3:36, in a ring of rows, 4.1 to 4.5, and the
   host 2.8 to 3. */
#include "engine/plan/weigh.h"

#include <math.h>

#include "engine/plan/cut.h"

/* hy_features.tile_fill where rows share nothing. */
static const double LEAST_FILL = 1.0 / 16;

/* The host's candidate, if it may take the product from a device; else NULL. */
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
    hy_product rest   = *product; /* as if it were computed there */
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

/* INFINITY if B or X does not fit. */
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

/* Unless somebody has looked how the entries of A lie (hy_product_inspect_tiles()), the
   host finds them as they are worst for it, and the device as they are best. */
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
