/* engine/plan/choose.c - compares all schedules, the host's included, by their seconds.

   While features are unknown, devices are estimated with the most favourable ones and the
   host with the least favourable, so that a host that is sooner can be chosen without
   further inspection. Then the schedule that seems fastest takes its next step, until the
   fastest one has cut its chunks. No step is taken that cannot change the choice. */
#include "engine/plan/choose.h"

#include <math.h>

#include "engine/plan/grain.h"
#include "engine/rates/traffic.h"

enum { MANY_CHUNKS = 32 }; /* minimum number of chunks for larger slots, half as many */

/* Share of the time with four slots that two slots must be predicted to take. Measured on
   an H100 with budgets below the bytes of B: six products with predicted shares of 0.47
   to 0.6 took 0.7 to 1.05 of the time, and eight with shares of 0.72 to 1.17 took 0.75 to
   1.46 (docs/lab/not-tried.md). */
static const double MUCH_SOONER = 0.65;

/* Smallest and largest hy_features.tile_fill of 16 neighbouring rows of A: no two of
   these rows share a column, or all have the same columns. */
static const double LEAST_FILL = 1.0 / 16, MOST_FILL = 1;

static int is_on_device(const hy_option *o)
{
    return o->schedule->values & HY_WITH_COPIES;
}

/* ---- what is known of one ------------------------------------------------------ */

static const char *refused(const hy_portion *portion, const hy_schedule *schedule)
{
    return hy_refused(schedule->values, hy_product_values(portion->product) |
                                            hy_variant_values(portion->variant));
}

static double seconds_of(const hy_choice *c, const hy_estimate *e)
{
    return e->chunks == 0 ? INFINITY : hy_estimate_seconds(c->planning.portion, e);
}

/* Returns a lower bound on the seconds of an SpMM on the engine's device. */
static double least_s(const hybrid_engine *engine)
{
    hy_rates rates;

    hy_rates_of(engine->device, &rates);
    return hy_estimate_min_s(&rates);
}

/* Adds a schedule. If the portion is assigned to the host, a device schedule gets a lower
   bound for its seconds while devices are not ranked; INFINITY once they are, because
   none can compute the product. */
static void add(hy_choice *c, const hy_schedule *schedule, unsigned known)
{
    const hy_portion *portion = c->planning.portion;
    hy_option *o              = &c->of[c->count++];

    *o = (hy_option){.schedule = schedule, .up = -1};
    if (is_on_device(o) && !hy_portion_on_device(portion)) {
        o->seconds =
            known & HY_KNOW_DEVICES ? INFINITY : least_s(portion->product->engine);
        return;
    }
    const hy_estimate e = schedule->promise(&c->planning);
    o->seconds          = seconds_of(c, &e);
}

static hybrid_status find_cost(hy_choice *c, hy_option *o)
{
    hy_estimate e;

    o->known = HY_LOOKED;
    if (!o->schedule->cost)
        return HYBRID_OK;
    HY_TRY(o->schedule->cost(&c->planning, &e));
    o->seconds = seconds_of(c, &e);
    if (o->schedule->cost_counts)
        o->up = (int64_t)(e.first_bytes + e.up_bytes);
    return HYBRID_OK;
}

/* ---- the cut --------------------------------------------------------------------- */

/* Cuts the product by the option's schedule. The option has INFINITY seconds if no layout
   fits. */
static hybrid_status cut_for(const hy_planning *p, hy_option *o)
{
    const hybrid_status status = o->schedule->cut(p, &o->layout);

    o->known   = HY_CUT;
    o->seconds = INFINITY;
    if (status == HYBRID_NO_DEVICE_MEMORY) {
        hy_message_clear(&p->product->engine->ctx.message);
        return HYBRID_OK;
    }
    if (status == HYBRID_OK && o->layout.depth > 0)
        o->seconds = hy_schedule_layout_s(p, &o->layout);
    return status;
}

/* Returns 1 if larger slots, half as many, may be worth cutting: the chunks of an SpGEMM
   are many, and a run with half as many would be much sooner. A ring holds what all
   chunks in flight touch, so larger slots would leave it less room for larger chunks. */
static int may_halve(const hy_planning *p, const hy_option *o)
{
    hy_layout half = o->layout;

    half.depth /= 2;
    if (p->product->op != HY_SPGEMM || p->product->options.depth > 0 || half.depth < 2 ||
        half.count < MANY_CHUNKS || hy_image_is_ring(&half.image))
        return 0;
    const hy_circumstances found = hy_circumstances_planned(p->portion, p->A, p->B);
    const hy_estimate e =
        hy_estimate_even(p->portion, &p->features, &half, 0, half.count / 2, &found);
    return hy_estimate_seconds(p->portion, &e) < MUCH_SOONER * o->seconds;
}

/* Cuts the product for half as many slots, and takes this layout if it is predicted to be
   much sooner. Chunks in larger slots share more rows of B, and each chunk costs time on
   the driver and on a device that waits for its longest rows. With two slots more stages
   wait for each other, which estimates do not see in full. */
