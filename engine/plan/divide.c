/* engine/plan/divide.c - which devices compute a product, and which rows are whose.

   Each device plans for the whole product as if it were alone. Two estimates of that, of
   all rows and of half of them, tell what a device takes whatever its part, which is
   above all B or X that it must have, and what each row takes. With these, rows are
   divided so that all are done at once. The fastest device is first; another takes part
   if the time of all together, hy_seconds_together(), becomes less by it. Then those of a
   dense product plan anew for the rows that are theirs. */
#include "engine/plan/divide.h"

#include <math.h>
#include <string.h>

#include "base/data/min_max.h"
#include "engine/plan/cut.h"
#include "engine/plan/rank.h"

/* Each device must take so much off the run, */
static const double LEAST_GAIN = 0.05;
/* and have so much of the work. */
static const double LEAST_WEIGHT = 0.01;
/* Of an even part, in tests that let all take part. */
static const double FORCED_WEIGHT = 0.25;

/* A device whose part takes fixed_s + part * all_s. */
typedef struct share {
    double fixed_s, all_s, alone_s;
    double weight;
    int in; /* takes part */
} share;

typedef struct division {
    const hybrid_csr *A, *B;
    hy_portion *portions; /* one of each device that can compute the product */
    int count;
    share of[HY_MOST_DEVICES];
    double seconds; /* of those that take part so far */
} division;

/* ---- each for itself ---------------------------------------------------------------
 */

/* The best candidate of the device that has a layout: *found says whether there is one.
 */
static hybrid_status plan_alone(const division *d, hy_portion *portion, int *found)
{
    hy_product *product = &portion->product;
    hy_context *ctx     = &product->engine->ctx;
    hy_candidates candidates;

    *found = 0;
    hy_rank_device(product, product->backend, &candidates);
    for (int i = 0; i < candidates.count && !*found; i++) {
        const hy_candidate *c = &candidates.of[i];
        if (c->refused)
            continue;
        hy_product_assign(product, c->variant, c->backend);
        const hybrid_status status = hy_cut_layout(product, d->A, d->B, &portion->layout);
        if (status == HYBRID_NO_DEVICE_MEMORY || status == HYBRID_UNSUPPORTED) {
            hy_message_clear(&ctx->message);
            continue;
        }
        HY_TRY(status);
        *found = portion->layout.count > 0;
    }
    return HYBRID_OK;
}

/* Bits of a dense result depend on which kind of device computes a row. */
static int may_differ(const hy_product *product, const hy_backend *device)
{
    const hy_backend *first = product->backend;

    return product->op == HY_SPGEMM || !(product->options.flags & HYBRID_DETERMINISTIC) ||
           strcmp(device->ops->describe(device), first->ops->describe(first)) == 0;
}

static hybrid_status plan_others(division *d)
{
    const hy_product *first = &d->portions->product;
    hybrid_engine *engine   = first->engine;
    int found;

    for (int i = 0; i < engine->device_count; i++) {
        hy_backend *device  = engine->devices[i];
        hy_portion *portion = &d->portions[d->count];
        if (device == first->backend || !may_differ(first, device))
            continue;
        *portion                 = *d->portions;
        portion->product.backend = device;
        portion->product.host_s  = INFINITY; /* the host does not compute it */
        portion->layout          = (hy_layout){.depth = 0};
        HY_TRY(plan_alone(d, portion, &found));
        d->count += found;
    }
    return HYBRID_OK;
}

/* ---- how much ---------------------------------------------------------------------
 */

static hy_estimate part_of(const division *d, int i, double part)
{
    const hy_portion *portion    = &d->portions[i];
    const hy_planning planning   = {.product = &portion->product, .A = d->A, .B = d->B};
    const hy_circumstances found = hy_circumstances_planned(&planning);
    const hy_estimate all =
        hy_estimate_device(&portion->product, &portion->layout, &found);

    return hy_estimate_part(&all, &portion->layout, part);
}

static void measure(division *d)
{
    for (int i = 0; i < d->count; i++) {
        const hy_product *product = &d->portions[i].product;
        const hy_estimate all = part_of(d, i, 1), half = part_of(d, i, 0.5);
        share *s   = &d->of[i];
        s->alone_s = hy_estimate_seconds(product, &all);
        s->all_s   = 2 * (s->alone_s - hy_estimate_seconds(product, &half));
        s->all_s   = fmax(s->all_s, 1e-3 * s->alone_s);
        s->fixed_s = fmax(0, s->alone_s - s->all_s);
    }
}

/* So that those that take part are done at once: each at (1 + sum fixed / all) / (sum 1 /
   all). A device whose fixed time alone is longer has no work. */
static void weigh(division *d)
{
    const int all      = d->portions->product.engine->all_devices;
    const double least = all ? FORCED_WEIGHT / d->count : 0;
    double fixed = 0, rates = 0, sum = 0;

    for (int i = 0; i < d->count; i++) {
        const share *s = &d->of[i];
        fixed += s->in ? s->fixed_s / s->all_s : 0;
        rates += s->in ? 1 / s->all_s : 0;
    }
    for (int i = 0; i < d->count; i++) {
        share *s = &d->of[i];
        s->weight =
            s->in ? fmax(least, ((1 + fixed) / rates - s->fixed_s) / s->all_s) : 0;
        sum += s->weight;
    }
    for (int i = 0; i < d->count; i++)
        d->of[i].weight /= sum;
}

