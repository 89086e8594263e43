/* engine/cut.c - the work in chunks, in the layout that fits the budget.

   The device's budget is shared by B or X, if it stays there, and by `depth` slots. In
   order of preference:

       resident, all slots     when B or X takes at most half of the budget
       a window, all slots     each row of X comes once, to the place of one that is done
   with gathered, all slots     each chunk brings the rows of B or X that it touches
       gathered, fewer slots   down to one: no overlap, but the longest row fits
       resident, one slot      a row's share of B may exceed B itself

   The first that can hold every row wins, and then X may come in panels. With a variant
   that carries all it needs of B they differ in their slots only.

   HYBRID_RESIDENT comes before them: X resident if it takes no more than three quarters
   of the budget, slots in a fourth of what it leaves, and A in the rest. With X in panels
   of columns slots and A share the same way. */
#include <string.h>

#include "base/csr.h"
#include "engine/panels.h"
#include "engine/rates.h"
#include "engine/window.h"
#include "partition/chunks.h"
#include "partition/pack.h"

enum {
    DEPTH           = 4,        /* chunks in flight */
    DEVICE_PRODUCTS = 32 << 20, /* a chunk that keeps a GPU busy for some milliseconds */
    OUT_BYTES       = 64 << 20, /* of C that a chunk is expected to make */
    CARRIED_BYTES   = 32 << 20, /* of B that a chunk brings: packs stay in the cache */
    MIN_PRODUCTS    = 1 << 20,
    HOST_PRODUCTS =
        256 << 10, /* a core: results of all slots stay in the last-level cache */
    HOST_DENSE     = 128 << 20, /* products of SpMM, a core: some 0.1 s, see below */
    DENSE_BYTES    = 32 << 20,  /* of Y in a chunk of SpMM on a device */
    CHUNKS         = 16,        /* at least, of a product large enough */
    RESIDENT_SHARE = 4,         /* slots beside an A that stays: small, and many fit */
    QUICK          = 4          /* times fewer bytes are sent sooner than read */
};

typedef struct layout {
    int gathered, depth;
    int share; /* slots take one part in so many of what X leaves */
} layout;

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Products whose result, as far as is known, fills OUT_BYTES: large enough that the host
   keeps up with the device, small enough that the first and the last chunk cost little.
   Or, where each product brings its entry of B, CARRIED_BYTES. */
static int64_t device_products(const hy_features *f, int carried)
{
    const double entry    = 4 + (double)hy_value_size(f->type);
    const double bytes    = carried ? CARRIED_BYTES : OUT_BYTES * f->out_ratio;
    const double products = bytes / entry;

    return products < DEVICE_PRODUCTS ? (int64_t)products : DEVICE_PRODUCTS;
}

/* Products to aim for in a chunk. */
static int64_t chunk_products(const hybrid_plan *plan, const hy_backend *backend)
{
    const hy_features *f  = &plan->profile.features;
    const int64_t share   = f->products / CHUNKS + 1;
    const int64_t parts   = HY_PANEL_CHUNKS * hy_panels_count(plan);
    const int64_t least   = at_least(CHUNKS, at_least(parts, hy_window_chunks(plan)));
    const int64_t threads = hy_pool_threads(plan->engine->ctx.pool);

    /* in place a chunk is one loop, and all wait for its last piece: as few chunks as let
       an interrupt be seen soon */
    if (plan->op == HY_SPMM && !backend->ops->copy)
        return HOST_DENSE * threads;
    if (plan->op == HY_SPMM) {
        const int64_t bytes  = f->out_bound * (int64_t)hy_value_size(f->type);
        const int64_t chunks = at_least(bytes / DENSE_BYTES, least);
        return at_least(f->products / chunks + 1, MIN_PRODUCTS);
    }
    if (backend->ops->copy) {
        const int carried  = plan->candidates[plan->chosen].variant->carries_b;
        const int64_t most = device_products(f, carried);
        return at_least(share < most ? share : most, MIN_PRODUCTS);
    }
    return at_least(HOST_PRODUCTS * threads, MIN_PRODUCTS);
}

/* Which rows of B or X chunks wait for. To look reads a line of the caches for each row
   of A, if rows are not shorter; where X is so much less that all of it is sent sooner, a
   product that may be the only one does without. A window must know. */
