/* host/backend/host_scratch.c - workspaces of workers, which stay from run to run.

   A worker computes one row of one loop at a time, so lanes that run side by side share
   the workspaces of a worker. An accumulator in a workspace stays allocated, cleared and
   in the worker's cache from row to row. Only the worker uses its workspaces, so they
   need no lock. The thread that computes a product itself has workspaces, too; there is
   one such thread at a time. */
#include "base/threads/pool.h"
#include "host/backend/host_lane.h"

typedef struct hy_workspace {
    void *ptr;
    size_t bytes;
    int64_t call; /* number of the public call in which the workspace last grew */
} hy_workspace;

static int64_t pieces(const hy_host_backend *self)
{
    return ((int64_t)self->most_threads + 1) * HY_SCRATCHES;
}

hybrid_status hy_host_scratch_open(hy_host_backend *self)
{
    void *made = NULL;

    HY_TRY(hy_array(self->base.ctx, pieces(self), sizeof(hy_workspace),
                    "the table of workspaces", &made));
    self->scratch = made;
    for (int64_t i = 0; i < pieces(self); i++)
        self->scratch[i] = (hy_workspace){.ptr = NULL};
    return HYBRID_OK;
}

void hy_host_scratch_trim(hy_host_backend *self, int64_t since)
{
    for (int64_t i = 0; i < pieces(self); i++) {
        if (self->scratch[i].call < since)
            continue;
        hy_array_free(self->base.ctx, self->scratch[i].ptr);
        self->scratch[i] = (hy_workspace){.ptr = NULL};
    }
}

void hy_host_scratch_close(hy_host_backend *self)
{
    if (!self->scratch)
        return;
    hy_host_scratch_trim(self, 0);
    hy_array_free(self->base.ctx, self->scratch);
}

/* A workspace that is too small grows by at least half, and loses its contents. Rows that
   become longer and longer then do not allocate each time. */
hybrid_status hy_host_workspace(hy_lane *lane, hy_scratch_kind kind, size_t bytes,
                                void **out, size_t *fresh)
{
    const hy_host_backend *self = (const hy_host_backend *)lane->backend;
    hy_context *ctx             = lane->backend->ctx;
    const int worker            = hy_pool_worker(ctx->pool);
    const int64_t owner         = worker < 0 ? self->most_threads : worker;
    hy_workspace *p             = &self->scratch[owner * HY_SCRATCHES + kind];

    *fresh = 0;
    if (p->bytes < bytes) {
        size_t grown = hy_align(p->bytes + p->bytes / 2);
        grown        = grown > bytes ? grown : hy_align(bytes);
        hy_array_free(ctx, p->ptr);
        *p = (hy_workspace){.ptr = NULL};
        HY_TRY(hy_array(ctx, (int64_t)grown, 1, "a workspace of a CPU worker", &p->ptr));
        p->bytes = grown;
        p->call  = ctx->call;
        *fresh   = grown;
    }
    *out = p->ptr;
    return HYBRID_OK;
}
