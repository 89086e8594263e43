/* engine/plan.c - inspect, rank, cut, open the pipeline, let the host take part.

   The device's budget is shared by B or X, if it stays there, and by `depth` slots. In
   order of preference:

       resident, all slots     when B or X takes at most half of the budget
       gathered, all slots     each chunk brings the rows of B or X that it touches
       gathered, fewer slots   down to one: no overlap, but the longest row fits
       resident, one slot      a row's share of B may exceed B itself

   The first that can hold every row wins. With a variant that carries all it needs of B
   they differ in their slots only.

   HYBRID_RESIDENT comes before them: X resident if it takes no more than three quarters
   of the budget, slots in a fourth of what it leaves, and A in the rest. */
#include "engine/plan.h"

#include <string.h>

#include "base/csr.h"
#include "engine/rates.h"
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
    RESIDENT_SHARE = 4          /* slots beside an A that stays: small, and many fit */
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
    const int64_t threads = hy_pool_threads(plan->engine->ctx.pool);

    /* in place a chunk is one loop, and all wait for its last piece: as few chunks as let
       an interrupt be seen soon */
    if (plan->op == HY_SPMM && !backend->ops->copy)
        return HOST_DENSE * threads;
    if (plan->op == HY_SPMM) {
        const int64_t bytes  = f->out_bound * (int64_t)hy_value_size(f->type);
        const int64_t chunks = at_least(bytes / DENSE_BYTES, CHUNKS);
        return at_least(f->products / chunks + 1, MIN_PRODUCTS);
    }
    if (backend->ops->copy) {
        const int carried  = plan->candidates[plan->chosen].variant->carries_b;
        const int64_t most = device_products(f, carried);
        return at_least(share < most ? share : most, MIN_PRODUCTS);
    }
    return at_least(HOST_PRODUCTS * threads, MIN_PRODUCTS);
}

typedef struct needing {
    const hybrid_csr *A;
    hy_chunk *chunks;
    int64_t b_rows; /* SpGEMM; 0 for SpMM */
} needing;

/* The last row of B or X that a chunk touches; and its own rows, which are rows of B too
   when A is squared. */
static hybrid_status find_needs(void *arg, int part, int64_t begin, int64_t end)
{
    const needing *n = arg;

    (void)part;
    for (int64_t c = begin; c < end; c++) {
        hy_chunk *chunk = &n->chunks[c];
        int64_t last    = (chunk->row_end < n->b_rows ? chunk->row_end : n->b_rows) - 1;
        for (int64_t i = chunk->row_begin; i < chunk->row_end; i++) {
            const int64_t stop = hy_offset(n->A, i + 1);
            if (stop > hy_offset(n->A, i) && n->A->col[stop - 1] > last)
                last = n->A->col[stop - 1];
        }
        chunk->needs = last + 1;
    }
    return HYBRID_OK;
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
        .gathered     = gathered};
    HY_TRY(
        hy_cut_chunks(&plan->engine->ctx, &request, &plan->chunks, &plan->chunk_count));
    plan->gathered     = gathered;
    plan->shared_bytes = kept;
    if (kept == 0)
        return HYBRID_OK;
    needing n = {A, plan->chunks, B ? B->rows : 0};
    return hy_pool_for(plan->engine->ctx.pool, HY_COMPUTE, 0, plan->chunk_count, 1,
                       find_needs, &n);
}

/* Bytes of B or X on the device if it were resident; 0 when computing in place, or when
   chunks carry what they need. */
static size_t resident_bytes(const hybrid_plan *plan, const hy_backend *backend)
{
    const hybrid_csr B = {
        .rows = plan->b_rows, .nnz = plan->b_nnz, .type = plan->profile.type};
    const hybrid_csr A   = {.type = plan->profile.type};
    const hybrid_dense X = {
        .rows = plan->b_rows, .cols = plan->b_cols, .type = plan->profile.type};
    const hy_variant *variant = plan->candidates[plan->chosen].variant;
    const hy_problem problem  = {
         .op = plan->op, .A = &A, .B = &B, .X = &X, .in_cols = variant->in_cols};

    return backend->ops->copy && !variant->carries_b ? hy_shared_bytes(&problem) : 0;
}

/* Chunks for the chosen candidate, in the first layout that holds every row. */
static hybrid_status cut_somehow(hybrid_plan *plan, const hybrid_csr *A,
                                 const hybrid_csr *B, const hybrid_plan_options *o,
                                 int *depth_out)
{
    hy_backend *backend  = plan->candidates[plan->chosen].backend;
    hy_context *ctx      = &plan->engine->ctx;
    const int depth      = o->depth > 0 ? o->depth : DEPTH;
    hybrid_status status = HYBRID_NO_DEVICE_MEMORY;

    hy_rates_of(backend, &plan->rates);
    plan->resident_bytes = resident_bytes(plan, backend);
    const size_t shared  = hy_align(plan->resident_bytes);
    const layout ways[]  = {{0, depth, RESIDENT_SHARE}, {0, depth, 1}, {1, depth, 1},
                            {1, (depth + 1) / 2, 1},    {1, 1, 1},     {0, 1, 1}};
    const size_t memory  = plan->rates.memory;
    const size_t most[]  = {memory / 4 * 3, memory / 2, 0, 0, 0, memory}; /* of X */
    const int in_place   = !backend->ops->copy;
    const int resident   = !in_place && plan->flags & HYBRID_RESIDENT;
    for (size_t i = resident ? 0 : 1; i < sizeof ways / sizeof *ways; i++) {
        if (ways[i].gathered ? in_place : shared > most[i])
            continue;
        hy_message_clear(&ctx->message);
        status     = cut(plan, A, B, o, shared, ways[i]);
        *depth_out = ways[i].depth;
        if (status != HYBRID_NO_DEVICE_MEMORY)
            break;
    }
    return status;
}

