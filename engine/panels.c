/* engine/panels.c - into which panels of columns an X on the device is cut.

   Chunks whose rows of A name rows of X far and wide wait for all of X, and nothing goes
   down while X goes up. In panels of columns, Y of one panel goes down while the next
   panel of X goes up. A is packed for the first one and stays on the device.

   An X that does not fit comes in panels as well, of which two are there at once. What
   fits of A stays, the rest is sent with each panel, and X once: instead of each row of
   X with each chunk that touches it. */
#include "engine/panels.h"

#include "base/csr.h"
#include "partition/chunks.h"
#include "partition/pack.h"

enum {
    MOST       = 4,
    LEAST_ROW  = 2 * HY_LINE, /* of a panel: that is what copying them past it takes */
    LEAST_X    = 64 << 20,    /* X of less is there soon */
    FORCED_ROW = 16
};

static const double LAUNCHES = 20; /* what a panel costs besides its bytes */

/* Bytes a second that workers store into parts of rows of Y, where all but the ends of
   rows is whole lines, and where it is not (docs/performance.md). The first is a guess: a
   micro-benchmark stores 137e9 so, and in a run the same workers fill the ring from X. */
static const double STORE_BPS = 60e9, STORE_PARTS_BPS = 14e9;

static const double WORTH = 0.9; /* of the time of X whole: less is worth it */

static int64_t value_size(const hybrid_plan *plan)
{
    return (int64_t)hy_value_size(plan->profile.type);
}

/* ---- widths ----------------------------------------------------------------------- */

/* Rows of a panel are whole lines of the host's cache; in tests they may be less, so that
   there are panels of a narrow X. */
static int64_t unit_of(const hybrid_plan *plan)
{
    const int64_t forced = plan->engine->panels;

    return forced > 0 && plan->b_cols * value_size(plan) < 2 * HY_LINE ? FORCED_ROW
                                                                       : HY_LINE;
}

/* Columns of each of so many panels for so many columns. */
static int64_t cols_of(const hybrid_plan *plan, int64_t cols, int64_t panels)
{
    const int64_t unit = unit_of(plan);
    const int64_t row  = (cols * value_size(plan) + panels - 1) / panels;
    return (row + unit - 1) / unit * unit / value_size(plan);
}

/* Panels of so many columns, of which the last takes in what moving them adds at the end:
   their number is the same wherever Y lies. */
static hy_panels panels_of(const hybrid_plan *plan, int64_t cols)
{
    hy_panels p = {.cols = cols, .most = cols, .pitch = cols};
    const int64_t last =
        plan->b_cols -
        hy_panels_begin(&p, plan->b_cols, hy_panels_number(&p, plan->b_cols) - 1);

    p.most = last + hy_panels_most_back(&p, plan->profile.type);
    p.most = p.most > cols ? p.most : cols;
    return p;
}

/* ---- X that fits ------------------------------------------------------------------ */

/* Bits of a sum depend on the lanes that share a row, those on a panel's width: where
   they shall be the same in every run, panels are the same wherever Y lies. */
static int may_move(const hybrid_plan *plan)
{
    return !(plan->flags & HYBRID_DETERMINISTIC);
}

/* Lines begin at the same columns in all rows of a Y without gaps. */
static double store_Bps(const hybrid_plan *plan)
{
    const int in_lines = plan->b_cols * value_size(plan) % HY_LINE == 0;
    return in_lines && may_move(plan) ? STORE_BPS : STORE_PARTS_BPS;
}

/* When the last chunk is down, if X comes in these panels. A chunk waits for the packs
   before it, for its rows of X, and for chunks before it that go down. */
