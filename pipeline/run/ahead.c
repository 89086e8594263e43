/* pipeline/run/ahead.c - cuts the chunks of a site while earlier ones are under way. */
#include "pipeline/run/ahead.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"

struct hy_ahead_part {
    hy_task task; /* must be first: its function casts the task to this struct */
    hy_ahead *ahead;
    const hy_chunk *planned;
    hy_chunk_array exact;
    hybrid_status status;
    int done; /* 1: the task has returned */
};

static hy_site *site_of(const hy_ahead *ahead)
{
    return ahead->queue->of[0];
}

/* ---- tasks ----------------------------------------------------------------------- */

static void cut(hy_task *task, int worker)
{
    hy_ahead_part *part     = (hy_ahead_part *)task;
    const hy_ahead *ahead   = part->ahead;
    const hy_chunk *planned = part->planned;

    (void)worker;
    if (!__atomic_load_n(ahead->stopped, __ATOMIC_ACQUIRE))
        part->status = hy_chunk_array_reserve(ahead->exact.site->ctx, &part->exact, 1);
    else
        part->status = HYBRID_CANCELLED;
    if (part->status == HYBRID_OK)
        part->status = hy_exact_cut(&ahead->exact, planned, planned->row_begin,
                                    planned->row_end, 0, &part->exact);
    hy_inbox_push(ahead->inbox, task);
}

static hybrid_status open_parts(hy_ahead *ahead)
{
    hy_site *site     = site_of(ahead);
    const int64_t all = site->planned.count;
    void *memory;

    HY_TRY(hy_array(site->ctx, all, sizeof(hy_ahead_part), "planned chunks", &memory));
    ahead->parts = memory;
    ahead->count = all;
    for (int64_t k = 0; k < all; k++)
        ahead->parts[k] = (hy_ahead_part){
            .task = {.run = cut}, .ahead = ahead, .planned = &site->planned.cut[k]};
    return HYBRID_OK;
}

hybrid_status hy_ahead_begin(hy_ahead *ahead, hy_queue *queue, hy_inbox *inbox,
                             const int *stopped)
{
    hy_site *site             = queue->of[0];
    const hy_problem *problem = &site->problem;

    *ahead = (hy_ahead){.queue = queue, .inbox = inbox, .stopped = stopped};
    if (site->planned.count == 0)
        return HYBRID_OK;
    ahead->exact = (hy_exact){.site     = site,
                              .A        = problem->A,
                              .B        = problem->B,
                              .lengths  = &problem->profile->lengths,
                              .with_own = problem->A->row_ptr == problem->B->row_ptr};
    HY_TRY(open_parts(ahead));
    for (; ahead->out < ahead->count; ahead->out++)
        hy_pool_submit(site->ctx->pool, HY_PLAN, &ahead->parts[ahead->out].task);
    return HYBRID_OK;
}

/* ---- the list -------------------------------------------------------------------- */

