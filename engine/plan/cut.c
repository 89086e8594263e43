/* engine/plan/cut.c - chooses the schedule and the layout of a product.

   The time of a schedule is estimated in three steps, each dearer and more accurate than
   the one before: from sizes, after a look at A, and from the chunks that the schedule
   cuts. The schedule that seems fastest takes its next step, until the fastest one has
   been cut. No step is taken that cannot change the choice. */
#include "engine/plan/cut.h"

#include <math.h>

#include "engine/rates/traffic.h"

typedef enum knowledge { PROMISED, LOOKED, CUT } knowledge;

enum { MOST = 8 }; /* maximum number of schedules */

typedef struct option {
    const hy_schedule *schedule;
    double seconds; /* INFINITY: the schedule cannot be used */
    knowledge known;
    int64_t up; /* bytes of B or X sent to the device in a run, once the chunks are cut
                   (or, if chunks gather, A was looked at); -1: unknown */
    hy_layout layout;
} option;

typedef struct choice {
    hy_planning planning;
    hy_extents extents;
    int count;
    option of[MOST];
} choice;

static int is_on_device(const option *o)
{
    return o->schedule != &hy_schedule_in_place;
}

/* ---- what is known of one ------------------------------------------------------ */

static const char *refused(const hy_product *product, const hy_schedule *schedule)
{
    return schedule->refuse ? schedule->refuse(product) : NULL;
}

static double seconds_of(const choice *c, const hy_estimate *e)
{
    return e->chunks == 0 ? INFINITY : hy_estimate_seconds(c->planning.product, e);
}

static void add(choice *c, const hy_schedule *schedule)
{
    option *o = &c->of[c->count++];

    *o                  = (option){.schedule = schedule, .up = -1};
    const hy_estimate e = schedule->promise(&c->planning);
    o->seconds          = seconds_of(c, &e);
}

static hybrid_status look(choice *c, option *o)
{
    hy_estimate e;

    o->known = LOOKED;
    if (!o->schedule->cost)
        return HYBRID_OK;
    HY_TRY(o->schedule->cost(&c->planning, &e));
    o->seconds = seconds_of(c, &e);
    if (o->schedule == &hy_schedule_gather)
        o->up = (int64_t)(e.first_bytes + e.up_bytes);
    return HYBRID_OK;
}

static hybrid_status cut(choice *c, option *o)
{
    const hy_product *product  = c->planning.product;
    const hybrid_status status = o->schedule->cut(&c->planning, &o->layout);

    o->known = CUT;
    if (status == HYBRID_NO_DEVICE_MEMORY) {
        hy_message_clear(&product->engine->ctx.message);
        o->seconds = INFINITY;
        return HYBRID_OK;
    }
    if (status != HYBRID_OK || o->layout.depth == 0) {
        o->seconds = INFINITY;
        return status;
    }
    o->seconds = hy_schedule_layout_s(&c->planning, &o->layout);
    o->up      = hy_traffic_dense_up(product, &o->layout);
    return HYBRID_OK;
}

/* ---- the best of all ----------------------------------------------------------- */

/* Returns the fastest schedule on the device, by hy_is_sooner(); NULL if none can be
   used. */
static option *find_best_of_device(choice *c)
{
    option *best = NULL;

    for (int i = 0; i < c->count; i++) {
        option *o = &c->of[i];
        if (is_on_device(o) && isfinite(o->seconds) &&
            (!best || hy_is_sooner(o->seconds, best->seconds)))
            best = o;
    }
    return best;
}

static option *find_best(choice *c)
{
    option *best = find_best_of_device(c);

    for (int i = 0; i < c->count && best; i++)
        if (!is_on_device(&c->of[i]) && hy_is_sooner(c->of[i].seconds, best->seconds))
            return &c->of[i];
    return best;
}

/* Takes steps until the best schedule, which the function returns in *best, is known as
   well as `enough`. *best is NULL if no schedule can be used. */
static hybrid_status explore(choice *c, knowledge enough, option **best)
{
    for (;;) {
        option *o = *best = find_best(c);
        if (!o || o->known >= (is_on_device(o) ? enough : LOOKED))
            return HYBRID_OK;
        HY_TRY(o->known == PROMISED ? look(c, o) : cut(c, o));
    }
}

