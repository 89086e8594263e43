/* pipeline/sink/prefault.c - idle workers prepare pages of C before they are written. */
#include "pipeline/sink/prefault.h"

#include <sched.h>
#include <string.h>

enum {
    TOUCH_ENTRIES = 1 << 19
}; /* entries per step that touches pages: 2 MiB of columns or values of 4 bytes, 4 MiB of
      those of 8 */

/* Pins piece k of the columns (a piece is memory that is pinned at once, see results.h),
   and the pieces of the values of the same entries. */
static void pin_step(const hy_prefault *a, size_t k)
{
    const size_t per = a->size / 4; /* as many pieces of values have the entries of one
                                       piece of columns */

    hy_results_pin(a->ctx, a->col, k);
    for (size_t i = 0; i < per; i++)
        hy_results_pin(a->ctx, a->val, k * per + i);
}

static void touch_step(const hy_prefault *a, size_t k)
{
    const size_t begin = k * TOUCH_ENTRIES, end = begin + TOUCH_ENTRIES;

    hy_results_touch(a->col, begin * a->col_size, end * a->col_size);
    hy_results_touch(a->val, begin * a->size, end * a->size);
}

/* Takes the next step for an idle worker and returns its number. Returns a->by_idle or
   more if no step is left. */
static int64_t draw(hy_prefault *a)
{
    int64_t step = __atomic_load_n(&a->next, __ATOMIC_RELAXED);

    while (step < a->by_idle &&
           !__atomic_compare_exchange_n(&a->next, &step, step + 1, 1, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        continue;
    return step;
}

/* Does one step (pins a piece of memory, or touches pages), and submits the task again
   for the next step. */
static void run(hy_task *task, int worker)
{
    hy_prefault *a     = ((hy_prefault_task *)task)->prefault;
    const int stop     = __atomic_load_n(&a->stop, __ATOMIC_ACQUIRE);
    const int64_t step = stop ? a->by_idle : draw(a);

    (void)worker;
    if (step >= a->by_idle) {
        __atomic_fetch_add(&a->done, 1, __ATOMIC_RELEASE);
        return;
    }
    if (step < a->pins)
        pin_step(a, (size_t)step);
    else
        touch_step(a, (size_t)(step - a->pins + a->touch_first));
    hy_pool_submit(a->ctx->pool, HY_IDLE, task);
}

/* Submits tasks to idle workers, at most one per step. */
static void submit(hy_prefault *a)
{
    const int threads  = hy_pool_threads(a->ctx->pool);
    const int64_t most = threads < HY_PREFAULT_TASKS ? threads : HY_PREFAULT_TASKS;

    if (threads < 2)
        return;
    a->reaches   = 1;
    a->submitted = (int)(a->by_idle < most ? a->by_idle : most);
    for (int i = 0; i < a->submitted; i++) {
        a->tasks[i] = (hy_prefault_task){{.run = run}, a};
        hy_pool_submit(a->ctx->pool, HY_IDLE, &a->tasks[i].task);
    }
}

void hy_prefault_start(hy_prefault *a, hy_context *ctx, const hy_span *col,
                       const hy_span *val, size_t col_size, size_t value_size,
                       int64_t expected, int home)
{
    const int64_t used =
        /* number of leading entries whose columns lie in pages that are present */
        (int64_t)(col->touched / col_size);
    /* probable upper bound on the entries of C */
    const int64_t likely = expected + expected / 4;

    memset(a, 0, sizeof *a);
    a->ctx      = ctx;
    a->col      = col;
    a->val      = val;
    a->col_size = col_size;
    a->size     = value_size;
    if (col_size == 4 && col->piece > 0 && val->piece > 0) {
        const int64_t pinned = (used < likely ? used : likely) * 4;
        a->pins              = (pinned + (int64_t)col->piece - 1) / (int64_t)col->piece;
    }
    /* No pages are touched in two cases: the caller has limited host memory, and C may
       not need the pages; or at most an eighth of the expected entries lacks pages, which
       is within the error of the estimate. */
    if (!ctx->memory.strict && used < expected - expected / 8) {
        a->touch_first = used / TOUCH_ENTRIES;
        a->touches     = expected / TOUCH_ENTRIES - a->touch_first;
    }
    a->by_idle = a->pins + (home == HY_HOMES_DIFFER ? 0 : a->touches);
    hy_prefault_place(
        a, 0, (int64_t)hy_smaller(col->bytes / col_size, val->bytes / value_size), home);
    submit(a);
}

void hy_prefault_place(const hy_prefault *a, int64_t begin, int64_t end, int home)
{
    const size_t first = (size_t)begin, last = (size_t)end;

    if (home <= 0)
        return;
    hy_results_place(a->ctx, a->col, first * a->col_size, last * a->col_size, home - 1);
    hy_results_place(a->ctx, a->val, first * a->size, last * a->size, home - 1);
}

static hybrid_status touch_more(void *arg, int part, int64_t begin, int64_t end)
{
    hy_prefault *a = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t step = __atomic_fetch_add(&a->next, 1, __ATOMIC_RELAXED) - a->pins;
        if (step < a->touches)
            touch_step(a, (size_t)(step + a->touch_first));
    }
    return HYBRID_OK;
}

/* Lets workers touch separate huge pages in parallel. If they wrote to parts of one huge
   page, each would fault it and get a zeroed page, and all but one of these pages would
   be thrown away. */
hybrid_status hy_prefault_reach(hy_prefault *a, int64_t entries)
{
    const int64_t steps = (entries + TOUCH_ENTRIES - 1) / TOUCH_ENTRIES - a->touch_first;
    const int64_t until = steps < a->touches ? steps : a->touches;
    const int64_t drawn = __atomic_load_n(&a->next, __ATOMIC_RELAXED) - a->pins;

    if (!a->reaches || drawn < 0 || drawn >= until)
        return HYBRID_OK;
    return hy_pool_for(a->ctx->pool, HY_PLACE, 0, until - drawn, 1, touch_more, a);
}

void hy_prefault_stop(hy_prefault *a)
{
    int withdrawn = 0;

    __atomic_store_n(&a->stop, 1, __ATOMIC_RELEASE);
    while (withdrawn + __atomic_load_n(&a->done, __ATOMIC_ACQUIRE) < a->submitted) {
        for (int i = 0; i < a->submitted; i++)
            withdrawn += hy_pool_withdraw(a->ctx->pool, HY_IDLE, &a->tasks[i].task);
        sched_yield(); /* waits, because a running task may submit itself once more */
    }
    a->submitted = a->done = a->reaches = 0;
}