/* Returns the first row of B that begins at entry `entry` or later. */
static int64_t row_at(const hybrid_csr *B, int64_t entry)
{
    int64_t low = 0, high = B->rows;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (hy_offset(B, middle) < entry)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Lets the ring keep what the chunk needs, and sets chunk->x_begin to the first row that
   it keeps. Returns 0, and changes nothing, if the ring no longer has a row that the
   chunk touches, or would pass over rows that later chunks may touch. */
static int reach(hy_ahead *ahead, hy_chunk *chunk)
{
    const hybrid_csr *B = ahead->exact.B;
    const int64_t span  = site_of(ahead)->image.span;
    const int64_t far   = hy_max(ahead->far, chunk->x_end);
    const int64_t end   = hy_offset(B, far);

    if (chunk->x_begin < chunk->x_end &&
        (end - hy_offset(B, chunk->x_begin) > span ||
         (ahead->far > 0 && end - hy_offset(B, ahead->far) > span)))
        return 0;
    ahead->far     = far;
    ahead->kept    = hy_max(ahead->kept, row_at(B, end - span));
    chunk->x_begin = ahead->kept;
    return 1;
}

static hybrid_status append(hy_ahead *ahead, hy_chunk chunk)
{
    const hy_site *site = site_of(ahead);

    if (site->image.axis != HY_AXIS_ENTRIES)
        chunk.x_begin = 0;
    else if (hy_exact_gathers(&chunk, &site->image))
        chunk.x_begin = ahead->kept;
    ahead->products += chunk.features.products;
    return hy_chunk_array_append(site->ctx, &ahead->chunks, &chunk);
}

/* Appends an exact chunk. A chunk that the ring cannot serve is cut anew, into chunks
   that gather. */
static hybrid_status append_or_gather(hy_ahead *ahead, hy_chunk chunk)
{
    const hy_site *site  = site_of(ahead);
    hy_chunk_array array = {0};

    if (site->image.axis != HY_AXIS_ENTRIES || hy_exact_gathers(&chunk, &site->image) ||
        reach(ahead, &chunk))
        return append(ahead, chunk);
    hybrid_status status =
        hy_exact_cut(&ahead->exact, &chunk, chunk.row_begin, chunk.row_end, 1, &array);
    for (int64_t k = 0; k < array.count && status == HYBRID_OK; k++)
        status = append(ahead, array.of[k]);
    hy_array_free(site->ctx, array.of);
    return status;
}

/* Appends the last chunk, which was held back so that the next one might be joined to
   it. */
static hybrid_status append_held(hy_ahead *ahead)
{
    const int some = ahead->holds;

    ahead->holds = 0;
    return some ? append_or_gather(ahead, ahead->held) : HYBRID_OK;
}

/* Appends the chunks of a part. Each chunk is first joined to the one held back before
   it, if both together fit. If the part has several chunks, because the planned one did
   not fit, its last chunk is held back, except in the last part. */
static hybrid_status append_part(hy_ahead *ahead, const hy_ahead_part *part)
{
    HY_TRY(part->status);
    for (int64_t k = 0; k < part->exact.count; k++) {
        const hy_chunk *next = &part->exact.of[k];
        hy_chunk joined;
        if (ahead->holds && hy_exact_join(&ahead->exact, &ahead->held, next, &joined)) {
            ahead->held = joined;
            continue;
        }
        HY_TRY(append_held(ahead));
        ahead->held  = *next;
        ahead->holds = 1;
    }
    return part->exact.count == 1 || part == &ahead->parts[ahead->count - 1]
               ? append_held(ahead)
               : HYBRID_OK;
}

int hy_ahead_has(const hy_ahead *ahead, const hy_task *task)
{
    const uintptr_t at = (uintptr_t)task, first = (uintptr_t)ahead->parts;

    return ahead->count > 0 && at >= first &&
           at < first + (uintptr_t)ahead->count * sizeof *ahead->parts;
}

hybrid_status hy_ahead_take(hy_ahead *ahead, hy_task *task)
{
    hy_ahead_part *part  = (hy_ahead_part *)task;
    const int64_t before = ahead->appended;
    hybrid_status status = HYBRID_OK;

    part->done = 1;
    ahead->out--;
    for (; ahead->appended < ahead->count && status == HYBRID_OK; ahead->appended++) {
        hy_ahead_part *next = &ahead->parts[ahead->appended];
        if (!next->done)
            break;
        status = append_part(ahead, next);
    }
    if (status == HYBRID_OK && ahead->appended > before)
        hy_queue_grow(ahead->queue, &ahead->chunks, ahead->kept,
                      ahead->appended < ahead->count);
    return status;
}

void hy_ahead_end(hy_ahead *ahead)
{
    if (ahead->count == 0)
        return;
    hy_site *site   = site_of(ahead);
    hy_context *ctx = site->ctx;

    for (int64_t k = 0; k < ahead->count; k++)
        hy_array_free(ctx, ahead->parts[k].exact.of);
    hy_array_free(ctx, ahead->parts);
    hy_array_free(ctx, ahead->chunks.of);
    site->list = (hy_chunk_list){.cut = NULL};
    *ahead     = (hy_ahead){.count = 0};
}
