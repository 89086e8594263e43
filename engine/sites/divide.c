/* engine/sites/divide.c - divides the rows of a product among devices.

   Each device plans for the whole product as if it were alone. Two estimates, of all rows
   and of half of them, give its fixed time, mostly that of receiving B or X, and its time
   per row. Rows are divided so that all devices finish together. The fastest device comes
   first; another joins if hy_seconds_together() becomes shorter by it. If the result is
   dense, devices then plan again for their own rows, and for the rows of X that these
   touch (x_rows.h). */
#include "engine/sites/divide.h"

#include <math.h>
#include <string.h>

#include "base/data/min_max.h"
#include "engine/plan/choose.h"
#include "engine/sites/x_rows.h"

/* a device joins the others only if the predicted run becomes shorter by at least this
   part of its time */
static const double LEAST_GAIN = 0.05;
/* a device joins the others only if the predicted run becomes shorter by at least this
   part of its time, if A is reduced: workers then gather X and store Y. Two H100 were
   measured to take 1.2 to 1.3 times the time of one, and 0.83 of it was predicted */
static const double LEAST_REDUCED = 0.3;
/* a device joins the others only if it gets at least this part of the work */
static const double LEAST_WEIGHT = 0.01;
/* minimum work of each device in tests that let all devices join, as a part of an even
   share */
static const double FORCED_WEIGHT = 0.25;

/* A device that may take part. It takes fixed_s + part * all_s seconds for a part of the
   rows (0 to 1), and alone_s for all. `weight` is the part of the work that it gets. */
typedef struct share {
    double fixed_s, all_s, alone_s;
    double image_s; /* part of fixed_s in which B or X arrives, if devices may copy it
                       from each other or get only rows of it; else 0 */
    double weight;
    int in; /* 1: the device takes part */
} share;

typedef struct division {
    const hybrid_csr *A, *B;
    hy_portion *portions; /* one for each device that can compute the product */
    int count;
    share of[HY_MAX_DEVICES];
    double seconds; /* predicted time of a run on the devices that take part so far */
    hy_x_rows x_rows;
} division;

/* ---- each for itself ----------------------------------------------------------- */

/* Tries the variants of the device, the fastest first, until one has a layout. *found
   becomes 1 if one has, else 0. */
static hybrid_status plan_alone(const division *d, hy_portion *portion, int *found)
{
    const hy_product *product = portion->product;
    hy_context *ctx           = &product->engine->ctx;
    hy_candidates candidates;

    *found = 0;
    hy_rank_device(product, portion->backend, &candidates);
    for (int i = 0; i < candidates.count && !*found; i++) {
        const hy_candidate *c = &candidates.of[i];
        if (c->refused)
            continue;
        hy_portion_assign(portion, product, c->variant, c->backend);
        const hybrid_status status =
            hy_choice_cut_device(portion, d->A, d->B, &portion->layout);
        if (status == HYBRID_NO_DEVICE_MEMORY || status == HYBRID_UNSUPPORTED) {
            hy_message_clear(&ctx->message);
            continue;
        }
        HY_TRY(status);
        *found = portion->layout.count > 0;
    }
    return HYBRID_OK;
}

/* Returns 1 if rows may be computed on this device as well. The bits of a dense result
   depend on the kind of device, so HYBRID_DETERMINISTIC then requires the same kind. */
static int may_compute(const hy_portion *portion, const hy_backend *device)
{
    const hy_product *product = portion->product;
    const hy_backend *first   = portion->backend;

    return product->op == HY_SPGEMM || !(product->options.flags & HYBRID_DETERMINISTIC) ||
           strcmp(device->ops->describe(device), first->ops->describe(first)) == 0;
}

static hybrid_status plan_others(division *d)
{
    const hy_portion *first     = d->portions;
    const hybrid_engine *engine = first->product->engine;
    int found;

    for (int i = 0; i < engine->device_count; i++) {
        hy_backend *device  = engine->devices[i];
        hy_portion *portion = &d->portions[d->count];
        if (device == first->backend || !may_compute(first, device))
            continue;
        *portion         = *first;
        portion->backend = device;
        portion->layout  = (hy_layout){.depth = 0};
        HY_TRY(plan_alone(d, portion, &found));
        d->count += found;
    }
    return HYBRID_OK;
}

/* ---- how much ------------------------------------------------------------------ */