static hybrid_status cut_half(const hy_planning *p, hy_option *o)
{
    hy_option other  = {.schedule = o->schedule, .up = o->up};
    hy_planning with = *p;

    if (!may_halve(p, o))
        return HYBRID_OK;
    with.slots                 = o->layout.depth / 2;
    const hybrid_status status = cut_for(&with, &other);
    if (other.seconds < MUCH_SOONER * o->seconds) {
        const hy_option half = other;
        other                = *o;
        *o                   = half;
    }
    hy_layout_free(p->product, &other.layout);
    return status;
}

static hybrid_status cut(hy_choice *c, hy_option *o)
{
    const hy_planning *p = &c->planning;

    HY_TRY(cut_for(p, o));
    if (!isfinite(o->seconds))
        return HYBRID_OK;
    HY_TRY(cut_half(p, o));
    o->up = hy_traffic_dense_up(p->portion, &o->layout);
    return HYBRID_OK;
}

/* ---- the best of all ----------------------------------------------------------- */

/* Returns the fastest schedule on the device, by hy_is_sooner(); NULL if none can be
   used. */
static hy_option *find_best_of_device(hy_choice *c)
{
    hy_option *best = NULL;

    for (int i = 0; i < c->count; i++) {
        hy_option *o = &c->of[i];
        if (is_on_device(o) && isfinite(o->seconds) &&
            (!best || hy_is_sooner(o->seconds, best->seconds)))
            best = o;
    }
    return best;
}

/* Returns the schedule that is fastest. The host's is taken in place of a device's if it
   is sooner, or if there is no device. */
static hy_option *find_best(hy_choice *c)
{
    hy_option *best = find_best_of_device(c);

    for (int i = 0; i < c->count; i++) {
        hy_option *o = &c->of[i];
        if (!is_on_device(o) && (best ? hy_is_sooner(o->seconds, best->seconds)
                                      : !hy_portion_on_device(c->planning.portion)))
            return o;
    }
    return best;
}

/* Lets the best schedule take its next step until it has been cut or is the host's. *best
   is that schedule; NULL if no schedule can be used. */
static hybrid_status explore(hy_choice *c, hy_option **best)
{
    for (;;) {
        hy_option *o = *best = find_best(c);
        if (!o || o->known >= (is_on_device(o) ? HY_CUT : HY_LOOKED))
            return HYBRID_OK;
        HY_TRY(o->known == HY_PROMISED ? find_cost(c, o) : cut(c, o));
    }
}

/* ---- what to inspect ----------------------------------------------------------- */

/* Returns the predicted seconds of the host's best variant; INFINITY if the host may not
   compute in the device's place. */
static double host_seconds(const hy_portion *portion, const hy_candidates *candidates)
{
    const hy_product *product = portion->product;
    const int i               = candidates ? hy_rank_first_host(candidates) : 0;
    hy_features f             = portion->profile.features;

    if (!candidates || i == candidates->count || candidates->of[i].refused ||
        product->options.flags & HYBRID_RESIDENT)
        return INFINITY;
    f.tile_fill = f.tile_fill > 0 ? f.tile_fill : LEAST_FILL;
    return hy_estimated_host_s(product->engine, &f, candidates->of[i].variant);
}

void hy_choice_open(const hy_portion *portion, const hy_candidates *candidates,
                    const hybrid_csr *A, const hybrid_csr *B, unsigned known,
                    hy_choice *out)
{
    const int unseen = !(known & HY_KNOW_FILL);

    *out          = (hy_choice){.count = 0, .touch = {.rows = -1}};
    out->planning = (hy_planning){.product  = portion->product,
                                  .portion  = portion,
                                  .A        = A,
                                  .B        = B,
                                  .features = portion->profile.features,
                                  .host_s   = host_seconds(portion, candidates),
                                  .extents  = &out->extents,
                                  .touch    = &out->touch};
    if (unseen && !hy_portion_fits(portion))
        return; /* the choice has no schedules yet: they are compared once all inspection
                   is done */
    if (unseen)
        out->planning.features.tile_fill = MOST_FILL;
    for (int i = 0; hy_schedules[i]; i++)
        if (!refused(portion, hy_schedules[i]))
            add(out, hy_schedules[i], known);
}

void hy_choice_close(hy_choice *c)
{
    const hy_portion *portion = c->planning.portion;
    const hy_product *product = portion->product;

    hy_extents_free(&product->engine->ctx, &c->extents);
    for (int i = 0; i < c->count; i++)
        hy_layout_free(product, &c->of[i].layout);
    c->count = 0;
}

int hy_choice_is_host(hy_choice *c)
{
    const hy_portion *portion = c->planning.portion;
    const hy_option *best     = find_best(c);

    return best ? !is_on_device(best) && hy_portion_fits(portion)
                : !hy_portion_on_device(portion);
}

