/* partition/blocks/block_choice.c - chooses the shape of blocks (r rows, c columns) and
   R, the lanes of a slice, for SpMV in blocks. */
#include "partition/blocks/block_choice.h"

#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"

/* The model compares only shapes with which A takes at most this many times the fewest
   bytes (section 6.4 of the paper). */
static const double LIST = 2;

enum { WARP = 32 };

/* ---- constants of a kernel ------------------------------------------------------ */

/* Built-in constants for unmeasured kernels. A full multiprocessor reads its share of the
   bandwidth, which is STREAM times that of a copy, because A is partly in the L2 cache.
   If nothing hides the latency, a thread waits STEP_S seconds for each block of r x c. */
static const double STREAM = 1.3, STEP_S = 8e-7;

hy_choi_device hy_choi_device_of(const hy_rates *r)
{
    return (hy_choi_device){.warp      = WARP,
                            .warps     = r->sm_warps,
                            .blocks    = r->sm_blocks,
                            .registers = r->sm_registers,
                            .shared    = r->sm_shared};
}

/* Returns the bytes that a thread reads for a block: the column, the elements, and a part
   of X. */
static double step_bytes(hybrid_type type, hy_block_shape shape)
{
    return 4 +
           (double)(shape.rows * shape.cols + shape.cols) * (double)hy_value_size(type);
}

static hy_choi_constants built_in(const hy_rates *r, hybrid_type type,
                                  hy_block_shape shape, int lanes)
{
    const double words = (double)hy_value_size(type) / 4;
    const double step  = (double)lanes * step_bytes(type, shape) * (double)r->width /
                        (STREAM * r->mem_Bps);
    const double values = (double)(shape.rows * shape.cols + shape.rows + shape.cols);

    return (hy_choi_constants){.times     = {.start = r->launch_s,
                                             .first = fmax(STEP_S, step),
                                             .next  = step,
                                             .more  = step},
                               .registers = (int64_t)fmin(255, 24 + words * values)};
}

static double measured_or(double measured, double otherwise)
{
    return measured > 0 ? measured : otherwise;
}

hy_choi_constants hy_choi_constants_of(const hy_rates *rates, hy_choi_format format,
                                       hybrid_type type, hy_block_shape shape, int lanes)
{
    hy_choi_constants c = built_in(rates, type, shape, lanes);
    int size            = 0;

    if (!rates->blocks)
        return c;
    while (HY_CHOI_LANES_LEAST << size < lanes)
        size++;
    const hy_block_speed *s =
        &rates->blocks->of[format][hy_type_index(type)][hy_choi_shape_index(shape)][size];
    c.times.start      = measured_or((double)s->start, c.times.start);
    c.times.first      = measured_or((double)s->first, c.times.first);
    c.times.next       = measured_or((double)s->next, c.times.next);
    c.times.more       = measured_or((double)s->more, c.times.more);
    c.times.next_start = (double)s->next_start;
    c.times.more_start = (double)s->more_start;
    c.registers        = s->registers > 0 ? (int64_t)s->registers : c.registers;
    return c;
}

/* The device hands out registers to warps in units of this many. */
int64_t hy_choi_resident_of(const hy_rates *rates, int64_t registers, int lanes)
{
    enum { UNIT = 256 };
    const hy_choi_device device = hy_choi_device_of(rates);
    const int64_t warp          = (registers * WARP + UNIT - 1) / UNIT * UNIT;
    const hy_choi_kernel kernel = {.threads = lanes, .registers = warp * lanes / WARP};

    return hy_choi_resident(&device, &kernel);
}

/* ---- the model ------------------------------------------------------------------- */

/* Returns the thread blocks of a kernel and the blocks of r x c of each thread. In BCSR a
   warp shares a block row, whose length is padded to full steps of the warp. The longest
   row of A is taken to have as full blocks as others. */
static hy_choi_work work_of(const hy_features *f, hy_choi_format format, int lanes)
{
    const double rows = fmax(1, ceil(hy_block_rows(f)));
    const double mean = hy_block_count(f) / rows;
    const double most = fmax(mean, (double)f->row_max / (f->block_cols * f->block_fill));
    const int shared  = format == HY_CHOI_BCSR;
    const int64_t per = shared ? lanes / WARP : lanes;

    return (hy_choi_work){.blocks  = ((int64_t)rows + per - 1) / per,
                          .steps   = shared ? fmax(1, mean / WARP) : mean,
                          .longest = shared ? fmax(1, most / WARP) : most};
}

