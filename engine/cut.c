/* engine/cut.c - the work in chunks, in the layout that fits the budget.

   The device's budget is shared by B or X, if it stays there, and by `depth` slots. In
   order of preference:

       resident, all slots     when B or X takes at most half of the budget
       a window, all slots     each row of X comes once, to the place of one that is done
       panels, all slots       if gathered chunks would send more, a sample says
       gathered, all slots     each chunk brings the rows of B or X that it touches
       gathered, fewer slots   down to one: no overlap, but the longest row fits
       resident, one slot      a row's share of B may exceed B itself

   The first that can hold every row wins, and then X may come in panels. With a variant
   that carries all it needs of B they differ in their slots only.

   HYBRID_RESIDENT comes before them: X resident if it takes no more than three quarters
   of the budget, slots in a fourth of what it leaves, and A in the rest. With X in panels
   of columns slots and A share the same way.

   A layout is a value (layout.h). The plan is not touched before the best one is known.
 */
#include "base/csr.h"
#include "engine/panels.h"
#include "engine/rates.h"
#include "engine/window.h"

enum {
    DEPTH        = 4, /* chunks in flight; */
    DEPTH_SMALL  = 6, /* where so many fit the caches, too, */
    CACHED_BYTES = 48 << 20
};

/* Bytes up of what was looked at for an X that does not fit; -1: was not, or is not to be
   had. */
typedef struct looked_at {
    int64_t gathered, window, panels;
} looked_at;

static const hy_backend *backend_of(const hybrid_plan *plan)
{
    return plan->candidates[plan->chosen].backend;
}

/* Slots with which work is tried that finds no room with more. */
static int least_depth(const hy_planning *p)
{
    return p->options->depth > 0 ? p->options->depth : DEPTH;
}

/* Of SpMM workers pack a chunk and store its rows of Y: while one waits for the device
   others are to be at hand, but what is in flight shall stay in the last-level cache. */
static int depth_of(const hy_planning *p)
{
    const hy_features *f = &p->plan->profile.features;
    const size_t bytes   = (size_t)hy_csr_bytes(f->rows, f->nnz, f->type) +
                         (size_t)f->out_bound * hy_value_size(f->type);

    if (p->options->depth == 0 && p->plan->op == HY_SPMM &&
        backend_of(p->plan)->ops->copy && bytes / HY_CHUNKS * DEPTH_SMALL <= CACHED_BYTES)
        return DEPTH_SMALL;
    return least_depth(p);
}

/* The better one stays, the other is freed. */
static void keep_better(const hybrid_plan *plan, hy_layout *best, hy_layout *other,
                        int other_is)
{
    hy_layout *loser = other_is ? best : other;

    hy_layout_free(plan, loser);
    if (other_is)
        *best = *other;
}

/* ---- X whole, or what chunks touch ------------------------------------------------ */

/* The first layout that holds every row. */
static hybrid_status cut_ways(const hy_planning *p, size_t whole, hy_layout *best)
{
    const int depth     = depth_of(p);
    const int fewer     = least_depth(p);
    const size_t memory = p->plan->rates.memory;
    const struct {
        int gathered, depth, share;
        size_t most; /* of X */
    } ways[]             = {{0, depth, HY_RESIDENT_SHARE, memory / 4 * 3},
                            {0, depth, 1, memory / 2},
                            {0, fewer, 1, fewer < depth ? memory / 2 : 0},
                            {1, fewer, 1, 0},
                            {1, (fewer + 1) / 2, 1, 0},
                            {1, 1, 1, 0},
                            {0, 1, 1, memory}};
    const int in_place   = !backend_of(p->plan)->ops->copy;
    const int resident   = !in_place && p->plan->flags & HYBRID_RESIDENT;
    hybrid_status status = HYBRID_NO_DEVICE_MEMORY;

    for (size_t i = resident ? 0 : 1; i < sizeof ways / sizeof *ways; i++) {
        if (ways[i].gathered ? in_place : whole > ways[i].most)
            continue;
        hy_message_clear(&p->plan->engine->ctx.message);
        *best = (hy_layout){
            .gathered = ways[i].gathered, .depth = ways[i].depth, .share = ways[i].share};
        status = hy_layout_cut(p, best);
        if (status != HYBRID_NO_DEVICE_MEMORY)
            break;
    }
    return status;
}