static hybrid_status find_needs(hybrid_plan *plan, const hybrid_csr *A, size_t shared)
{
    hy_context *ctx   = &plan->engine->ctx;
    const size_t rows = (size_t)A->rows * HY_LINE, all = (size_t)A->nnz * 4;
    const size_t read = rows < all ? rows : all;
    const int once    = !(plan->flags & (HYBRID_RESIDENT | HYBRID_REUSE));

    if (plan->window > 0)
        return hy_chunks_find_band(ctx, A, plan->chunks, plan->chunk_count);
    if (once && shared <= read / QUICK) {
        hy_chunks_need_all(plan->chunks, plan->chunk_count, A->cols);
        return HYBRID_OK;
    }
    return hy_chunks_find_needs(ctx, A, plan->op == HY_SPGEMM, plan->chunks,
                                plan->chunk_count);
}

/* Cut for one layout; B or X, if it is to stay, leaves room. */
static hybrid_status cut(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                         const hybrid_plan_options *o, size_t shared, layout way)
{
    const hy_candidate *c = &plan->candidates[plan->chosen];
    const size_t budget   = plan->rates.memory;
    const size_t kept     = way.gathered ? 0 : hy_align(shared);
    const int gathered    = way.gathered && !c->variant->carries_b;

    const hy_cut request = {
        .A            = A,
        .B            = B,
        .profile      = &plan->profile,
        .variant      = c->variant,
        .rates        = &plan->rates,
        .slot_bytes   = (budget - kept) / (size_t)(way.share * way.depth) & ~(size_t)255,
        .products_max = o->chunk_rows > 0 ? INT64_MAX : chunk_products(plan, c->backend),
        .chunk_rows   = o->chunk_rows,
        .gathered     = gathered,
        .panels       = plan->panels};
    HY_TRY(
        hy_cut_chunks(&plan->engine->ctx, &request, &plan->chunks, &plan->chunk_count));
    plan->gathered     = gathered;
    plan->shared_bytes = kept;
    return kept > 0 ? find_needs(plan, A, shared) : HYBRID_OK;
}

void hy_plan_size_image(hybrid_plan *plan, size_t *room)
{
    const hybrid_csr B = {
        .rows = plan->b_rows, .nnz = plan->b_nnz, .type = plan->profile.type};
    const hybrid_csr A   = {.type = plan->profile.type};
    const hybrid_dense X = {
        .rows = plan->b_rows, .cols = plan->b_cols, .type = plan->profile.type};
    const hy_candidate *c    = &plan->candidates[plan->chosen];
    const hy_problem problem = {.op       = plan->op,
                                .A        = &A,
                                .B        = &B,
                                .X        = &X,
                                .in_cols  = c->variant->in_cols,
                                .in_lines = c->variant->in_lines,
                                .panels   = plan->panels,
                                .window   = plan->window};
    const int none           = !c->backend->ops->copy || c->variant->carries_b;

    plan->resident_bytes = none ? 0 : hy_shared_bytes(&problem);
    *room                = none ? 0 : hy_align(hy_shared_room(&problem));
}

/* ---- windows and panels of X ------------------------------------------------------ */

/* What was cut. */
typedef struct result {
    hy_panels panels;
    int64_t window;
    size_t resident_bytes, shared_bytes;
    int gathered;
    hy_chunk *chunks;
    int64_t count;
} result;

static result take(const hybrid_plan *plan)
{
    return (result){plan->panels,       plan->window,   plan->resident_bytes,
                    plan->shared_bytes, plan->gathered, plan->chunks,
                    plan->chunk_count};
}

/* Stay with what was cut just now, or go back to what was cut before. */
static void settle(hybrid_plan *plan, const result *before, int better)
{
    if (plan->chunks != before->chunks)
        hy_array_free(&plan->engine->ctx, better ? before->chunks : plan->chunks);
    if (better)
        return;
    plan->panels         = before->panels;
    plan->window         = before->window;
    plan->resident_bytes = before->resident_bytes;
    plan->shared_bytes   = before->shared_bytes;
    plan->gathered       = before->gathered;
    plan->chunks         = before->chunks;
    plan->chunk_count    = before->count;
}

