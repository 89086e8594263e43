/* tests/support/fake/simulated.c - products on simulated devices, with a virtual
   clock. */
#include "support/fake/simulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/pattern/inspect.h"
#include "pipeline/run/queue.h"

enum {
    SLOTS    = 4,
    PRODUCTS = 100 /* scalar products per row */,
    SPARE    = 64 /* bytes of a slot for each row of a chunk */
};

static const double BYTE = 1; /* bytes by which rounding may change a sum of steps */

typedef enum stage { FREE, UP, COMPUTES, COUNTED, DOWN } stage;

/* A slot of a device, with the chunk that it holds. */
typedef struct slot {
    stage at;
    hy_claim claim;
    double left;  /* what remains of the present stage: bytes of a copy, or seconds of
                     kernels */
    int64_t turn; /* number of this claim among the claims of its device */
} slot;

typedef struct device {
    double image_left; /* bytes of B or X still to send */
    slot slots[SLOTS];
    int64_t turns;
    double speed;
    double up, kernel, down; /* present rates: bytes per second up and down, and the
                                factor of kernel speed; 0: idle */
} device;

typedef struct simulation {
    const simulated_machine *machine;
    const simulated_product *product;
    simulated_run *run;
    hy_profile profile;
    hy_chunk *chunks;
    hy_site sites[SIMULATED_DEVICES];
    hy_queue queue;
    device of[SIMULATED_DEVICES];
    int64_t reserved; /* rows of the result with known positions */
    double now;
} simulation;

/* ---- the queue ---- */

static hy_cost cost_of(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return (hy_cost){.out_bytes = (size_t)f->rows * SPARE};
}

static const hy_variant variant = {.name = "simulated", .op = HY_SPMM, .cost = cost_of};

/* The simulation copies nothing: the queue only asks whether a site has copies. */
static hybrid_status copy(hy_lane *lane, void *dst, const void *src, size_t bytes)
{
    (void)lane, (void)dst, (void)src, (void)bytes;
    abort();
}

static const hy_backend_ops ops = {.copy = copy};
static hy_backend backend       = {.ops = &ops};

static int64_t *prefix_of(int64_t each)
{
    int64_t *sums = malloc((SIMULATED_ROWS + 1) * sizeof *sums);

    if (!sums)
        abort();
    for (int64_t i = 0; i <= SIMULATED_ROWS; i++)
        sums[i] = i * each;
    return sums;
}

static void make_profile(simulation *s)
{
    hy_profile *p = &s->profile;

    p->op   = HY_SPMM;
    p->type = HYBRID_F32;
    p->rows = p->cols = p->end = SIMULATED_ROWS;
    p->out_cols                = 1;
    p->nnz = p->products = prefix_of(PRODUCTS);
    p->features          = (hy_features){.rows      = SIMULATED_ROWS,
                                         .cols      = SIMULATED_ROWS,
                                         .nnz       = SIMULATED_ROWS * PRODUCTS,
                                         .out_cols  = 1,
                                         .products  = SIMULATED_ROWS * PRODUCTS,
                                         .out_bound = SIMULATED_ROWS,
                                         .row_max   = PRODUCTS,
                                         .out_ratio = 1,
                                         .type      = HYBRID_F32};
}

static void cut(simulation *s)
{
    const int count = s->product->chunks;

    s->chunks = calloc((size_t)count, sizeof *s->chunks);
    if (!s->chunks)
        abort();
    for (int i = 0; i < count; i++) {
        hy_chunk *c  = &s->chunks[i];
        c->id        = i;
        c->row_begin = (int64_t)SIMULATED_ROWS * i / count;
        c->row_end   = (int64_t)SIMULATED_ROWS * (i + 1) / count;
        c->col_end   = 1;
        c->variant   = &variant;
        c->features  = hy_profile_range(&s->profile, c->row_begin, c->row_end, 1);
    }
}

/* Returns the predicted work per second of a device that computes alone. */
static double rate_of(const simulation *s)
{
    const simulated_product *p = s->product;
    const double work          = (double)SIMULATED_ROWS * (PRODUCTS + 1);

    return work / fmax(p->device_s, p->down_bytes / s->machine->down_Bps);
}

/* Gives each device rows in proportion to its speed. If result positions are unknown, all
   devices share all rows. */