/* ---- X that does not fit ---------------------------------------------------------- */

/* A window of its rows, unless a sample of the chunks says that gathered ones would send
   less. */
static hybrid_status try_window(const hy_planning *p, looked_at *up, hy_layout *best)
{
    int64_t gathered = 0;

    HY_TRY(hy_window_try(p, depth_of(p), least_depth(p), best));
    if (best->depth == 0)
        return HYBRID_OK;
    up->window = hy_traffic_dense_up(p->plan, best);
    const hybrid_status status =
        hy_traffic_gathered_up(p->plan, best, p->A, NULL, &gathered);
    if (status != HYBRID_OK || up->window > gathered) {
        hy_layout_free(p->plan, best);
        best->depth = 0;
    }
    return status;
}

/* Of panels that leave more and more to A, until all of it stays, those that send the
   fewest bytes. 0 slots: there are none. */
static hybrid_status cut_panels(const hy_planning *p, looked_at *up, hy_layout *best)
{
    const hybrid_plan *plan = p->plan;
    hybrid_status status    = HYBRID_OK;
    int all                 = 0;

    *best = (hy_layout){.depth = 0};
    for (size_t share = 2; !all; share *= 2) {
        const hy_panels panels = hy_panels_within(plan, plan->rates.memory / share);
        hy_layout other;
        if (panels.cols == 0)
            break;
        HY_TRY_ELSE_DONE(hy_panels_try(p, depth_of(p), panels, &other));
        if (other.depth == 0)
            continue;
        const int64_t sent = hy_traffic_dense_up(plan, &other);
        const int less     = up->panels < 0 || sent < up->panels;
        all                = hy_layout_keeps_all(&other);
        up->panels         = less ? sent : up->panels;
        keep_better(plan, best, &other, less);
    }
done:
    if (status != HYBRID_OK)
        hy_layout_free(plan, best);
    return status;
}

/* Panels alone, if even a sample of their chunks, which are longer than gathered ones,
   says that these would send more: where rows touch X far and wide they are slow to cut.
 */
static hybrid_status try_panels_first(const hy_planning *p, looked_at *up,
                                      hy_layout *best)
{
    hy_layout panels;
    int64_t gathered = 0;

    HY_TRY(cut_panels(p, up, &panels));
    if (panels.depth == 0)
        return HYBRID_OK;
    const hybrid_status status =
        hy_traffic_gathered_up(p->plan, &panels, p->A, NULL, &gathered);
    if (status == HYBRID_OK && gathered > up->panels) {
        up->gathered = gathered;
        *best        = panels;
        return HYBRID_OK;
    }
    hy_layout_free(p->plan, &panels);
    up->panels = -1;
    return status;
}

/* Of a window or gathered chunks, and of panels, those that send the fewest bytes. */
static hybrid_status try_large(const hy_planning *p, looked_at *up, hy_layout *best)
{
    const hybrid_plan *plan = p->plan;
    const int again         = (plan->flags & HYBRID_RESIDENT) == 0;
    const int64_t sent      = hy_traffic_dense_up(plan, best);
    hy_layout panels;

    up->gathered = best->gathered ? sent : -1;
    if (best->window > 0 && (again || hy_layout_keeps_all(best))) /* the least */
        return HYBRID_OK;
    HY_TRY(cut_panels(p, up, &panels));
    if (panels.depth > 0)
        keep_better(plan, best, &panels, up->panels < sent);
    return HYBRID_OK;
}

