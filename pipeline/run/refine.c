/* pipeline/run/refine.c - cuts the chunks of a site while earlier ones are under way. */
#include "pipeline/run/refine.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"

struct hy_refine_part {
    hy_task task; /* must be first: its function casts the task to this struct */
    hy_refine *refine;
    const hy_chunk *planned;
    hy_chunk_array exact;
    hybrid_status status;
    int done; /* 1: the task has returned */
};

static hy_site *site_of(const hy_refine *refine)
{
    return refine->queue->of[0];
}

/* ---- tasks ----------------------------------------------------------------------- */

static void cut(hy_task *task, int worker)
{
    hy_refine_part *part    = (hy_refine_part *)task;
    const hy_refine *refine = part->refine;
    const hy_chunk *planned = part->planned;

    (void)worker;
    if (!__atomic_load_n(refine->stopped, __ATOMIC_ACQUIRE))
        part->status = hy_chunk_array_reserve(refine->exact.site->ctx, &part->exact, 1);
    else
        part->status = HYBRID_CANCELLED;
    if (part->status == HYBRID_OK)
        part->status = hy_exact_cut(&refine->exact, planned, planned->row_begin,
                                    planned->row_end, 0, &part->exact);
    hy_inbox_push(refine->inbox, task);
}

static hybrid_status open_parts(hy_refine *refine)
{
    hy_site *site     = site_of(refine);
    const int64_t all = site->planned.count;
    void *memory;

    HY_TRY(hy_array(site->ctx, all, sizeof(hy_refine_part), "chunks", &memory));
    refine->parts = memory;
    refine->count = all;
    for (int64_t k = 0; k < all; k++)
        refine->parts[k] = (hy_refine_part){
            .task = {.run = cut}, .refine = refine, .planned = &site->planned.cut[k]};
    return HYBRID_OK;
}

hybrid_status hy_refine_begin(hy_refine *refine, hy_queue *queue, hy_inbox *inbox,
                              const int *stopped)
{
    hy_site *site             = queue->of[0];
    const hy_problem *problem = &site->problem;

    *refine = (hy_refine){.queue = queue, .inbox = inbox, .stopped = stopped};
    if (site->planned.count == 0)
        return HYBRID_OK;
    refine->exact = (hy_exact){.site     = site,
                               .A        = problem->A,
                               .B        = problem->B,
                               .lengths  = &problem->profile->lengths,
                               .with_own = problem->A->row_ptr == problem->B->row_ptr};
    HY_TRY(open_parts(refine));
    for (; refine->out < refine->count; refine->out++)
        hy_pool_submit(site->ctx->pool, HY_PLAN, &refine->parts[refine->out].task);
    return HYBRID_OK;
}

/* ---- the list -------------------------------------------------------------------- */

/* Lets the ring keep what the chunk needs, and sets chunk->x_begin to the first row that
   it keeps. Returns 0, and changes nothing, if the ring no longer has a row that the
   chunk touches, or would pass over rows that later chunks may touch. */
static int reach(hy_refine *refine, hy_chunk *chunk)
{
    const hybrid_csr *B = refine->exact.B;
    const int64_t span  = site_of(refine)->image.span;
    const int64_t far   = hy_max(refine->far, chunk->x_end);
    const int64_t end   = hy_offset(B, far);

    if (chunk->x_begin < chunk->x_end &&
        (end - hy_offset(B, chunk->x_begin) > span ||
         (refine->far > 0 && end - hy_offset(B, refine->far) > span)))
        return 0;
    refine->far        = far;
    refine->ring_begin = hy_max(refine->ring_begin, hy_csr_row_at(B, end - span));
    chunk->x_begin     = refine->ring_begin;
    return 1;
}

static hybrid_status append(hy_refine *refine, hy_chunk chunk)
{
    const hy_site *site = site_of(refine);

    if (site->image.axis != HY_AXIS_ENTRIES)
        chunk.x_begin = 0;
    else if (hy_exact_gathers(&chunk, &site->image))
        chunk.x_begin = refine->ring_begin;
    refine->products += chunk.features.products;
    return hy_chunk_array_append(site->ctx, &refine->chunks, &chunk);
}

/* Appends an exact chunk. A chunk that the ring cannot serve is cut anew, into chunks
   that gather. */
static hybrid_status append_or_gather(hy_refine *refine, hy_chunk chunk)
{
    const hy_site *site  = site_of(refine);
    hy_chunk_array array = {0};

    if (site->image.axis != HY_AXIS_ENTRIES || hy_exact_gathers(&chunk, &site->image) ||
        reach(refine, &chunk))
        return append(refine, chunk);
    hybrid_status status =
        hy_exact_cut(&refine->exact, &chunk, chunk.row_begin, chunk.row_end, 1, &array);
    for (int64_t k = 0; k < array.count && status == HYBRID_OK; k++)
        status = append(refine, array.of[k]);
    hy_array_free(site->ctx, array.of);
    return status;
}

/* Appends the last chunk, which was held back so that the next one might be joined to
   it. */
static hybrid_status append_held(hy_refine *refine)
{
    const int some = refine->holds;

    refine->holds = 0;
    return some ? append_or_gather(refine, refine->held) : HYBRID_OK;
}

/* Appends the chunks of a part. Each chunk is first joined to the one held back before
   it, if both together fit. If the part has several chunks, because the planned one did
   not fit, its last chunk is held back, except in the last part. */
static hybrid_status append_part(hy_refine *refine, const hy_refine_part *part)
{
    HY_TRY(part->status);
    for (int64_t k = 0; k < part->exact.count; k++) {
        const hy_chunk *next = &part->exact.of[k];
        hy_chunk joined;
        if (refine->holds &&
            hy_exact_join(&refine->exact, &refine->held, next, &joined)) {
            refine->held = joined;
            continue;
        }
        HY_TRY(append_held(refine));
        refine->held  = *next;
        refine->holds = 1;
    }
    return part->exact.count == 1 || part == &refine->parts[refine->count - 1]
               ? append_held(refine)
               : HYBRID_OK;
}

int hy_refine_has(const hy_refine *refine, const hy_task *task)
{
    const uintptr_t at = (uintptr_t)task, first = (uintptr_t)refine->parts;

    return refine->count > 0 && at >= first &&
           at < first + (uintptr_t)refine->count * sizeof *refine->parts;
}

hybrid_status hy_refine_take(hy_refine *refine, hy_task *task)
{
    hy_refine_part *part = (hy_refine_part *)task;
    const int64_t before = refine->appended;
    hybrid_status status = HYBRID_OK;

    part->done = 1;
    refine->out--;
    for (; refine->appended < refine->count && status == HYBRID_OK; refine->appended++) {
        hy_refine_part *next = &refine->parts[refine->appended];
        if (!next->done)
            break;
        status = append_part(refine, next);
    }
    if (status == HYBRID_OK && refine->appended > before)
        hy_queue_grow(refine->queue, &refine->chunks, refine->ring_begin,
                      refine->appended < refine->count);
    return status;
}

void hy_refine_end(hy_refine *refine)
{
    if (refine->count == 0)
        return;
    hy_site *site   = site_of(refine);
    hy_context *ctx = site->ctx;

    for (int64_t k = 0; k < refine->count; k++)
        hy_array_free(ctx, refine->parts[k].exact.of);
    hy_array_free(ctx, refine->parts);
    hy_array_free(ctx, refine->chunks.of);
    site->list = (hy_chunk_list){.cut = NULL};
    *refine    = (hy_refine){.count = 0};
}