unsigned hy_choose(hy_choice *c, unsigned known, double budget)
{
    const hy_planning *p = &c->planning;
    const int host       = hy_choice_is_host(c);
    const int is_short   = hy_tile_fill_s(p->A) > budget * p->host_s;

    if (!(known & HY_KNOW_DEVICES) && !host)
        return HY_KNOW_DEVICES;
    if (c->count == 0)
        return HY_KNOW_ALL & ~known;
    if (!(known & HY_KNOW_FILL) && !(host && is_short))
        return HY_KNOW_FILL;
    if (!(known & HY_KNOW_ROWS) && !(host && hy_grain_host_chunks(p) == 1))
        return HY_KNOW_ROWS;
    return 0;
}

/* ---- the layout ---------------------------------------------------------------- */

/* Returns the fewest bytes that a schedule with this value (HY_WITH_...) sends; -1 if no
   such bytes are known. */
static int64_t up_with(const hy_choice *c, unsigned value)
{
    int64_t least = -1;

    for (int i = 0; i < c->count; i++) {
        const hy_option *o = &c->of[i];
        if (o->schedule->values & value && o->up >= 0 && (least < 0 || o->up < least))
            least = o->up;
    }
    return least;
}

/* Hands the layout of the schedule `best` to the caller, who frees it. Sets out->seconds
   to the seconds of the best schedule on the device, and out->ways_up to the bytes that
   other schedules send. */
static void take(hy_choice *c, hy_option *best, hy_layout *out)
{
    *out         = best->layout;
    out->seconds = find_best_of_device(c)->seconds;
    out->ways_up = (hy_ways_up){.gathered = up_with(c, HY_WITH_GATHER),
                                .ring     = up_with(c, HY_WITH_RING)};
    best->layout = (hy_layout){.depth = 0};
}

/* Asks schedules for their smallest layouts, from the last row of the table to the
   first, until one holds every row. */
static hybrid_status cut_anyway(const hy_planning *p, hy_layout *out)
{
    hybrid_status status = HYBRID_NO_DEVICE_MEMORY;
    int i                = 0;

    while (hy_schedules[i])
        i++;
    while (i-- > 0 && status == HYBRID_NO_DEVICE_MEMORY)
        if (hy_schedules[i]->cut_least && !refused(p->portion, hy_schedules[i]))
            status = hy_schedules[i]->cut_least(p, out);
    return status;
}

/* Cuts the product when no schedule has a layout (cut_anyway()). If the host is predicted
   to be sooner than the device with that layout, *out has no chunks but the device's
   seconds, and the host computes. */
static hybrid_status cut_last(hy_choice *c, hy_layout *out)
{
    HY_TRY(cut_anyway(&c->planning, out));
    const double device_s = hy_schedule_layout_s(&c->planning, out);
    for (int i = 0; i < c->count; i++)
        if (!is_on_device(&c->of[i]) && hy_is_sooner(c->of[i].seconds, device_s)) {
            hy_layout_free(c->planning.product, out);
            *out = (hy_layout){.seconds = device_s};
        }
    return HYBRID_OK;
}

/* Cuts a product of the host, which reads operands in place. */
static hybrid_status cut_in_place(const hy_planning *p, hy_layout *out)
{
    int i = 0;

    while (!(hy_schedules[i]->values & HY_WITH_IN_PLACE))
        i++;
    return hy_schedules[i]->cut(p, out);
}

/* Takes the schedule that a test names, or says why it cannot be used. */
static hybrid_status cut_named(hy_choice *c, const hy_schedule *schedule,
                               hy_option **best)
{
    const hy_portion *portion = c->planning.portion;
    const char *why           = refused(portion, schedule);

    c->of[0] = (hy_option){.schedule = schedule, .seconds = INFINITY, .up = -1};
    c->count = 1;
    *best    = &c->of[0];
    if (!why)
        HY_TRY(cut(c, *best));
    if (isfinite((*best)->seconds))
        return HYBRID_OK;
    return hy_fail(&portion->product->engine->ctx, HYBRID_UNSUPPORTED, "%s: %s",
                   schedule->name, why ? why : "the budget is too small for a row");
}

hybrid_status hy_choice_cut(hy_choice *c, hy_layout *out)
{
    const hy_portion *portion = c->planning.portion;
    const hy_schedule *named  = hy_settings_of(portion->product->engine)->schedule;
    hy_option *best           = NULL;

    if (!hy_portion_on_device(portion))
        return cut_in_place(&c->planning, out);
    HY_TRY(named ? cut_named(c, named, &best) : explore(c, &best));
    if (!best)
        return cut_last(c, out);
    take(c, best, out);
    return HYBRID_OK;
}

hybrid_status hy_choice_cut_device(const hy_portion *portion, const hybrid_csr *A,
                                   const hybrid_csr *B, hy_layout *out)
{
    hy_choice choice;

    hy_choice_open(portion, NULL, A, B, HY_KNOW_ALL, &choice);
    const hybrid_status status = hy_choice_cut(&choice, out);
    hy_choice_close(&choice);
    return status;
}
