/* engine/weigh.c - whether the host computes instead of a device.

   Where B or X fits the device, the estimates of both are compared (estimate.h). Of an X
   that does not fit, the bytes that pass host memory are.

   X and Y of an SpMM are in host memory. Where X is on the device workers copy each of
   both once, and the device gathers: few hosts gather as fast as that, but A goes up as
   well, and with few columns it is most of the bytes: 16 of stencil27:80 take the device
   3.9 ms and the host 1.6, 128 of them 9.4 and 8 to 11. Where X does not fit, workers do
   more for the device, or in smaller pieces:

       a window   A, X and Y are copied once each, in chunks of few MB; but then A is
                  banded, and the host finds rows of X in its caches
       panels     parts of rows of Y are stored here and there, parts of rows of X read so
       gathered   a row of X is copied for each chunk that touches it

   All of that is bound by host memory, and so is the host's own product, which reads rows
   of X as its cost model says and writes Y once. So both are weighed by what they ask of
   that memory, the device in shares of its speed that were measured
   (docs/performance.md): on 16 cores whose memory copies 80e9 bytes a second, 128 columns
   of Erdos-Renyi take it 85 to 97 ms under 128 MiB, in panels of half lines, and the host
   33 to 49; those of fem3:36, in a window, 4.1 to 4.5, and the host 2.8 to 3. It is
   weighed before anything is cut, which would take as long. */
#include "engine/weigh.h"

#include <math.h>

#include "base/csr.h"
#include "engine/early.h"
#include "engine/estimate.h"
#include "engine/grain.h"
#include "engine/traffic.h"

/* Of a copy's speed in memory: Y, stored in panels whose rows have at least so many
   bytes; rows of X, gathered; A, X and Y through a window, and as the host reads and
   writes them if rows of X that are near each other stay in its caches. */
static const struct {
    double row, share;
} stored[] = {{2 * HY_LINE, 0.27}, {HY_LINE, 0.12}, {0.5 * HY_LINE, 0.066}};
static const double GATHERED = 0.3, WINDOW = 0.85, BANDED = 0.8;

/* What a device takes besides with a window, in launches: to plan, fill and empty its
   lanes, 0.4 ms, and 60 us for each chunk. */
static const double WINDOWED = 80, EACH = 12;

enum {
    PARTS = 4, /* of the budget: a panel of X takes one, as there are two at once */
    NEAR  = 4  /* of the last-level cache: rows near each other may take one */
};

static const double WORTH = 0.8; /* of the device's time: less is worth it */

/* The same of two estimates (docs/performance.md). */
static const double FITTING_WORTH = 0.78;

/* hy_features.tile_fill where rows share nothing. */
static const double LEAST_FILL = 1.0 / 16;

static double row_bytes(const hy_product *product)
{
    return (double)product->b_cols * (double)hy_value_size(product->profile.type);
}

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

/* Panels as wide as the budget allows, or chunks that gather: what is less. Of 16 rows of
   A that are near each other so many share a row of X that one of them names. */
static double device_s(const hy_product *product, const hy_rates *device, double mem_Bps,
                       int64_t rows, int64_t cols)
{
    const hy_features *f = &product->profile.features;
    const double shared  = f->tile_fill > 0 ? 16 * f->tile_fill : 1;
    const double widest  = (double)device->memory / PARTS / (double)cols;
    const double y       = (double)rows * row_bytes(product);
    double s = (double)f->nnz / shared * row_bytes(product) / (GATHERED * mem_Bps);

    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++)
        if (widest >= stored[i].row)
            return fmin(s, y / (stored[i].share * mem_Bps));
    return s;
}

double hy_weigh(const hy_product *product, int64_t rows, int64_t cols)
{
    const double left =
        (double)(rows + cols) / (double)(product->rows + product->cols); /* of X and Y */
    hy_rates device, host;

    if (isinf(product->host_s))
        return 0;
    hy_rates_of(product->engine->device, &device);
    hy_rates_of(product->engine->host, &host);
    if ((double)cols * row_bytes(product) <= (double)device.memory / 2)
        return 0;
    const double s = device_s(product, &device, host.mem_Bps, rows, cols);
    return product->host_s * left <= WORTH * s ? s : 0;
}

/* Columns between the first and the last of a block of rows of A, on average. */
static double mean_span(const hy_extents *extents)
{
    double sum = 0;

    for (int64_t i = 0; i < extents->count; i++)
        sum += fmax(0, (double)extents->blocks[i].end - (double)extents->blocks[i].first);
    return sum / (double)extents->count;
}