static hy_estimate part_of(const division *d, int i, double part)
{
    const hy_portion *portion    = &d->portions[i];
    const hy_circumstances found = hy_circumstances_planned(portion, d->A, d->B);
    const hy_estimate all        = hy_estimate_device(portion, &portion->layout, &found);

    return hy_estimate_part(&all, &portion->layout, part);
}

/* Returns the bytes of B or X that the host may send to devices in part only. */
static double shared_bytes(const division *d, const hy_portion *portion,
                           const hy_estimate *all)
{
    const hy_layout *layout = &portion->layout;

    return d->x_rows.count > 0 && layout->image.axis == HY_AXIS_NONE
               ? (double)layout->image_bytes
               : all->image_bytes;
}

static void measure(division *d)
{
    for (int i = 0; i < d->count; i++) {
        const hy_portion *portion = &d->portions[i];
        const hy_estimate all = part_of(d, i, 1), half = part_of(d, i, 0.5);
        share *s   = &d->of[i];
        s->alone_s = hy_estimate_seconds(portion, &all);
        s->all_s   = 2 * (s->alone_s - hy_estimate_seconds(portion, &half));
        s->all_s   = fmax(s->all_s, 1e-3 * s->alone_s);
        s->fixed_s = fmax(0, s->alone_s - s->all_s);
        s->image_s =
            fmin(s->fixed_s, shared_bytes(d, portion, &all) / portion->rates.h2d_Bps);
    }
}

/* Returns the number of devices that take part. */
static int count_in(const division *d)
{
    int in = 0;

    for (int i = 0; i < d->count; i++)
        in += d->of[i].in;
    return in;
}

/* Returns the fixed seconds of a device, which contain only the part of image_s in which
   the host sends. */
static double fixed_of(const division *d, const share *s)
{
    return s->fixed_s - s->image_s * (1 - hy_x_rows_sent(&d->x_rows, count_in(d)));
}

/* Sets the weights so that all devices that take part finish at the same time, which is
   (1 + sum of fixed_s / all_s) / (sum of 1 / all_s). A device with a longer fixed_s gets
   no rows, unless a test lets all devices join. */
static void set_weights(division *d)
{
    const int all      = hy_settings_of(d->portions->product->engine)->all_devices;
    const double least = all ? FORCED_WEIGHT / d->count : 0;
    double fixed = 0, rates = 0, sum = 0;

    for (int i = 0; i < d->count; i++) {
        const share *s = &d->of[i];
        fixed += s->in ? fixed_of(d, s) / s->all_s : 0;
        rates += s->in ? 1 / s->all_s : 0;
    }
    for (int i = 0; i < d->count; i++) {
        share *s = &d->of[i];
        s->weight =
            s->in ? fmax(least, ((1 + fixed) / rates - fixed_of(d, s)) / s->all_s) : 0;
        sum += s->weight;
    }
    for (int i = 0; i < d->count; i++)
        d->of[i].weight /= sum;
}

static double seconds(const division *d)
{
    hy_estimate each[HY_MAX_DEVICES];
    const hy_rates *rates[HY_MAX_DEVICES];
    const int in = count_in(d);
    hy_rates host;
    int count = 0;

    hy_rates_of(d->portions->product->engine->host, &host);
    for (int i = 0; i < d->count; i++) {
        if (!d->of[i].in)
            continue;
        each[count] = part_of(d, i, d->of[i].weight);
        if (hy_x_rows_limited(&d->x_rows, in))
            each[count] = hy_x_rows_estimate(&d->portions[i], &each[count],
                                             hy_x_rows_sent(&d->x_rows, in));
        rates[count++] = &d->portions[i].rates;
    }
    return hy_seconds_together(each, rates, count, &host);
}

/* ---- who ----------------------------------------------------------------------- */

/* Returns the index of the device with the least alone_s that does not take part yet; -1
   if all do. */
static int find_fastest(const division *d)
{
    int best = -1;

    for (int i = 0; i < d->count; i++)
        if (!d->of[i].in && (best < 0 || d->of[i].alone_s < d->of[best].alone_s))
            best = i;
    return best;
}

static int is_worth_it(const division *d, int i, double with_s)
{
    if (hy_settings_of(d->portions->product->engine)->all_devices)
        return 1;
    const double gain =
        hy_product_has_views(d->portions->product) ? LEAST_GAIN : LEAST_REDUCED;
    return d->of[i].weight >= LEAST_WEIGHT && with_s < (1 - gain) * d->seconds;
}