/* Chunks that stay on the device get their places. */
static void keep(hybrid_plan *plan, int depth)
{
    const size_t shared = plan->chunk_count > 0 ? plan->shared_bytes : 0;

    hy_keep_choose(&plan->rates, depth, plan->rates.memory - shared, plan->chunks,
                   plan->chunk_count);
}

static int all_kept(const hybrid_plan *plan)
{
    return plan->chunk_count > 0 && plan->chunks[plan->chunk_count - 1].kept;
}

static hybrid_status cut_panels(hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_plan_options *o, int depth, hy_panels panels)
{
    const layout way = {0, depth, RESIDENT_SHARE};
    size_t room;

    plan->panels = panels;
    plan->window = 0;
    hy_plan_size_image(plan, &room);
    if (room >= plan->rates.memory)
        return HYBRID_NO_DEVICE_MEMORY;
    HY_TRY(cut(plan, A, NULL, o, room, way));
    keep(plan, depth);
    return HYBRID_OK;
}

/* That it does not fit is no error where there is another way. */
static hybrid_status tried(hy_context *ctx, hybrid_status status)
{
    if (status != HYBRID_NO_DEVICE_MEMORY)
        return status;
    hy_message_clear(&ctx->message);
    return HYBRID_OK;
}

/* X fits: panels, if they make the product shorter and all of A fits beside them. */
static hybrid_status try_panels(hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_plan_options *o, int depth)
{
    const hy_panels panels = hy_panels_best(plan);
    const result whole     = take(plan);

    if (panels.cols == 0)
        return HYBRID_OK;
    const hybrid_status status = cut_panels(plan, A, o, depth, panels);
    settle(plan, &whole, status == HYBRID_OK && all_kept(plan));
    return tried(&plan->engine->ctx, status);
}

/* X does not fit: of a window or gathered chunks, and of panels that leave more and more
   to A, those that send the fewest bytes. */
static hybrid_status try_large(hybrid_plan *plan, const hybrid_csr *A,
                               const hybrid_plan_options *o, int *depth_out)
{
    const int depth = o->depth > 0 ? o->depth : DEPTH;
    int64_t least   = hy_traffic_dense_up(plan);
    const int again = (plan->flags & HYBRID_RESIDENT) == 0;
    int whole = plan->window > 0 && (again || all_kept(plan)); /* all once: the least */
    hy_panels panels;

    plan->gathered_up = plan->gathered ? least : -1;
    for (size_t share = 2; !whole; share *= 2) {
        const result before = take(plan);
        panels              = hy_panels_within(plan, plan->rates.memory / share);
        if (panels.cols == 0)
            break;
        const hybrid_status status = cut_panels(plan, A, o, depth, panels);
        const int64_t up = status == HYBRID_OK ? hy_traffic_dense_up(plan) : INT64_MAX;
        if (status == HYBRID_OK && (plan->panels_up < 0 || up < plan->panels_up))
            plan->panels_up = up;
        whole = status == HYBRID_OK && all_kept(plan);
        settle(plan, &before, up < least);
        least = up < least ? up : least;
        HY_TRY(tried(&plan->engine->ctx, status));
    }
    *depth_out = plan->gathered ? *depth_out : depth;
    return HYBRID_OK;
}

static hybrid_status cut_window(hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_plan_options *o, int depth, size_t bytes)
{
    const int resident = (plan->flags & HYBRID_RESIDENT) != 0;
    const layout way   = {0, depth, resident ? RESIDENT_SHARE : 1};
    size_t room;

    plan->window = hy_window_within(plan, bytes);
    if (plan->window == 0)
        return HYBRID_NO_DEVICE_MEMORY;
    hy_plan_size_image(plan, &room);
    HY_TRY(cut(plan, A, NULL, o, room, way));
    if (resident)
        keep(plan, depth);
    return HYBRID_OK;
}

/* In half of the budget, if the rows of all chunks in flight find a place there; else in
   more. */
static hybrid_status fit_window(hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_plan_options *o, int depth, int *fits)
{
    static const struct {
        size_t eighths; /* of the budget */
        int all;
    } tries[]           = {{4, 1}, {6, 1}, {7, 0}};
    const result before = take(plan);

    *fits = 0;
    for (size_t i = 0; i < sizeof tries / sizeof *tries && !*fits; i++) {
        const hybrid_status status =
            cut_window(plan, A, o, depth, plan->rates.memory / 8 * tries[i].eighths);
        *fits =
            status == HYBRID_OK && hy_window_holds(plan, tries[i].all ? depth - 1 : 0);
        if (!*fits)
            settle(plan, &before, 0);
        HY_TRY(tried(&plan->engine->ctx, status));
    }
    return HYBRID_OK;
}