/* ---- X that fits ------------------------------------------------------------------ */

/* Panels, if they make the product shorter and all of A fits beside them. */
static hybrid_status try_panels(const hy_planning *p, hy_layout *best)
{
    const hy_panels panels = hy_panels_best(p->plan, best);
    hy_layout other;

    if (panels.cols == 0)
        return HYBRID_OK;
    HY_TRY(hy_panels_try(p, best->depth, panels, &other));
    keep_better(p->plan, best, &other, other.depth > 0 && hy_layout_keeps_all(&other));
    return HYBRID_OK;
}

/* What X and Y that are pinned would gain, and packs that stay. */
static hybrid_status complete(const hy_planning *p, hy_layout *best)
{
    if (!backend_of(p->plan)->ops->copy || best->panels.cols > 0)
        return HYBRID_OK;
    if (hy_split_mode(p->options) == HYBRID_SPLIT_GPU && best->window == 0)
        HY_TRY(hy_panels_offer(p->plan, best));
    if (p->plan->flags & HYBRID_RESIDENT && best->if_pinned.cols == 0)
        hy_layout_keep(p->plan, best);
    return HYBRID_OK;
}

/* ---- the best --------------------------------------------------------------------- */

/* The host is to take rows, in no order that a window could follow, and all of their
   columns. */
static int shares(const hy_planning *p)
{
    return hy_split_mode(p->options) == HYBRID_SPLIT_SHARE;
}

static int has_panels(const hy_planning *p)
{
    return p->plan->op == HY_SPMM && backend_of(p->plan)->ops->copy && !shares(p);
}

/* A window, and panels that send much less, come before what is cut for X whole. */
static hybrid_status choose_rows(const hy_planning *p, looked_at *up, hy_layout *best)
{
    const hy_layout none = {.depth = 0};
    const size_t whole   = hy_layout_image(p->plan, &none).room;
    const size_t eighths = p->plan->flags & HYBRID_RESIDENT ? 6 : 4;
    const int is_large   = whole > p->plan->rates.memory / 8 * eighths;

    if (is_large && !shares(p))
        HY_TRY(try_window(p, up, best));
    if (is_large && best->depth == 0 && has_panels(p))
        HY_TRY(try_panels_first(p, up, best));
    return best->depth > 0 ? HYBRID_OK : cut_ways(p, whole, best);
}

static hybrid_status choose_layout(const hy_planning *p, looked_at *up, hy_layout *best)
{
    HY_TRY(choose_rows(p, up, best));
    if (has_panels(p) && best->panels.cols == 0)
        HY_TRY(best->gathered || best->window > 0 ? try_large(p, up, best)
                                                  : try_panels(p, best));
    return complete(p, best);
}

static void store(hybrid_plan *plan, const hy_layout *best, const looked_at *up)
{
    plan->panels         = best->panels;
    plan->if_pinned      = best->if_pinned;
    plan->window         = best->window;
    plan->gathered       = best->gathered;
    plan->resident_bytes = best->resident_bytes;
    plan->shared_bytes   = best->shared_bytes;
    plan->chunks         = best->chunks;
    plan->chunk_count    = best->count;
    plan->gathered_up    = up->gathered;
    plan->window_up      = up->window;
    plan->panels_up      = up->panels;
}

hybrid_status hy_plan_cut(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                          const hybrid_plan_options *o, int *depth)
{
    const hy_planning planning = {.plan = plan, .A = A, .B = B, .options = o};
    looked_at up               = {-1, -1, -1};
    hy_layout best             = {.depth = 0};

    hy_rates_of(backend_of(plan), &plan->rates);
    const hybrid_status status = choose_layout(&planning, &up, &best);
    if (status != HYBRID_OK) {
        hy_layout_free(plan, &best);
        return status;
    }
    store(plan, &best, &up);
    *depth = best.depth;
    return HYBRID_OK;
}
