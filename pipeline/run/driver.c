/* pipeline/run/driver.c - the loop that takes chunks through their stages. */
#include "pipeline/run/driver.h"

#include "pipeline/run/steps.h"

/* ---- claiming ---------------------------------------------------------------------- */

/* Returns 1 if any site works on a chunk. */
static int in_flight(const hy_run *run)
{
    for (int i = 0; i < run->queue.count; i++)
        if (run->queue.of[i]->finished < run->queue.of[i]->begun)
            return 1;
    return 0;
}

/* Claims the next chunk of the site for the slot. Returns 0 if none is left, or, unless
   `must` is 1, if the site should leave the rest to other sites. */
static int claim(hy_site *site, hy_slot *slot, int must)
{
    return hy_queue_claim(&site->run->queue, site->index, must, &slot->claim);
}

static void begin(hy_slot *slot, hy_site *site)
{
    const int gathers = hy_exact_gathers(&slot->claim.chunk, &site->problem.image);

    slot->sink     = site->run->sink;
    slot->sequence = site->begun++;
    slot->counted  = 0;
    hy_slot_begin(slot, gathers ? &site->gathering : &site->problem, &site->rates,
                  &site->cache);
    if (site->loader) /* tells the loader which rows of B or X are no longer needed: other
                         sites may have taken rows before this chunk */
        hy_loader_free(site->loader, hy_site_passed(site));
}

/* ---- issuing ---------------------------------------------------------------------- */

static void drive(hy_slot *slot)
{
    const hybrid_status status = hy_slot_advance(slot);

    if (status != HYBRID_OK) {
        hy_run_stop(slot->site->run, status);
        hy_slot_release(slot);
    }
}

static hy_slot *find_parked(const hy_site *site)
{
    for (int i = 0; i < site->depth; i++)
        if (site->slots[i].parked && hy_slot_may_go_on(&site->slots[i]))
            return &site->slots[i];
    return NULL;
}

static hy_slot *find_free(const hy_site *site)
{
    for (int i = 0; i < site->depth; i++)
        if (!site->slots[i].busy)
            return &site->slots[i];
    return NULL;
}

/* Resumes the parked slots whose turn on the lanes has come, then begins one chunk if a
   slot is free. Returns 0 if it did neither. */
static int issue_some(hy_site *site, int must)
{
    hy_slot *slot;
    int some = 0;

    for (; !hy_run_stopped(site->run) && (slot = find_parked(site)); some = 1) {
        slot->parked = 0;
        drive(slot);
    }
    slot = hy_run_stopped(site->run) ? NULL : find_free(site);
    if (!slot || !claim(site, slot, must))
        return some;
    begin(slot, site);
    drive(slot);
    return 1;
}

/* Lets each site begin a chunk (issue_some()). The host, which is the last site, comes
   first: it can no longer take rows of a chunk that a device has claimed. */
static int issue_to_all(hy_run *run)
{
    int some = 0;

    for (int i = run->queue.count - 1; i >= 0; i--)
        some = issue_some(run->queue.of[i], 0) || some;
    return some;
}

/* Called when no chunk is in flight because each site leaves the remaining rows to the
   others: forces one site to claim. */
static int issue_to_any(hy_run *run)
{
    for (int i = 0; i < run->queue.count && !in_flight(run); i++)
        if (issue_some(run->queue.of[i], 1))
            return 1;
    return 0;
}

static void issue(hy_run *run)
{
    while (issue_to_all(run) || issue_to_any(run))
        continue;
}

static void drop_parked(hy_run *run)
{
    for (int k = 0; k < run->queue.count; k++) {
        const hy_site *site = run->queue.of[k];
        for (int i = 0; i < site->depth; i++)
            if (site->slots[i].parked)
                hy_slot_release(&site->slots[i]);
    }
}

/* ---- by the calling thread alone ------------------------------------------------- */

static hybrid_status do_stage(hy_slot *slot, const hy_stage *stage)
{
    hy_pool *pool              = slot->site->ctx->pool;
    const hy_passage *passage  = &slot->passage[stage->step];
    const int64_t waited       = hy_pool_waited_ns(pool);
    const hybrid_status status = hy_slot_do(slot, stage);

    hy_pool_worked(pool, passage->end_ns - passage->begin_ns -
                             (hy_pool_waited_ns(pool) - waited));
    return status;
}

static hybrid_status do_stages(hy_slot *slot)
{
    for (const hy_stage *stage = slot->stages; stage->name; stage++)
        if (hy_step_applies(slot, stage->step))
            HY_TRY(stage->where == HY_ON_DRIVER ? hy_step_run(slot, stage, NULL)
                                                : do_stage(slot, stage));
    return hy_slot_finish(slot);
}

static void drive_alone(hy_run *run)
{
    hy_site *site = run->queue.of[0];
    hy_slot *slot = site->slots;

    while (!hy_run_stopped(run) && slot && claim(site, slot, 1)) {
        begin(slot, site);
        const hybrid_status status = do_stages(slot);
        if (status == HYBRID_OK)
            continue;
        hy_run_stop(run, status);
        hy_slot_release(slot);
    }
}

/* ---- the run --------------------------------------------------------------------- */

/* Returns the loader whose tick this task is; NULL if the task is a slot. */
static hy_loader *find_ticking(const hy_run *run, const hy_task *task)
{
    for (int i = 0; i < run->queue.count; i++) {
        hy_loader *loader = run->queue.of[i]->loader;
        if (loader && task == &loader->progress.tick)
            return loader;
    }
    return NULL;
}

void hy_drive(hy_run *run)
{
    if (hy_site_by_caller(run->queue.of[0])) {
        drive_alone(run);
        return;
    }
    issue(run);
    while (in_flight(run) || run->refine.out > 0) {
        hy_task *task        = hy_inbox_pop(&run->inbox);
        hy_loader *loader    = find_ticking(run, task);
        const int refines    = hy_refine_has(&run->refine, task);
        hy_slot *slot        = loader || refines ? NULL : (hy_slot *)task;
        hybrid_status status = slot     ? slot->status
                               : loader ? hy_loader_ticked(loader)
                                        : hy_refine_take(&run->refine, task);
        if (status == HYBRID_OK)
            status = hy_progress_check(&run->ctx->progress);
        if (status != HYBRID_OK)
            hy_run_stop(run, status);
        if (slot && run->stopped)
            hy_slot_release(slot);
        else if (slot)
            drive(slot);
        issue(run);
        if (run->stopped)
            drop_parked(run);
    }
}