static void begin(choice *c, const hy_product *product, const hybrid_csr *A,
                  const hybrid_csr *B)
{
    *c = (choice){.count = 0};
    c->planning =
        (hy_planning){.product = product, .A = A, .B = B, .extents = &c->extents};
    for (int i = 0; hy_schedules[i]; i++)
        if (!refused(product, hy_schedules[i]))
            add(c, hy_schedules[i]);
}

static void end(choice *c)
{
    const hy_product *product = c->planning.product;

    hy_extents_free(&product->engine->ctx, &c->extents);
    for (int i = 0; i < c->count; i++)
        hy_layout_free(product, &c->of[i].layout);
}

static int64_t up_of(const choice *c, const hy_schedule *schedule)
{
    for (int i = 0; i < c->count; i++)
        if (c->of[i].schedule == schedule)
            return c->of[i].up;
    return -1;
}

/* Hands the layout to the caller, who frees it. */
static void take(choice *c, option *best, hy_layout *out)
{
    *out         = best->layout;
    out->seconds = find_best_of_device(c)->seconds;
    out->ways_up = (hy_ways_up){.gathered = up_of(c, &hy_schedule_gather),
                                .window   = up_of(c, &hy_schedule_row_ring),
                                .panels   = up_of(c, &hy_schedule_column_ring)};
    best->layout = (hy_layout){.depth = 0};
}

/* Called when no schedule has a layout. Tries chunks that gather, and then all of B or X
   with a single slot: the rows that a chunk touches may fit although all of B or X does
   not, or the other way round, as the rows that one row touches, with repetitions, may
   exceed B. */
static hybrid_status cut_anyway(const hy_planning *p, hy_layout *out)
{
    const hy_layout whole = {
        .image = hy_product_image(p->product), .depth = 1, .share = 1};
    const hybrid_status status = refused(p->product, &hy_schedule_gather)
                                     ? hy_schedule_first(p, &whole, 1, out)
                                     : hy_schedule_gather.cut(p, out);

    if (status != HYBRID_NO_DEVICE_MEMORY || refused(p->product, &hy_schedule_gather) ||
        hy_align(hy_image_room(&whole.image)) > p->product->rates.memory)
        return status;
    return hy_schedule_first(p, &whole, 1, out);
}

/* Takes the schedule that a test names, or says why it cannot be used. */
static hybrid_status cut_named(choice *c, const hy_schedule *schedule, option **best)
{
    const hy_product *product = c->planning.product;
    const char *why           = refused(product, schedule);

    c->of[0] = (option){.schedule = schedule, .seconds = INFINITY, .up = -1};
    c->count = 1;
    *best    = &c->of[0];
    if (!why)
        HY_TRY(cut(c, *best));
    if (isfinite((*best)->seconds))
        return HYBRID_OK;
    return hy_fail(&product->engine->ctx, HYBRID_UNSUPPORTED, "%s: %s", schedule->name,
                   why ? why : "no layout within the budget holds every row");
}

hybrid_status hy_cut_layout(const hy_product *product, const hybrid_csr *A,
                            const hybrid_csr *B, hy_layout *out)
{
    const hy_schedule *named = hy_settings_of(product->engine)->schedule;
    option *best             = NULL;
    choice c;

    if (!hy_product_on_device(product)) {
        const hy_planning planning = {.product = product, .A = A, .B = B};
        return hy_schedule_in_place.cut(&planning, out);
    }
    begin(&c, product, A, B);
    hybrid_status status = named ? cut_named(&c, named, &best) : explore(&c, CUT, &best);
    if (status == HYBRID_OK && best)
        take(&c, best, out);
    else if (status == HYBRID_OK)
        status = cut_anyway(&c.planning, out);
    end(&c);
    return status;
}

hybrid_status hy_cut_least(const hy_product *product, const hybrid_csr *A,
                           double *seconds)
{
    option *best = NULL;
    choice c;

    begin(&c, product, A, NULL);
    const hybrid_status status = explore(&c, LOOKED, &best);
    best                       = find_best_of_device(&c);
    *seconds                   = best ? best->seconds : INFINITY;
    end(&c);
    return status;
}
