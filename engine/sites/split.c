/* engine/sites/split.c - how much of an SpMM the host takes from the devices.

   The host takes its rows in pieces, each a range of rows in a slot of its own. Both
   sides are predicted by their estimates, the host with the cores that are left. Packing
   for the device keeps all cores busy for a while, and so do, unless X and Y are pinned,
   filling the loader's ring and storing results. If A is resident, the prediction is for
   runs after the first, which pack only what is not cached. */
#include "engine/sites/split.h"

#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/rates/estimate.h"
#include "engine/plan/rank.h"
#include "engine/run/resident.h"
#include "engine/tables/refusals.h"
#include "partition/pattern/chunks.h"

enum {
    SLOTS = 4,       /* number of pieces of the host in flight */
    PIECE = 4 << 20, /* a piece has at most PIECE scalar products for each worker of the
                        pool */
    PIECES = 64,     /* a piece also has at most 1/PIECES of the scalar products of the
                        product */
    SPARE_ROWS = 1024
};

static const double LEAST_GAIN = 0.05;     /* the host helps only if its predicted share
                                              of the work is at least this */
static const double LEAST_GAIN_S = 200e-6; /* the host helps only if its help is predicted
                                              to make the run shorter by at least this
                                              many seconds; a smaller gain is not worth
                                              the memory of the host's slots */

/* bytes of host memory moved for each byte of B or X that workers copy to the loader's
   ring */
static const double LOAD_PASSES = 2;

/* Returns 1 if runs with pinned X and Y differ from other runs. They do not if kernels
   read X in another form than rows, because workers then transpose X and Y in every
   run. */
static int has_kinds(const hy_portion *first)
{
    return first->variant->form == HY_FORM_ROWS;
}

/* ---- prediction ---------------------------------------------------------------- */

/* Computes the circumstances (estimate.h) that each portion finds in runs of this kind in
   which the host takes `share` of the work. */
static void foresee(const hy_portion *portions, int count, hy_run_kind kind, double share,
                    hy_circumstances found[HY_MAX_DEVICES])
{
    for (int i = 0; i < count; i++) {
        const hy_layout *layout   = &portions[i].layout;
        found[i]                  = hy_circumstances_of(portions->product);
        found[i].pinned           = kind == HY_RUNS_PINNED;
        found[i].in_column_blocks = found[i].pinned && layout->pinned_blocks > 0;
        found[i].share            = share;
    }
}

/* Returns the seconds of a run of this kind in which workers pack, load and store, so
   that they have no time to compute. */
static double busy_seconds(const hy_portion *portions, int count, hy_run_kind kind,
                           const hy_circumstances *found, const hy_rates *host)
{
    double loaded = 0;

    for (int i = 0; i < count && kind != HY_RUNS_PINNED; i++)
        loaded += LOAD_PASSES * (double)portions[i].layout.image_room;
    return hy_portions_workers_s(portions, count, found) + loaded / host->mem_Bps;
}

/* Predicts the rates of the devices and of the host, and the host's share of the work.
   Returns by how many seconds the host's help makes a run shorter. */
static double predict(const hy_portion *portions, int count, hy_run_kind kind,
                      hy_forecast *forecast)
{
    const hy_portion *helper = &portions[count];
    const hy_rates *rates    = &helper->rates;
    const hy_features *f     = &helper->profile.features;
    const double work        = (double)f->products + (double)f->rows;
    const hy_estimate host   = hy_estimate_host(f, helper->variant, rates);
    hy_circumstances found[HY_MAX_DEVICES];

    foresee(portions, count, kind, 0, found);
    const double device_s = hy_portions_s(portions, count, found);
    const double left_s =
        fmax(device_s - busy_seconds(portions, count, kind, found, rates), 0);
    if (device_s <= 0)
        return 0;
    forecast->device_rate = work / device_s;
    forecast->host_rate   = left_s / device_s * work / hy_seconds(&host, rates, rates);
    forecast->share = forecast->host_rate / (forecast->host_rate + forecast->device_rate);
    foresee(portions, count, kind, forecast->share, found);
    return device_s - hy_portions_s(portions, count, found);
}

/* ---- whether ------------------------------------------------------------------- */

/* Returns HY_WITH_ROW_RING if some portion has a ring of rows, and HY_WITH_COLUMN_RING if
   one has column blocks, combined with | (refusals.h). */
static unsigned image_values(const hy_portion *portions, int count)
{
    unsigned values = 0;

    for (int i = 0; i < count; i++) {
        const hy_axis axis = portions[i].layout.image.axis;
        values |= axis == HY_AXIS_ROWS   ? HY_WITH_ROW_RING
                  : axis == HY_AXIS_COLS ? HY_WITH_COLUMN_RING
                                         : 0;
    }
    return values;
}

