/* engine/panels.c - into how many panels of columns a resident X is cut.

   A chunk whose rows of A name rows of X far and wide waits for all of X, and nothing
   goes down while X goes up. In panels of columns, Y of one panel goes down while the
   next panel of X goes up. A stays on the device: one slot for each range of rows. */
#include "engine/panels.h"

#include "base/csr.h"
#include "partition/chunks.h"

enum { MOST = 8, LEAST_BYTES = 128 /* of a row of X in a panel: two cache lines */ };

static const double LAUNCHES = 20;  /* what a panel costs besides its bytes */
static const double WORTH    = 0.9; /* of the time with one panel: less is worth it */

/* When the last chunk is down, if all chunks are cut into so many panels. */
static double finished(const hybrid_plan *plan, int64_t panels)
{
    const double size = (double)hy_value_size(plan->profile.type);
    const double cols = (double)plan->b_cols / (double)panels;
    const double each = (double)plan->b_rows * cols * size;
    double sent = 0, down_s = 0;

    for (int64_t p = 0; p < panels; p++)
        for (int64_t i = 0; i < plan->chunk_count; i++) {
            const hy_chunk *c = &plan->chunks[i];
            const hy_cost k   = c->variant->cost(&c->features, &plan->rates);
            sent += p == 0 ? (double)k.pack_bytes : 0;
            const double x       = (double)p * each + (double)c->needs * cols * size;
            const double up_s    = (sent + x) / plan->rates.h2d_Bps;
            const double begin_s = up_s + (k.multiply_s + k.finish_s) / (double)panels;
            down_s =
                (begin_s > down_s ? begin_s : down_s) +
                (double)(c->row_end - c->row_begin) * cols * size / plan->rates.d2h_Bps;
        }
    return down_s + (double)panels * LAUNCHES * plan->rates.launch_s;
}

int64_t hy_panels_best(const hybrid_plan *plan)
{
    const int64_t size = (int64_t)hy_value_size(plan->profile.type);
    int64_t best       = 1;

    if (plan->op != HY_SPMM || plan->shared_bytes == 0 || plan->chunk_count == 0 ||
        plan->candidates[plan->chosen].variant->in_cols)
        return 1;
    double least = WORTH * finished(plan, 1);
    for (int64_t n = 2; n <= MOST; n *= 2) {
        if (plan->b_cols % n != 0 || plan->b_cols / n * size < LEAST_BYTES)
            break;
        const double s = finished(plan, n);
        if (s >= least)
            continue;
        least = s;
        best  = n;
    }
    return best;
}

int hy_panels_fit(const hybrid_plan *plan, int64_t ranges)
{
    size_t most = 0;

    for (int64_t i = 0; i < plan->chunk_count; i++) {
        const hy_cost cost =
            plan->chunks[i].variant->cost(&plan->chunks[i].features, &plan->rates);
        const size_t bytes = hy_cost_bytes(&cost);
        most               = bytes > most ? bytes : most;
    }
    return ranges <= HY_PANELS_SLOTS &&
           (size_t)ranges * most <= plan->rates.memory - plan->shared_bytes;
}