double hy_block_model_s(const hy_features *f, const hy_rates *rates,
                        hy_choi_format format, int lanes)
{
    const hy_block_shape shape = {f->block_rows, f->block_cols};
    const hy_choi_work work    = work_of(f, format, lanes);
    const hy_choi_constants c =
        hy_choi_constants_of(rates, format, f->type, shape, lanes);

    return hy_choi_seconds(&c.times, &work,
                           hy_choi_resident_of(rates, c.registers, lanes), rates->width);
}

/* ---- choosing -------------------------------------------------------------------- */

/* A choice among the shapes that f->parameter allows. */
typedef struct choosing {
    const hy_features *f;
    const hy_rates *rates;
    hy_choi_format format;
    hy_block_shape best;
    int lanes;    /* R of the best choice so far; with the rule of the fewest bytes the R
                     that options give, or 0 */
    double least; /* bytes or seconds of the best choice so far; INFINITY: none yet */
    double bytes; /* fewest bytes in which any shape stores A */
} choosing;

static int allows(int32_t given, int value)
{
    return given == 0 || given == value;
}

static void take(choosing *c, const hy_features *f, int lanes, double value)
{
    if (value >= c->least)
        return;
    c->best  = (hy_block_shape){f->block_rows, f->block_cols};
    c->lanes = lanes;
    c->least = value;
}

static void by_bytes(choosing *c, const hy_features *f)
{
    c->bytes = fmin(c->bytes, hy_block_stream_bytes(f));
    take(c, f, c->f->parameter[HY_BLOCK_LANES], hy_block_stream_bytes(f));
}

/* Compares all R for this shape by the seconds of the model plus the seconds of reading A
   from memory. Leaves out a shape with more than LIST times the fewest bytes. The
   constants of the model are measured on dense matrices that repeat their columns and
   stay in caches, so the model alone would prefer shapes of many bytes. */
static void by_model(choosing *c, const hy_features *f)
{
    const double read_s = hy_block_stream_bytes(f) / c->rates->mem_Bps;

    if (hy_block_stream_bytes(f) > LIST * c->bytes)
        return;
    for (int i = 0; i < HY_BLOCK_SIZES; i++) {
        const int lanes = HY_CHOI_LANES_LEAST << i;
        if (allows(c->f->parameter[HY_BLOCK_LANES], lanes))
            take(c, f, lanes, read_s + hy_block_model_s(f, c->rates, c->format, lanes));
    }
}

/* Begins a choice: calls `visit` for every shape of blocks that f->parameter allows and
   that has a known fill, with the features of A in blocks of that shape. */
static void visit_shapes(choosing *c, void (*visit)(choosing *, const hy_features *))
{
    hy_features f = *c->f;

    c->least = INFINITY;
    for (int r = 1; r <= HY_BLOCK_MOST; r++)
        for (int k = 1; k <= HY_BLOCK_MOST; k++) {
            if (!allows(f.parameter[HY_BLOCK_R], r) ||
                !allows(f.parameter[HY_BLOCK_C], k))
                continue;
            hy_block_shape_set(&f, (hy_block_shape){r, k});
            if (f.block_fill > 0)
                visit(c, &f);
        }
}

/* Returns the rule that options name. Otherwise returns the model for the paper's form,
   whose time the model predicts best, and the fewest bytes for the other form
   (docs/papers.md). */
static int rule_for(const hy_features *f)
{
    if (f->parameter[HY_BLOCK_RULE] > 0)
        return f->parameter[HY_BLOCK_RULE];
    return f->parameter[HY_BLOCK_PAPER] ? HY_BLOCK_BY_MODEL : HY_BLOCK_BY_BYTES;
}

void hy_block_choose(hy_features *f, const hy_rates *rates, hy_choi_format format)
{
    choosing c = {.f = f, .rates = rates, .format = format, .bytes = INFINITY};

    if (f->block_fills[0] <= 0) { /* A has no entries, or no fill is known */
        f->block_rows = (int)hy_max(f->parameter[HY_BLOCK_R], 1);
        f->block_cols = (int)hy_max(f->parameter[HY_BLOCK_C], 1);
        return;
    }
    visit_shapes(&c, by_bytes);
    if (rule_for(f) == HY_BLOCK_BY_MODEL)
        visit_shapes(&c, by_model);
    hy_block_shape_set(f, c.best);
    if (f->parameter[HY_BLOCK_PAPER])
        f->parameter[HY_BLOCK_LANES] = c.lanes;
}