/* Returns why the host can help in no run, as a static sentence; NULL if it may help. */
static const char *find_reason(const hy_portion *portions, int count,
                               const hy_candidate *host)
{
    const hy_product *product = portions->product;

    if (product->options.split == HYBRID_SPLIT_GPU)
        return "as requested";
    if (!host->variant)
        return "no CPU variant can compute the product";
    return hy_refused(HY_WITH_HOST_SHARE,
                      hy_product_values(product) | image_values(portions, count));
}

/* Returns why the host helps in no run unless options ask for a share; NULL if it may
   help. */
static const char *find_loss(const hy_portion *portions, int count)
{
    if (portions->product->engine->ctx.memory.strict)
        return "host memory is limited (host_bytes, --host-memory)";
    for (int i = 0; i < count; i++) {
        const hy_layout *layout = &portions[i].layout;
        if (hy_image_is_gathered(&layout->image) &&
            hy_chunk_ranges(layout->chunks, layout->count) < layout->count)
            return "X is sent in blocks of columns";
    }
    return NULL;
}

/* Returns the least share of the work with which the host may help. The host takes
   gathered and cached chunks as a whole; then it is at least the share of one chunk. */
static double least_share(const hy_portion *portions, int count)
{
    double least = LEAST_GAIN;

    for (int i = 0; i < count; i++) {
        const hy_layout *l = &portions[i].layout;
        if (hy_image_is_gathered(&l->image) || l->chunks[l->count - 1].cached)
            least = fmax(least, portions[i].weight / (double)l->count);
    }
    return least;
}

/* Returns why the host helps in no run of this kind, as a static sentence; NULL if it
   helps. With HYBRID_SPLIT_DEFAULT it helps only in runs with pinned X and Y, because
   their workers are otherwise idle. */
static const char *find_small_gain(const hy_product *product, hy_run_kind kind,
                                   const hy_forecast *forecast, double least,
                                   double gain_s)
{
    if (product->options.split == HYBRID_SPLIT_DEFAULT && kind == HY_RUNS_PAGEABLE)
        return "the CPU is busy moving X and Y";
    if (forecast->share < least || gain_s < LEAST_GAIN_S)
        return "the help of the CPU would save too little time";
    return NULL;
}

static void set_why_not(hy_forecast *forecasts, const char *why_not)
{
    for (int kind = 0; kind < HY_RUN_KINDS; kind++)
        forecasts[kind].why_not = why_not;
}

/* ---- the host ------------------------------------------------------------------ */

static size_t bytes_of(const hy_portion *host, const hy_features *f)
{
    const hy_cost cost = host->variant->cost(f, &host->rates);

    return hy_cost_bytes(&cost);
}

/* Returns the piece for which the host's slots get memory: the largest piece, or the
   costliest row if that is larger, limited by the host's budget. Larger rows are left to
   the device. */
static hy_chunk largest_piece(const hy_portion *host)
{
    const hy_features *f  = &host->profile.features;
    const size_t budget   = host->rates.memory / SLOTS;
    const int64_t longest = hy_min(f->products_max, f->out_cols);
    hy_chunk largest      = {.variant = host->variant, .features = *f};
    hy_features *room     = &largest.features;

    room->rows      = f->rows / PIECES + SPARE_ROWS;
    room->products  = host->taking.products;
    room->out_bound = hy_max(room->products, longest);
    while (room->out_bound > 0 && bytes_of(host, room) > budget) {
        room->rows = room->rows / 2 + 1;
        room->out_bound /= 2;
    }
    return largest;
}

/* Makes the host a portion without rows of its own. */
static void assign(const hy_product *product, const hy_variant *variant, hy_portion *host)
{
    const int64_t products = product->profile.features.products;
    const int64_t most     = hy_pool_threads(product->engine->ctx.pool) * PIECE;
    const int64_t rows     = product->options.chunk_rows;

    hy_portion_assign(host, product, variant, product->engine->host);
    host->begin = host->end = 0;
    host->weight            = 0;
    host->taking            = (hy_taking){.variant  = variant,
                                          .products = hy_min(products / PIECES + 1, most),
                                          .rows     = rows > 0 ? rows : INT64_MAX,
                                          .share    = -1};
}

static hybrid_status open_host(hy_portion *host)
{
    const hy_chunk largest  = largest_piece(host);
    const hy_site_spec spec = {.backend = host->backend,
                               .rates   = &host->rates,
                               .op      = host->product->op,
                               .chunks  = &largest,
                               .count   = 1,
                               .depth   = SLOTS};

    HY_TRY(hy_site_open(&spec, &host->site));
    return hy_sites_pin(&host->site, 1);
}