static double seconds(const division *d)
{
    hy_estimate each[HY_MOST_DEVICES];
    const hy_rates *rates[HY_MOST_DEVICES];
    hy_rates host;
    int count = 0;

    hy_rates_of(d->portions->product.engine->host, &host);
    for (int i = 0; i < d->count; i++) {
        if (!d->of[i].in)
            continue;
        each[count]    = part_of(d, i, d->of[i].weight);
        rates[count++] = &d->portions[i].product.rates;
    }
    return hy_seconds_together(each, rates, count, &host);
}

/* ---- who --------------------------------------------------------------------------
 */

/* The fastest that does not take part yet; -1: all do. */
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
    if (d->portions->product.engine->all_devices)
        return 1;
    return d->of[i].weight >= LEAST_WEIGHT && with_s < (1 - LEAST_GAIN) * d->seconds;
}

static void choose(division *d)
{
    int i = find_fastest(d);

    d->of[i].in = 1;
    weigh(d);
    d->seconds = d->of[i].alone_s;
    while ((i = find_fastest(d)) >= 0) {
        d->of[i].in = 1;
        weigh(d);
        const double with_s = seconds(d);
        if (!is_worth_it(d, i, with_s)) {
            d->of[i].in = 0;
            weigh(d);
            return;
        }
        d->seconds = with_s;
    }
}

/* ---- which rows ---------------------------------------------------------------------
 */

/* Products and rows of those before `row`. */
static double work_before(const hy_profile *profile, int64_t row)
{
    return (double)hy_profile_range(profile, 0, row, profile->out_cols).products +
           (double)row;
}

/* The first row before which there is so much. */
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

/* Those that take part, with rows that follow each other; the others go. */
static void give_rows(division *d)
{
    const hy_profile profile = d->portions->product.profile;
    const double all         = work_before(&profile, profile.rows);
    double sum               = 0;
    int64_t begin            = 0;
    int kept                 = 0;

    for (int i = 0; i < d->count; i++) {
        hy_portion *p = &d->portions[i];
        sum += d->of[i].weight;
        const int64_t end = row_at(&profile, sum * all);
        if (!d->of[i].in || end == begin) {
            hy_layout_free(&p->product, &p->layout);
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
    d->portions[kept - 1].end = profile.rows; /* rounding */
    d->count                  = kept;
}

/* A dense result's rows are cut anew: places of packs, panels and rings are of these. */
static hybrid_status cut_own(const division *d, hy_portion *p)
{
    hy_product *product = &p->product;

    hy_layout_free(product, &p->layout);
    product->profile = hy_profile_narrow(&product->profile, p->begin, p->end);
    product->host_s  = INFINITY;
    return hy_cut_layout(product, d->A, d->B, &p->layout);
}

hybrid_status hy_divide(const hybrid_csr *A, const hybrid_csr *B, hy_portion *portions,
                        int *count)
{
    division d           = {.A = A, .B = B, .portions = portions, .count = 1};
    hybrid_status status = plan_others(&d);

    if (status == HYBRID_OK && d.count > 1) {
        measure(&d);
        choose(&d);
        give_rows(&d);
    }
    *count = d.count;
    for (int i = 0; i < d.count && status == HYBRID_OK && d.count > 1 && !B; i++)
        status = cut_own(&d, &portions[i]);
    return status;
}

/* ---- rows of others -----------------------------------------------------------------
 */

/* It has all of B or X, or its packs carry what they need. Of an A that stays, and where
   bits depend on the chunk that a row is in, rows are computed where they are. */
static int may_take(const hy_portion *portion)
{
    const unsigned flags = portion->product.options.flags;

    return !portion->layout.gathered && portion->layout.image.axis == HY_AXIS_NONE &&
           portion->site->depth > 0 && !(flags & HYBRID_RESIDENT) &&
           (portion->product.op == HY_SPGEMM || !(flags & HYBRID_DETERMINISTIC));
}

void hy_divide_takes(hy_portion *portion)
{
    const hy_layout *layout = &portion->layout;
    const hy_site *site     = portion->site;
    hy_sharing *s           = &portion->taking;

    *s = (hy_sharing){.variant = NULL};
    if (!may_take(portion))
        return;
    *s = (hy_sharing){.variant      = portion->product.variant,
                      .rates        = portion->product.rates,
                      .slot_bytes   = site->slots->device.bytes,
                      .pinned_bytes = site->slots->pinned.bytes,
                      .share        = -1};
    for (int64_t i = 0; i < layout->count; i++) {
        s->products = hy_max(s->products, layout->chunks[i].features.products);
        s->rows     = hy_max(s->rows, layout->chunks[i].features.rows);
    }
}