/* The cheapest candidate whose backend can hold the work. */
static hybrid_status choose(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                            const hybrid_plan_options *o, int *depth)
{
    hybrid_status status = HYBRID_UNSUPPORTED;

    for (plan->chosen = 0; plan->chosen < plan->candidate_count; plan->chosen++) {
        hy_candidate *c = &plan->candidates[plan->chosen];
        if (c->refused)
            continue;
        status = cut_somehow(plan, A, B, o, depth);
        if (status == HYBRID_OK)
            c->chosen = 1;
        if (status != HYBRID_NO_DEVICE_MEMORY)
            break;
        c->refused = "a row of the product does not fit the device's budget";
    }
    return status;
}

static hybrid_status open_pipeline(hybrid_plan *plan, int depth)
{
    const int slots     = plan->chunk_count < depth ? (int)plan->chunk_count : depth;
    hy_context *ctx     = &plan->engine->ctx;
    hy_backend *backend = plan->candidates[plan->chosen].backend;
    const size_t shared = plan->chunk_count > 0 ? plan->shared_bytes : 0;

    if (plan->flags & HYBRID_RESIDENT && backend->ops->copy)
        hy_keep_choose(&plan->rates, depth, plan->rates.memory - shared, plan->chunks,
                       plan->chunk_count);
    hybrid_status status =
        hy_pipeline_open(ctx, backend, &plan->rates, plan->op, plan->chunks,
                         plan->chunk_count, slots, shared, &plan->pipeline);
    if (status != HYBRID_NO_DEVICE_MEMORY)
        return status;
    /* blocks kept from earlier plans may be larger than what was asked for */
    backend->ops->trim(backend);
    hy_message_clear(&ctx->message);
    return hy_pipeline_open(ctx, backend, &plan->rates, plan->op, plan->chunks,
                            plan->chunk_count, slots, shared, &plan->pipeline);
}

int64_t hy_plan_there_bytes(const hybrid_plan *plan)
{
    int64_t sum = 0;

    for (int64_t i = 0; plan->pipeline->keeper.there && i < plan->chunk_count; i++) {
        const hy_features *f = &plan->chunks[i].features;
        sum += plan->chunks[i].kept ? hy_csr_bytes(f->rows, f->nnz, f->type) - 8 : 0;
    }
    return sum;
}

void hy_plan_start_report(hybrid_plan *plan)
{
    plan->report                     = (hybrid_report)HYBRID_REPORT_INIT;
    plan->report.chunks              = plan->chunk_count;
    plan->report.rows                = plan->profile.rows;
    plan->report.flops               = 2 * plan->profile.features.products;
    plan->report.predicted_h2d_bytes = plan->traffic.up;
    plan->report.predicted_d2h_bytes = plan->traffic.down;
    plan->report.other_h2d_bytes     = plan->traffic.other_up;
    plan->report.gathered            = plan->gathered;
    plan->report.resident_chunks     = plan->pipeline->keeper.count;
    plan->report.resident_bytes      = (int64_t)plan->pipeline->keeper.block.bytes;
    if (!plan->pipeline->keeper.there)
        plan->report.predicted_h2d_bytes += plan->traffic.first;
}

hybrid_status hy_plan_finish(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B)
{
    if (B && plan->flags & HYBRID_REUSE)
        HY_TRY(hy_pattern_note(&plan->engine->ctx, A, B, &plan->pattern));
    HY_TRY(hy_plan_traffic(plan, A, B, &plan->traffic));
    hy_plan_start_report(plan);
    return HYBRID_OK;
}

hybrid_status hy_plan_make(hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, int64_t dense_cols,
                           const hybrid_plan_options *options, hybrid_plan **out)
{
    hy_context *ctx = &engine->ctx;
    void *memory;
    hybrid_status status;
    int depth = 1;

    HY_TRY(hy_array(ctx, 1, sizeof(hybrid_plan), "plan", &memory));
    hybrid_plan *plan = memory;
    memset(plan, 0, sizeof *plan);
    plan->engine = engine;
    plan->op     = B ? HY_SPGEMM : HY_SPMM;
    plan->flags  = options->flags;
    plan->b_rows = A->cols;
    plan->b_cols = B ? B->cols : dense_cols;
    plan->b_nnz  = B ? B->nnz : 0;
    HY_TRY_ELSE_DONE(hy_inspect(ctx, A, B, dense_cols, &plan->profile));
    plan->profile.features.allow_tf32 = (options->flags & HYBRID_ALLOW_TF32) != 0;
    /* the host has no use for it, who asks for an explanation has */
    if (!B && (engine->device || options->flags & HYBRID_EXPLAIN))
        HY_TRY_ELSE_DONE(hy_inspect_fill(ctx, A, &plan->profile));
    HY_TRY_ELSE_DONE(hy_rank(engine, &plan->profile, options, plan->candidates,
                             &plan->candidate_count));
    HY_TRY_ELSE_DONE(choose(plan, A, B, options, &depth));
    HY_TRY_ELSE_DONE(open_pipeline(plan, depth));
    HY_TRY_ELSE_DONE(hy_split_open(plan, options));
done:
    if (status == HYBRID_OK)
        *out = plan;
    else
        hybrid_plan_destroy(plan);
    return status;
}

void hybrid_plan_destroy(hybrid_plan *plan)
{
    if (!plan)
        return;
    hy_context *ctx = &plan->engine->ctx;
    hy_pipeline_close(plan->pipeline);
    hy_array_free(ctx, plan->chunks);
    hy_pattern_free(ctx, &plan->pattern);
    hy_profile_free(ctx, &plan->profile);
    hy_array_free(ctx, plan);
}