static hybrid_status refuse(const hy_product *product, const char *why)
{
    return hy_fail(
        &product->engine->ctx, HYBRID_UNSUPPORTED,
        "the product cannot be shared with the CPU: %s; leave out split (--split)", why);
}

/* Opens the host's site in addition to devices, for all runs, with the share of the work
   that options ask for. */
static hybrid_status open_share(hy_portion *host, hy_forecast *forecasts)
{
    host->taking.share = host->product->options.host_share;
    for (int kind = 0; kind < HY_RUN_KINDS; kind++)
        forecasts[kind].share = host->taking.share;
    return open_host(host);
}

/* Opens the host's site in addition to devices if the host's help is predicted to make a
   kind of run shorter. */
static hybrid_status open_predicted(hy_portion *portions, int count,
                                    hy_forecast *forecasts)
{
    const hy_product *product = portions->product;
    const double least        = least_share(portions, count);
    int any                   = 0;

    for (int kind = 0; kind < HY_RUN_KINDS; kind++) {
        const hy_run_kind like =
            has_kinds(portions) ? (hy_run_kind)kind : HY_RUNS_PAGEABLE;
        hy_forecast *forecast = &forecasts[kind];
        const double gain_s   = predict(portions, count, like, forecast);
        forecast->why_not     = find_small_gain(product, like, forecast, least, gain_s);
        any |= !forecast->why_not;
    }
    const hybrid_status status = any ? open_host(&portions[count]) : HYBRID_OK;
    if (status != HYBRID_NO_DEVICE_MEMORY && status != HYBRID_NO_MEMORY)
        return status;
    set_why_not(forecasts, "memory for the part of the CPU cannot be allocated");
    hy_message_clear(&product->engine->ctx.message);
    return HYBRID_OK;
}

hybrid_status hy_split_open(hy_portion *portions, int count, hy_forecast *forecasts)
{
    const hy_product *product = portions->product;
    const int by_share        = product->options.split == HYBRID_SPLIT_SHARE;
    hy_portion *host          = &portions[count];
    const char *why_not       = NULL;
    hy_candidate best;

    *host = (hy_portion){.product = product};
    if (!hy_portion_on_device(portions) || portions->layout.count == 0)
        return HYBRID_OK; /* the host computes the whole product, or there are no rows */
    if (product->op == HY_SPGEMM) {
        set_why_not(forecasts, "sparse results are not shared with the CPU");
        return HYBRID_OK;
    }
    hy_rank_host(product, &best);
    why_not = find_reason(portions, count, &best);
    if (why_not && by_share)
        return refuse(product, why_not);
    why_not = why_not || by_share ? why_not : find_loss(portions, count);
    set_why_not(forecasts, why_not);
    if (why_not)
        return HYBRID_OK;
    assign(product, best.variant, host);
    return by_share ? open_share(host, forecasts)
                    : open_predicted(portions, count, forecasts);
}

/* ---- a run --------------------------------------------------------------------- */

/* Returns 1 if X has the same layout in memory as on the device, so that the device
   copies it directly. */
static int lies_alike(const hy_problem *problem)
{
    const hy_source *source = &problem->source;
    hybrid_order order;

    return hy_image_is_flat(&problem->image, &order) && source->ops->run &&
           source->ops->run(source, order, 0, 0, 1);
}

/* Returns 1 if the device copies X and Y directly: they come in column blocks, or their
   layout in memory is that on the device. */
static int leaves_workers_idle(const hy_portion *first, const hy_problem *problem)
{
    const hybrid_dense *Y = problem->Y;

    if (!has_kinds(first) || Y->order != HYBRID_ROW_MAJOR)
        return 0;
    return problem->image.axis == HY_AXIS_COLS ||
           ((Y->ld == Y->cols || Y->rows == 1) && lies_alike(problem));
}

/* Returns NULL once all of A is cached on devices, because the caller may have freed A's
   arrays, and if X would have to be read for the host. */
const hy_forecast *hy_split_forecast(const hy_forecast *forecasts,
                                     const hy_portion *portions, int count,
                                     const hy_problem *problem, int direct)
{
    const int helps = portions[count].site != NULL;
    const int idle  = direct && helps && leaves_workers_idle(portions, problem);
    const hy_forecast *forecast = &forecasts[idle ? HY_RUNS_PINNED : HY_RUNS_PAGEABLE];

    if (!helps || forecast->why_not || hy_resident_everywhere(portions, count) ||
        !hy_source_at_hand(&problem->source))
        return NULL;
    return forecast;
}
