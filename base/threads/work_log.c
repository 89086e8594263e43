/* base/threads/work_log.c - records which threads worked on the stages of a chunk, and
   when. */
#include "base/threads/work_log.h"

#include <string.h>

#include "base/contract/context.h"

enum { FIRST_ROOM = 16 }; /* number of entries that a new log has memory for */

static _Thread_local hy_work_on current;

void hy_work_log_open(hy_context *ctx, hy_work_log *log)
{
    *log = (hy_work_log){.ctx = ctx};
    pthread_mutex_init(&log->lock, NULL);
}

void hy_work_log_close(hy_work_log *log)
{
    if (!log->ctx)
        return;
    hy_array_free(log->ctx, log->of);
    pthread_mutex_destroy(&log->lock);
    *log = (hy_work_log){.ctx = NULL};
}

void hy_work_log_clear(hy_work_log *log)
{
    log->count  = 0;
    log->status = HYBRID_OK;
}

void hy_work_begin(hy_work_on on)
{
    current = on;
}

hy_work_on hy_work_now(void)
{
    return current;
}

/* Makes room for one more entry in the log. The caller holds the log's lock. */
static hybrid_status make_room(hy_work_log *log)
{
    const int64_t room = log->room > 0 ? 2 * log->room : FIRST_ROOM;
    void *more;

    if (log->count < log->room)
        return HYBRID_OK;
    HY_TRY(hy_array(log->ctx, room, sizeof *log->of, "the trace of a chunk", &more));
    if (log->count > 0)
        memcpy(more, log->of, (size_t)log->count * sizeof *log->of);
    hy_array_free(log->ctx, log->of);
    log->of   = more;
    log->room = room;
    return HYBRID_OK;
}

void hy_work_end(int worker, int64_t begin_ns, int64_t end_ns)
{
    hy_work_log *log = current.log;
    const int stage  = current.stage;

    current = (hy_work_on){NULL, 0};
    if (!log)
        return;
    pthread_mutex_lock(&log->lock);
    const hybrid_status status = make_room(log);
    if (status == HYBRID_OK)
        log->of[log->count++] = (hy_work){stage, worker, begin_ns, end_ns};
    else
        log->status = status;
    pthread_mutex_unlock(&log->lock);
}