/* X does not fit: a window of its rows, unless a sample of the chunks says that gathered
   ones would send less. */
static hybrid_status try_window(hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_plan_options *o, int depth, int *found)
{
    const result before = take(plan);
    int64_t gathered;

    HY_TRY(fit_window(plan, A, o, depth, found));
    if (!*found)
        return HYBRID_OK;
    plan->window_up            = hy_traffic_dense_up(plan);
    const hybrid_status status = hy_traffic_gathered_up(plan, A, NULL, &gathered);
    *found                     = status == HYBRID_OK && plan->window_up <= gathered;
    settle(plan, &before, *found);
    return status;
}

static hybrid_status choose_panels(hybrid_plan *plan, const hybrid_csr *A,
                                   const hybrid_plan_options *o, int *depth)
{
    const hy_candidate *c = &plan->candidates[plan->chosen];

    if (plan->op == HY_SPMM && c->backend->ops->copy)
        HY_TRY(plan->gathered || plan->window > 0 ? try_large(plan, A, o, depth)
                                                  : try_panels(plan, A, o, *depth));
    if (!c->backend->ops->copy || plan->panels.cols > 0)
        return HYBRID_OK;
    if (hy_split_mode(o) == HYBRID_SPLIT_GPU && plan->window == 0)
        HY_TRY(hy_panels_offer(plan, *depth));
    if (plan->flags & HYBRID_RESIDENT && plan->if_pinned.cols == 0)
        keep(plan, *depth);
    return HYBRID_OK;
}

/* ---- layouts -------------------------------------------------------------------- */

/* The first layout that holds every row. */
static hybrid_status cut_ways(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                              const hybrid_plan_options *o, size_t shared, int depth,
                              int *depth_out)
{
    const hy_backend *backend = plan->candidates[plan->chosen].backend;
    const layout ways[]       = {{0, depth, RESIDENT_SHARE}, {0, depth, 1}, {1, depth, 1},
                                 {1, (depth + 1) / 2, 1},    {1, 1, 1},     {0, 1, 1}};
    const size_t memory       = plan->rates.memory;
    const size_t most[]       = {memory / 4 * 3, memory / 2, 0, 0, 0, memory}; /* of X */
    const int in_place        = !backend->ops->copy;
    const int resident        = !in_place && plan->flags & HYBRID_RESIDENT;
    hybrid_status status      = HYBRID_NO_DEVICE_MEMORY;

    for (size_t i = resident ? 0 : 1; i < sizeof ways / sizeof *ways; i++) {
        if (ways[i].gathered ? in_place : shared > most[i])
            continue;
        hy_message_clear(&plan->engine->ctx.message);
        status     = cut(plan, A, B, o, shared, ways[i]);
        *depth_out = ways[i].depth;
        if (status != HYBRID_NO_DEVICE_MEMORY)
            break;
    }
    return status;
}

hybrid_status hy_plan_cut(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                          const hybrid_plan_options *o, int *depth_out)
{
    const hy_backend *backend = plan->candidates[plan->chosen].backend;
    const int depth           = o->depth > 0 ? o->depth : DEPTH;
    const int eighths         = plan->flags & HYBRID_RESIDENT ? 6 : 4;
    int found                 = 0;
    size_t shared;

    hy_rates_of(backend, &plan->rates);
    plan->panels = plan->if_pinned = (hy_panels){.cols = 0};
    plan->window                   = 0;
    plan->gathered_up = plan->window_up = plan->panels_up = -1;
    hy_plan_size_image(plan, &shared);
    if (shared > plan->rates.memory / 8 * (size_t)eighths &&
        hy_split_mode(o) != HYBRID_SPLIT_SHARE) /* its chunks come in order */
        HY_TRY(try_window(plan, A, o, depth, &found));
    if (found)
        *depth_out = depth;
    else
        HY_TRY(cut_ways(plan, A, B, o, shared, depth, depth_out));
    return choose_panels(plan, A, o, depth_out);
}