static double finished(const hybrid_plan *plan, const hy_panels *panels)
{
    const double size     = (double)value_size(plan);
    const int64_t count   = hy_panels_number(panels, plan->b_cols);
    const double down_Bps = count > 1 && store_Bps(plan) < plan->rates.d2h_Bps
                                ? store_Bps(plan)
                                : plan->rates.d2h_Bps;
    double sent = 0, down_s = 0;

    for (int64_t k = 0; k < count; k++) {
        const int64_t begin = hy_panels_begin(panels, plan->b_cols, k);
        const int64_t width = hy_panels_begin(panels, plan->b_cols, k + 1) - begin;
        for (int64_t i = 0; i < plan->chunk_count; i++) {
            const hy_chunk *c = &plan->chunks[i];
            const hy_features f =
                hy_profile_range(&plan->profile, c->row_begin, c->row_end, width);
            const hy_cost cost = c->variant->cost(&f, &plan->rates);
            sent += k > 0 || plan->flags & HYBRID_RESIDENT ? 0 : hy_sent_bytes(&cost);
            const double x = ((double)plan->b_rows * (double)begin +
                              (double)c->needs * (double)width) *
                             size;
            const double run_s =
                (sent + x) / plan->rates.h2d_Bps + cost.multiply_s + cost.finish_s;
            down_s = (run_s > down_s ? run_s : down_s) +
                     (double)f.rows * (double)width * size / down_Bps;
        }
    }
    return down_s + (double)count * LAUNCHES * plan->rates.launch_s;
}

/* All of them on the device at once. */
static hy_panels side_by_side(const hybrid_plan *plan, int64_t panels)
{
    hy_panels p = panels_of(plan, cols_of(plan, plan->b_cols, panels));

    p.room = hy_panels_number(&p, plan->b_cols);
    return p;
}

static hy_panels shortest(const hybrid_plan *plan)
{
    hy_panels best = {.cols = 0};
    double least   = WORTH * finished(plan, &best);

    for (int64_t n = 2; n <= MOST; n++) {
        const hy_panels p = side_by_side(plan, n);
        if (p.cols * value_size(plan) < LEAST_ROW || p.cols >= plan->b_cols)
            continue;
        const double s = finished(plan, &p);
        if (s >= least)
            continue;
        least = s;
        best  = p;
    }
    return best;
}

static int takes_panels(const hy_variant *variant)
{
    return !variant->in_cols && variant->prepare;
}

hy_panels hy_panels_best(const hybrid_plan *plan)
{
    const int64_t forced = plan->engine->panels;
    const hy_panels none = {.cols = 0};

    if (plan->op != HY_SPMM || plan->shared_bytes == 0 || plan->chunk_count == 0 ||
        !takes_panels(plan->candidates[plan->chosen].variant))
        return none;
    if (forced > 0) {
        const hy_panels p = side_by_side(plan, forced);
        return p.cols < plan->b_cols ? p : none;
    }
    return plan->shared_bytes < LEAST_X ? none : shortest(plan);
}

/* ---- X that does not fit ---------------------------------------------------------- */

/* The fewest panels for which places of `most` columns are enough, two of them: with a
   last one that may grow, or, in places that are full already, with one more for what
   moving them adds. */
hy_panels hy_panels_within(const hybrid_plan *plan, size_t bytes)
{
    const int64_t unit = unit_of(plan) / value_size(plan);
    const int64_t most = plan->b_rows > 0 ? (int64_t)(bytes / 2 & ~(size_t)255) / 16 /
                                                plan->b_rows * 16 / value_size(plan)
                                          : 0;

    if (plan->op != HY_SPMM || most < unit || most / unit * unit >= plan->b_cols ||
        !takes_panels(plan->candidates[plan->chosen].variant))
        return (hy_panels){.cols = 0};
    const int64_t full = most / unit * unit;
    const int64_t even = cols_of(plan, plan->b_cols, (plan->b_cols + full - 1) / full);
    hy_panels p        = panels_of(plan, even);
    if (p.most > most)
        p = (hy_panels){.cols = even, .most = even};
    p.pitch = p.most;
    p.room  = 2;
    return p;
}

/* ---- in a plan -------------------------------------------------------------------- */

int64_t hy_panels_count(const hybrid_plan *plan)
{
    return hy_panels_number(&plan->panels, plan->b_cols);
}

void hy_panels_settle(hybrid_plan *plan, const hybrid_dense *Y)
{
    const int64_t back = hy_panels_back(&plan->panels, Y);
    size_t room;

    if (plan->panels.cols == 0 || back == plan->panels.back || !may_move(plan))
        return;
    plan->panels.back = back;
    plan->chunk_count =
        hy_chunks_repeat(plan->chunks, hy_chunk_ranges(plan->chunks, plan->chunk_count),
                         &plan->panels, plan->b_cols);
    plan->pipeline->count = plan->chunk_count;
    hy_plan_size_image(plan, &room);
    plan->traffic.up = hy_traffic_dense_up(plan);
}