static void open_queue(simulation *s)
{
    const simulated_machine *m = s->machine;
    const hy_chunk_list list   = hy_chunks_of(s->chunks, s->product->chunks);
    const int64_t most         = SIMULATED_ROWS / s->product->chunks + 1;
    const int in_order         = s->product->in_order;
    double all = 0, sum = 0;

    for (int i = 0; i < m->devices; i++)
        all += m->speed[i];
    hy_queue_open(&s->queue, &s->profile, in_order);
    for (int i = 0; i < m->devices; i++) {
        const int64_t begin = (int64_t)round(SIMULATED_ROWS * sum / all);
        sum += m->speed[i];
        const int64_t end = (int64_t)round(SIMULATED_ROWS * sum / all);
        s->sites[i]       = (hy_site){.backend     = &backend,
                                      .list        = list,
                                      .begin       = in_order ? 0 : begin,
                                      .end         = in_order ? SIMULATED_ROWS : end,
                                      .taking      = {.variant  = &variant,
                                                      .products = INT64_MAX,
                                                      .rows     = most,
                                                      .share    = -1},
                                      .slot_device = (size_t)most * SPARE + 256,
                                      .slot_pinned = SIZE_MAX,
                                      .rate        = rate_of(s) * m->speed[i],
                                      .depth       = SLOTS};
        hy_queue_add(&s->queue, &s->sites[i]);
        s->of[i].image_left = s->product->image_bytes;
        s->of[i].speed      = m->speed[i];
    }
}

/* ---- stages ---- */

static double part_of(const slot *sl)
{
    return (double)sl->claim.chunk.features.rows / SIMULATED_ROWS;
}

/* Returns the bytes of B or X that must have arrived before the chunk can begin. */
static double image_for(const simulation *s, const slot *sl)
{
    const double place = (double)sl->claim.chunk.row_end / SIMULATED_ROWS;

    return s->product->image_bytes * (s->product->far ? 1 : place);
}

static void begin_claim(simulation *s, int k, slot *sl)
{
    const hy_chunk *chunk = &sl->claim.chunk;

    for (int64_t i = chunk->row_begin; i < chunk->row_end; i++)
        s->run->times[i]++;
    s->run->rows[k] += chunk->features.rows;
    sl->at   = UP;
    sl->left = s->product->a_bytes * part_of(sl);
    sl->turn = s->of[k].turns++;
}

static int in_flight(const simulation *s)
{
    int some = 0;

    for (int k = 0; k < s->machine->devices; k++)
        for (int i = 0; i < SLOTS; i++)
            some += s->of[k].slots[i].at != FREE;
    return some;
}

/* Claims one chunk for device k, if it has a free slot. With `must`, the queue must offer
   a chunk. Returns 1 if a chunk was claimed. */
static int claim_for(simulation *s, int k, int must)
{
    for (int i = 0; i < SLOTS; i++) {
        slot *sl = &s->of[k].slots[i];
        if (sl->at != FREE)
            continue;
        if (!hy_queue_claim(&s->queue, k, must, &sl->claim))
            return 0;
        begin_claim(s, k, sl);
        return 1;
    }
    return 0;
}

static void claim_all(simulation *s)
{
    int some = 1;

    while (some) {
        some = 0;
        for (int k = s->machine->devices - 1; k >= 0; k--)
            some = claim_for(s, k, 0) || some;
        for (int k = 0; k < s->machine->devices && !in_flight(s); k++)
            some = claim_for(s, k, 1) || some;
    }
}

/* Returns the chunk that was claimed first of those at a stage, or NULL. Lanes keep the
   order of claims. */
static slot *oldest(device *d, stage at)
{
    slot *first = NULL;

    for (int i = 0; i < SLOTS; i++)
        if (d->slots[i].at == at && (!first || d->slots[i].turn < first->turn))
            first = &d->slots[i];
    return first;
}

static slot *computing(const simulation *s, device *d)
{
    slot *sl            = oldest(d, COMPUTES);
    const double loaded = s->product->image_bytes - d->image_left;

    return sl && loaded + BYTE >= image_for(s, sl) ? sl : NULL;
}

/* ---- rates ---- */

/* Sets the rates that the device would have if no other device were busy. */
static void wish(simulation *s, device *d)
{
    const simulated_machine *m = s->machine;

    d->up     = d->image_left > 0 || oldest(d, UP) ? m->up_Bps * d->speed : 0;
    d->kernel = computing(s, d) ? d->speed : 0;
    d->down   = oldest(d, DOWN) ? m->down_Bps * d->speed : 0;
    if (d->up > 0 && d->down > 0) {
        const double part = m->both_Bps * d->speed / (d->up + d->down);
        d->up *= fmin(1, part);
        d->down *= fmin(1, part);
    }
}

/* Slows all copies by the same factor if together they exceed the host's memory or cores.
   Sets *memory or *cores to 1 if it is that resource which limits the copies, else to
   0. */
static void share_out(simulation *s, int *memory, int *cores)
{
    const simulated_machine *m = s->machine;
    double up = 0, down = 0;

    for (int k = 0; k < m->devices; k++) {
        wish(s, &s->of[k]);
        up += s->of[k].up;
        down += s->of[k].down;
    }
    const double asked = (up + down) / m->memory_Bps;
    const double busy  = m->fill_Bps > 0 ? up / m->fill_Bps + down / m->store_Bps : 0;
    const double most  = fmax(1, fmax(asked, busy));
    *memory            = asked >= 1 && asked >= busy;
    *cores             = busy >= 1 && busy > asked;
    for (int k = 0; k < m->devices; k++) {
        s->of[k].up /= most;
        s->of[k].down /= most;
    }
}

