/* tests/support/simulated/simulation.c - the product, chunks and queue of a simulation.
 */
#include "support/simulated/simulation.h"

#include <math.h>
#include <stdlib.h>

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

void simulation_open(simulation *s)
{
    make_profile(s);
    cut(s);
    open_queue(s);
}

void simulation_close(simulation *s)
{
    free(s->profile.nnz);
    free(s->chunks);
}