/* Of A, X and Y. */
static double bytes_of(const hy_product *product)
{
    const hy_features *f = &product->profile.features;
    return (double)hy_csr_bytes(f->rows, f->nnz, f->type) +
           (double)(product->rows + product->cols) * row_bytes(product);
}

/* A device to which A, X and Y go up or down once. */
static double once_s(const hy_product *product, const hy_rates *device, double mem_Bps,
                     double launches)
{
    const double y  = (double)product->rows * row_bytes(product),
                 up = bytes_of(product) - y;

    return launches * device->launch_s +
           fmax((up + y) / (WINDOW * mem_Bps),
                fmax(up / device->h2d_Bps, y / device->d2h_Bps));
}

/* The host, which finds rows of X in its caches if they are near each other. */
static double banded_s(const hy_product *product, const hy_rates *host,
                       const hy_extents *extents)
{
    const hy_features *f   = &product->profile.features;
    const hy_topology *cpu = hy_pool_topology(product->engine->ctx.pool);
    const double near      = mean_span(extents) * row_bytes(product);

    return NEAR * near > (double)hy_topology_llc_bytes(cpu)
               ? product->host_s
               : fmax(bytes_of(product) / (BANDED * host->mem_Bps),
                      2 * (double)f->products / host->flops);
}

/* In the chunks that it is to have. INFINITY if B or X does not fit. */
static double fitting_s(hy_product *product, const hy_candidate *device,
                        const hybrid_csr *A, const hybrid_csr *B)
{
    const hy_planning planning = {.product = product, .A = A, .B = B};
    hy_layout layout           = {.share = 1};
    hy_rates host;

    hy_product_assign(product, device->variant, device->backend);
    layout.image = hy_product_image(product);
    if (hy_image_bytes(&layout.image) > product->rates.memory / 2)
        return INFINITY;
    hy_rates_of(product->engine->host, &host);
    const hy_circumstances found = {.rows_of_b = hy_traffic_same(product, A, B)};
    const hy_estimate e          = hy_estimate_even(product, &layout, hy_early_needs(A),
                                                    hy_grain_chunks(&planning, &layout), &found);
    return hy_seconds(&e, &product->rates, &host);
}

/* Of a host that finds A as the first has it, and a device for which it is as the second.
 */
static double weigh(const hy_product *on_host, hy_product *on_device,
                    const hy_candidates *candidates, const hybrid_csr *A,
                    const hybrid_csr *B)
{
    const hy_candidate *host = find_host(on_host, candidates);

    if (!host || candidates->of[0].refused || on_host->engine->device_first)
        return 0;
    const double s = fitting_s(on_device, &candidates->of[0], A, B);
    return isfinite(s) && hy_estimated_host_s(on_host, host->variant) <= FITTING_WORTH * s
               ? s
               : 0;
}

/* X and Y in columns take the host longer than it is predicted to. */
static int in_columns(const hy_product *product)
{
    return product->options.order == HYBRID_COL_MAJOR && product->b_cols > 1;
}

double hy_weigh_fitting(const hy_product *product, const hy_candidates *candidates,
                        const hybrid_csr *A, const hybrid_csr *B)
{
    hy_product on_device = *product; /* as if it were computed there */

    return in_columns(product) ? 0 : weigh(product, &on_device, candidates, A, B);
}

double hy_weigh_unseen(const hy_product *product, const hy_candidates *candidates,
                       const hybrid_csr *A)
{
    hy_product worst = *product, best = *product;

    worst.profile.features.tile_fill = LEAST_FILL;
    best.profile.features.tile_fill  = 1;
    return in_columns(product) ? 0 : weigh(&worst, &best, candidates, A, NULL);
}

double hy_weigh_window(const hy_product *product, const hy_extents *extents)
{
    hy_rates device, host;

    if (isinf(product->host_s))
        return 0;
    hy_rates_of(product->engine->device, &device);
    hy_rates_of(product->engine->host, &host);
    const int64_t window  = (int64_t)((double)device.memory / 2 / row_bytes(product));
    const double launches = EACH * (double)hy_ring_chunks(window, product->cols);
    const double s        = once_s(product, &device, host.mem_Bps, launches + WINDOWED);
    return banded_s(product, &host, extents) <= WORTH * s ? s : 0;
}