/* ---- time ---- */

/* Returns the bytes left of the current copy to the device: packs of chunks, which are
   small, go before B or X. */
static double up_left(device *d)
{
    const slot *sl = oldest(d, UP);
    return sl ? sl->left : d->image_left;
}

/* Returns the bytes of B or X after which a waiting chunk can begin; infinity if none
   waits. */
static double image_step(const simulation *s, device *d)
{
    const slot *sl      = oldest(d, COMPUTES);
    const double loaded = s->product->image_bytes - d->image_left;

    if (!sl || oldest(d, UP) || image_for(s, sl) <= loaded + BYTE)
        return INFINITY;
    return image_for(s, sl) - loaded;
}

static double until_next(simulation *s)
{
    double least = INFINITY;

    for (int k = 0; k < s->machine->devices; k++) {
        device *d = &s->of[k];
        if (d->up > 0)
            least = fmin(least, fmin(up_left(d), image_step(s, d)) / d->up);
        if (d->kernel > 0)
            least = fmin(least, computing(s, d)->left / d->kernel);
        if (d->down > 0)
            least = fmin(least, oldest(d, DOWN)->left / d->down);
    }
    return least;
}

static int is_over(double left)
{
    return left <= 1e-12;
}

static void end_stage(simulation *s, int k, slot *sl)
{
    const int64_t ns = (int64_t)(s->now * 1e9) + 1;

    if (sl->at == UP) {
        sl->at   = COMPUTES;
        sl->left = s->product->device_s * part_of(sl);
    } else if (sl->at == COMPUTES) {
        sl->at = COUNTED;
        if (s->product->in_order)
            hy_queue_done(&s->queue, k, &sl->claim.chunk, ns);
    } else {
        sl->at = FREE;
        if (!s->product->in_order)
            hy_queue_done(&s->queue, k, &sl->claim.chunk, ns);
    }
}

/* Starts the copy of each result with a known position. Returns 1 if there was one. */
static int reserve(simulation *s)
{
    int some = 0;

    for (int k = 0; k < s->machine->devices; k++)
        for (int i = 0; i < SLOTS; i++) {
            slot *sl = &s->of[k].slots[i];
            if (sl->at != COUNTED ||
                (s->product->in_order && sl->claim.chunk.row_begin != s->reserved))
                continue;
            sl->at      = DOWN;
            sl->left    = s->product->down_bytes * part_of(sl);
            s->reserved = sl->claim.chunk.row_end;
            some        = 1;
        }
    return some;
}

static void pass(simulation *s, int k, double seconds)
{
    device *d    = &s->of[k];
    slot *up     = oldest(d, UP);
    slot *kernel = computing(s, d), *down = oldest(d, DOWN);

    s->run->up_bytes += d->up * seconds;
    s->run->down_bytes += d->down * seconds;
    s->run->bus += (d->up > 0 || d->down > 0) * seconds / s->machine->devices;
    if (d->up > 0)
        *(up ? &up->left : &d->image_left) -= d->up * seconds;
    if (d->image_left < 1e-3)
        d->image_left = 0;
    if (d->kernel > 0)
        kernel->left -= d->kernel * seconds;
    if (d->down > 0)
        down->left -= d->down * seconds;
    if (d->up > 0 && up && up->left < 1e-3)
        end_stage(s, k, up);
    if (d->kernel > 0 && is_over(kernel->left))
        end_stage(s, k, kernel);
    if (d->down > 0 && down->left < 1e-3)
        end_stage(s, k, down);
}

static void note_flying(simulation *s)
{
    for (int k = 0; k < s->machine->devices; k++) {
        int count = 0;
        for (int i = 0; i < SLOTS; i++)
            count += s->of[k].slots[i].at != FREE;
        if (count > s->run->most_in_flight)
            s->run->most_in_flight = count;
    }
}

static void go(simulation *s)
{
    int memory, cores;

    for (claim_all(s); in_flight(s); claim_all(s)) {
        note_flying(s);
        while (reserve(s))
            continue;
        share_out(s, &memory, &cores);
        const double seconds = until_next(s);
        if (isinf(seconds)) /* no event is left, because no device can continue */
            abort();
        s->now += seconds;
        s->run->memory += memory * seconds;
        s->run->cores += cores * seconds;
        for (int k = 0; k < s->machine->devices; k++)
            pass(s, k, seconds);
    }
}

void simulate(const simulated_machine *machine, const simulated_product *product,
              simulated_run *out)
{
    simulation *s = calloc(1, sizeof *s);

    if (!s)
        abort();
    memset(out, 0, sizeof *out);
    s->machine = machine;
    s->product = product;
    s->run     = out;
    make_profile(s);
    cut(s);
    open_queue(s);
    go(s);
    out->seconds = s->now;
    out->memory /= s->now;
    out->cores /= s->now;
    out->bus /= s->now;
    free(s->profile.nnz);
    free(s->chunks);
    free(s);
}
