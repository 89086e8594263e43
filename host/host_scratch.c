/* host/host_scratch.c - workspaces of loops, kept from run to run.

   A lane borrows a set when it opens and gives it back when it closes, so that the
   next plan finds accumulators that are allocated, touched and cleared. */
#include "host/host_lane.h"

typedef struct piece {
    void *ptr;
    size_t bytes;
} piece;

struct hy_host_scratch {
    hy_host_scratch *next;
    piece pieces[]; /* threads * HY_SCRATCHES */
};

hybrid_status hy_host_scratch_take(hy_host_backend *self, hy_host_scratch **out)
{
    const int64_t count = (int64_t)self->threads * HY_SCRATCHES;
    void *made          = NULL;

    pthread_mutex_lock(&self->lock);
    hy_host_scratch *scratch = self->spare;
    if (scratch)
        self->spare = scratch->next;
    pthread_mutex_unlock(&self->lock);
    if (!scratch) {
        HY_TRY(hy_array(self->base.ctx,
                        (int64_t)(sizeof *scratch + (size_t)count * sizeof(piece)), 1,
                        "table of workspaces", &made));
        scratch = made;
        for (int64_t i = 0; i < count; i++)
            scratch->pieces[i] = (piece){NULL, 0};
    }
    *out = scratch;
    return HYBRID_OK;
}

void hy_host_scratch_give(hy_host_backend *self, hy_host_scratch *scratch)
{
    pthread_mutex_lock(&self->lock);
    scratch->next = self->spare;
    self->spare   = scratch;
    pthread_mutex_unlock(&self->lock);
}

void hy_host_scratch_trim(hy_host_backend *self)
{
    hy_context *ctx = self->base.ctx;

    pthread_mutex_lock(&self->lock);
    hy_host_scratch *scratch = self->spare;
    self->spare              = NULL;
    pthread_mutex_unlock(&self->lock);
    while (scratch) {
        hy_host_scratch *next = scratch->next;
        for (int64_t i = 0; i < (int64_t)self->threads * HY_SCRATCHES; i++)
            hy_array_free(ctx, scratch->pieces[i].ptr);
        hy_array_free(ctx, scratch);
        scratch = next;
    }
}

/* Growing by half again, so that rows that become longer and longer do not allocate
   each time. */
hybrid_status hy_host_scratch_get(hy_context *ctx, hy_host_scratch *scratch, int part,
                                  hy_scratch kind, size_t bytes, void **out,
                                  size_t *fresh)
{
    piece *p = &scratch->pieces[(int64_t)part * HY_SCRATCHES + kind];

    *fresh = 0;
    if (p->bytes < bytes) {
        size_t grown = hy_align(p->bytes + p->bytes / 2);
        grown        = grown > bytes ? grown : hy_align(bytes);
        hy_array_free(ctx, p->ptr);
        *p = (piece){NULL, 0};
        HY_TRY(hy_array(ctx, (int64_t)grown, 1, "workspace of a CPU worker", &p->ptr));
        p->bytes = grown;
        *fresh   = grown;
    }
    *out = p->ptr;
    return HYBRID_OK;
}
