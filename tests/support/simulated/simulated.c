/* tests/support/simulated/simulated.c - products on simulated devices, with a virtual
   clock. */
#include "support/simulated/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double BYTE = 1; /* bytes by which rounding may change a sum of steps */

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
    simulation_open(s);
    go(s);
    out->seconds = s->now;
    out->memory /= s->now;
    out->cores /= s->now;
    out->bus /= s->now;
    simulation_close(s);
    free(s);
}