static void choose(division *d)
{
    int i = find_fastest(d);

    d->of[i].in = 1;
    set_weights(d);
    d->seconds = d->of[i].alone_s;
    while ((i = find_fastest(d)) >= 0) {
        d->of[i].in = 1;
        set_weights(d);
        const double with_s = seconds(d);
        if (!is_worth_it(d, i, with_s)) {
            d->of[i].in = 0;
            set_weights(d);
            return;
        }
        d->seconds = with_s;
    }
}

/* ---- which rows ---------------------------------------------------------------- */

/* Returns the work of rows [0, row): scalar products plus rows. */
static double work_before(const hy_profile *profile, int64_t row)
{
    return (double)hy_profile_range(profile, 0, row, profile->out_cols).products +
           (double)row;
}

/* Returns the first row r for which rows [0, r) have at least `work` (scalar products
   plus rows). */
static int64_t row_at(const hy_profile *profile, double work)
{
    int64_t low = 0, high = profile->rows;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (work_before(profile, middle) < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Gives each device that takes part a contiguous range of rows, and removes the
   others. */
static void give_rows(division *d)
{
    const hy_profile profile = d->portions->profile;
    const double all         = work_before(&profile, profile.rows);
    double sum               = 0;
    int64_t begin            = 0;
    int kept                 = 0;

    for (int i = 0; i < d->count; i++) {
        hy_portion *p = &d->portions[i];
        sum += d->of[i].weight;
        const int64_t end = row_at(&profile, sum * all);
        if (!d->of[i].in || end == begin) {
            hy_layout_free(p->product, &p->layout);
            continue;
        }
        p->begin  = begin;
        p->end    = end;
        p->weight = d->of[i].weight;
        p->rate   = p->weight * all / d->seconds;
        begin     = end;
        if (kept < i)
            d->portions[kept] = *p;
        kept++;
    }
    d->portions[kept - 1].end = profile.rows; /* the last device gets all remaining rows,
                                                 because rounding of the weights may leave
                                                 some over */
    d->count = kept;
}

/* Cuts the portion's own rows of a dense result again, because cached packs, column
   blocks and rings depend on the rows. */
static hybrid_status cut_own(const division *d, hy_portion *p)
{
    hy_layout_free(p->product, &p->layout);
    p->profile = hy_profile_narrow(&p->profile, p->begin, p->end);
    return hy_choice_cut_device(p, d->A, d->B, &p->layout);
}

hybrid_status hy_divide(const hybrid_csr *A, const hybrid_csr *B, hy_portion *portions,
                        int *count)
{
    division d           = {.A = A, .B = B, .portions = portions, .count = 1};
    hybrid_status status = plan_others(&d);

    if (status == HYBRID_OK && d.count > 1) {
        hy_x_rows_sample(portions, A, B, &d.x_rows);
        measure(&d);
        choose(&d);
        give_rows(&d);
        status = hy_x_rows_limit(&d.x_rows, portions, d.count);
    }
    *count = d.count;
    for (int i = 0; i < d.count && status == HYBRID_OK && d.count > 1 && !B; i++)
        status = cut_own(&d, &portions[i]);
    return status;
}

/* ---- rows of others ------------------------------------------------------------ */

/* Returns 1 if the device may take rows of other portions: it has all of B or X, or its
   packs contain the entries of B (HY_FORM_NONE). Returns 0 with a resident A, whose rows
   stay on their device, and if the bits of rows depend on their chunk. */
static int may_take(const hy_portion *portion)
{
    const unsigned flags = portion->product->options.flags;

    return portion->layout.image.axis == HY_AXIS_NONE && portion->x_end == 0 &&
           portion->site->depth > 0 && !(flags & HYBRID_RESIDENT) &&
           (portion->product->op == HY_SPGEMM || !(flags & HYBRID_DETERMINISTIC));
}

void hy_divide_taking(hy_portion *portion)
{
    const hy_layout *layout = &portion->layout;
    hy_taking *s            = &portion->taking;

    *s = (hy_taking){.variant = NULL};
    if (!may_take(portion))
        return;
    *s = (hy_taking){.variant = portion->variant, .share = -1};
    for (int64_t i = 0; i < layout->count; i++) {
        s->products = hy_max(s->products, layout->chunks[i].features.products);
        s->rows     = hy_max(s->rows, layout->chunks[i].features.rows);
    }
}
