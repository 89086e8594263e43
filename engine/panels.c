/* engine/panels.c - into which panels of columns an X on the device is cut.

   Chunks whose rows of A name rows of X far and wide wait for all of X, and nothing goes
   down while X goes up. In panels of columns, Y of one panel goes down while the next
   panel of X goes up. A is packed for the first one and stays on the device.

   An X that does not fit comes in panels as well, of which two are there at once. What
   fits of A stays, the rest is sent with each panel, and X once: instead of each row of
   X with each chunk that touches it. */
#include "engine/panels.h"

#include "base/csr.h"
#include "partition/inspect.h"

enum {
    MOST       = 4,
    LINE       = 64,       /* rows of a panel are whole lines of the host's cache, */
    LEAST_ROW  = 128,      /* two or more: that is what copying them past it takes */
    LEAST_X    = 64 << 20, /* X of less is there soon */
    FORCED_ROW = 16
};

static const double LAUNCHES = 20; /* what a panel costs besides its bytes */

/* Bytes a second that workers store into parts of rows of Y, which seldom begin where
   lines do (docs/performance.md): an X that fits is cut where the bus is slower. */
static const double STORE_BPS = 14e9;

static const double WORTH = 0.9; /* of the time of X whole: less is worth it */

static int64_t value_size(const hybrid_plan *plan)
{
    return (int64_t)hy_value_size(plan->profile.type);
}

/* Columns of each of so many panels, whose rows are multiples of `unit` bytes. */
static int64_t cols_of(const hybrid_plan *plan, int64_t panels, int64_t unit)
{
    const int64_t row = (plan->b_cols * value_size(plan) + panels - 1) / panels;
    return (row + unit - 1) / unit * unit / value_size(plan);
}

/* When the last chunk is down, if X comes in panels of so many columns. A chunk waits for
   the packs before it, for its rows of X, and for chunks before it that go down. */
static double finished(const hybrid_plan *plan, int64_t cols)
{
    const double size     = (double)value_size(plan);
    const double down_Bps = cols < plan->b_cols && STORE_BPS < plan->rates.d2h_Bps
                                ? STORE_BPS
                                : plan->rates.d2h_Bps;
    double sent = 0, down_s = 0, launches = 0;

    for (int64_t begin = 0; begin < plan->b_cols; begin += cols) {
        const int64_t left = plan->b_cols - begin, width = left < cols ? left : cols;
        for (int64_t i = 0; i < plan->chunk_count; i++) {
            const hy_chunk *c = &plan->chunks[i];
            const hy_features f =
                hy_profile_range(&plan->profile, c->row_begin, c->row_end, width);
            const hy_cost k = c->variant->cost(&f, &plan->rates);
            sent += begin > 0 || plan->flags & HYBRID_RESIDENT ? 0 : hy_sent_bytes(&k);
            const double x = ((double)plan->b_rows * (double)begin +
                              (double)c->needs * (double)width) *
                             size;
            const double run_s =
                (sent + x) / plan->rates.h2d_Bps + k.multiply_s + k.finish_s;
            down_s = (run_s > down_s ? run_s : down_s) +
                     (double)f.rows * (double)width * size / down_Bps;
        }
        launches += LAUNCHES;
    }
    return down_s + launches * plan->rates.launch_s;
}

static hy_panels shortest(const hybrid_plan *plan)
{
    double least   = WORTH * finished(plan, plan->b_cols);
    hy_panels best = {0, 0};

    for (int64_t n = 2; n <= MOST; n++) {
        const int64_t cols = cols_of(plan, n, LINE);
        if (cols * value_size(plan) < LEAST_ROW || cols >= plan->b_cols)
            continue;
        const double s = finished(plan, cols);
        if (s >= least)
            continue;
        least = s;
        best  = (hy_panels){cols, n};
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

    if (plan->op != HY_SPMM || plan->shared_bytes == 0 || plan->chunk_count == 0 ||
        !takes_panels(plan->candidates[plan->chosen].variant))
        return (hy_panels){0, 0};
    if (forced > 0) {
        const int64_t cols = cols_of(plan, forced, FORCED_ROW);
        return cols < plan->b_cols ? (hy_panels){cols, forced} : (hy_panels){0, 0};
    }
    return plan->shared_bytes < LEAST_X ? (hy_panels){0, 0} : shortest(plan);
}

hy_panels hy_panels_within(const hybrid_plan *plan, size_t bytes)
{
    const int64_t unit  = plan->engine->panels > 0 ? FORCED_ROW : LINE;
    const int64_t rows  = plan->b_rows;
    const int64_t lines = (int64_t)(bytes / 2 & ~(size_t)255) / unit;
    const int64_t cols  = rows > 0 ? lines / rows * unit / value_size(plan) : 0;

    if (plan->op != HY_SPMM || cols == 0 || cols >= plan->b_cols ||
        !takes_panels(plan->candidates[plan->chosen].variant))
        return (hy_panels){0, 0};
    const int64_t panels = (plan->b_cols + cols - 1) / cols;
    return (hy_panels){cols_of(plan, panels, unit), 2};
}

int64_t hy_panels_count(const hybrid_plan *plan)
{
    const int64_t cols = plan->panels.cols;
    return cols > 0 ? (plan->b_cols + cols - 1) / cols : 1;
}
