/* pipeline/sink/prefault.c - idle workers prepare pages of C before they are written. */
#include "pipeline/sink/prefault.h"

#include <sched.h>
#include <string.h>

#include "base/data/min_max.h"

/* Entries of a step that touches pages: 2 MiB of columns or values of 4 bytes, 4 MiB of
   those of 8. */
enum { TOUCH_ENTRIES = 1 << 19 };

/* Pins piece k of the columns (a piece is memory that is pinned at once, see results.h),
   and the pieces of the values of the same entries. */
static void pin_step(const hy_prefault *p, size_t k)
{
    const size_t per = p->size / 4; /* number of pieces with the values of the entries
                                       whose columns lie in one piece */

    hy_results_pin(p->ctx, p->col, k);
    for (size_t i = 0; i < per; i++)
        hy_results_pin(p->ctx, p->val, k * per + i);
}

static void touch_step(const hy_prefault *p, size_t k)
{
    const size_t begin = k * TOUCH_ENTRIES, end = begin + TOUCH_ENTRIES;

    hy_results_touch(p->col, begin * p->col_size, end * p->col_size);
    hy_results_touch(p->val, begin * p->size, end * p->size);
}

/* Takes the next step for an idle worker and returns its number. Returns p->by_idle or
   more if no step is left. */
static int64_t draw(hy_prefault *p)
{
    int64_t step = __atomic_load_n(&p->next, __ATOMIC_RELAXED);

    while (step < p->by_idle &&
           !__atomic_compare_exchange_n(&p->next, &step, step + 1, 1, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        continue;
    return step;
}

/* Does one step (pins a piece of memory, or touches pages), and submits the task again
   for the next step. */
static void run(hy_task *task, int worker)
{
    hy_prefault *p     = ((hy_prefault_task *)task)->prefault;
    const int stop     = __atomic_load_n(&p->stop, __ATOMIC_ACQUIRE);
    const int64_t step = stop ? p->by_idle : draw(p);

    (void)worker;
    if (step >= p->by_idle) {
        __atomic_fetch_add(&p->done, 1, __ATOMIC_RELEASE);
        return;
    }
    if (step < p->pins)
        pin_step(p, (size_t)step);
    else
        touch_step(p, (size_t)(step - p->pins + p->touch_first));
    hy_pool_submit(p->ctx->pool, HY_IDLE, task);
}

/* Submits tasks to idle workers, at most one per step. */
static void submit(hy_prefault *p)
{
    const int threads  = hy_pool_threads(p->ctx->pool);
    const int alone    = p->pins > 0 && hy_results_pin_alone(p->ctx);
    const int64_t most = alone ? 1 : hy_min(threads, HY_PREFAULT_TASKS);

    if (threads < 2)
        return;
    p->reaches   = 1;
    p->submitted = (int)hy_min(p->by_idle, most);
    for (int i = 0; i < p->submitted; i++) {
        p->tasks[i] = (hy_prefault_task){{.run = run}, p};
        hy_pool_submit(p->ctx->pool, HY_IDLE, &p->tasks[i].task);
    }
}

/* Sets the numbers of steps for the first `expected` entries. The columns of the first
   `used` entries are in pages that are present. */
static void count_steps(hy_prefault *p, int64_t expected, int64_t used)
{
    const int64_t piece  = (int64_t)p->col->piece;
    const int64_t likely = expected + expected / 4; /* probable upper bound */
    const int64_t few    = expected / 8; /* error of the estimate, in entries */

    if (p->col_size == 4 && p->col->piece > 0 && p->val->piece > 0)
        p->pins = (hy_min(used, likely) * 4 + piece - 1) / piece;
    if (p->ctx->memory.strict) /* C may not need the pages, which would count against the
                                  caller's budget */
        return;
    if (used < expected - few) {
        p->touch_first = used / TOUCH_ENTRIES;
        p->touches     = expected / TOUCH_ENTRIES - p->touch_first;
    }
}

void hy_prefault_start(hy_prefault *p, hy_context *ctx, const hy_span *col,
                       const hy_span *val, size_t col_size, size_t value_size,
                       int64_t expected, int home)
{
    const size_t room = hy_smaller(col->bytes / col_size, val->bytes / value_size);

    memset(p, 0, sizeof *p);
    p->ctx      = ctx;
    p->col      = col;
    p->val      = val;
    p->col_size = col_size;
    p->size     = value_size;
    count_steps(p, expected, (int64_t)(col->touched / col_size));
    p->by_idle = p->pins + (home == HY_HOMES_DIFFER ? 0 : p->touches);
    hy_prefault_place(p, 0, (int64_t)room, home);
    submit(p);
}

void hy_prefault_place(const hy_prefault *p, int64_t begin, int64_t end, int home)
{
    const size_t first = (size_t)begin, last = (size_t)end;

    if (home <= 0)
        return;
    hy_results_place(p->ctx, p->col, first * p->col_size, last * p->col_size, home - 1);
    hy_results_place(p->ctx, p->val, first * p->size, last * p->size, home - 1);
}

static hybrid_status touch_more(void *arg, int part, int64_t begin, int64_t end)
{
    hy_prefault *p = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t step = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED) - p->pins;
        if (step < p->touches)
            touch_step(p, (size_t)(step + p->touch_first));
    }
    return HYBRID_OK;
}

/* Lets workers touch separate huge pages in parallel. If they wrote to parts of one huge
   page, each would fault it and get a zeroed page, and all but one of these pages would
   be thrown away. */
hybrid_status hy_prefault_reach(hy_prefault *p, int64_t entries)
{
    const int64_t steps = (entries + TOUCH_ENTRIES - 1) / TOUCH_ENTRIES - p->touch_first;
    const int64_t until = steps < p->touches ? steps : p->touches;
    const int64_t drawn = __atomic_load_n(&p->next, __ATOMIC_RELAXED) - p->pins;

    if (!p->reaches || drawn < 0 || drawn >= until)
        return HYBRID_OK;
    return hy_pool_for(p->ctx->pool, HY_PLACE, 0, until - drawn, 1, touch_more, p);
}

void hy_prefault_stop(hy_prefault *p)
{
    int withdrawn = 0;

    __atomic_store_n(&p->stop, 1, __ATOMIC_RELEASE);
    while (withdrawn + __atomic_load_n(&p->done, __ATOMIC_ACQUIRE) < p->submitted) {
        for (int i = 0; i < p->submitted; i++)
            withdrawn += hy_pool_withdraw(p->ctx->pool, HY_IDLE, &p->tasks[i].task);
        sched_yield(); /* waits, because a running task may submit itself once more */
    }
    p->submitted = p->done = p->reaches = 0;
}
