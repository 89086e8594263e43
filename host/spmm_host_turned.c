/* host/spmm_host_turned.c - Y = alpha*A*X + beta*Y where columns of X lie apart: those
   rows of X that a chunk needs are turned, some columns at a time, and the product of
   these is made as of any rows. */
#include "base/csr.h"
#include "base/extremes.h"
#include "base/message.h"
#include "base/pool.h"
#include "host/spmm_host.h"
#include "host/turn.h"

enum {
    TURNED = 128,    /* bytes of a row of columns that are turned at once */
    LOOK   = 1 << 14 /* rows of A that are looked at at once */
};

/* The first and behind the last column of some rows of A. */
typedef struct extent {
    const hybrid_csr *A;
    int64_t first, end;
} extent;

static hybrid_status look_at(void *arg, int part, int64_t begin, int64_t end)
{
    extent *e     = arg;
    int64_t first = e->A->cols, last = -1;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        if (hy_offset(e->A, i) < hy_offset(e->A, i + 1)) {
            first = hy_lesser(first, e->A->col[hy_offset(e->A, i)]);
            last  = hy_greater(last, e->A->col[hy_offset(e->A, i + 1) - 1]);
        }
    hy_lower_to(&e->first, first);
    hy_raise_to(&e->end, last + 1);
    return HYBRID_OK;
}

/* Room for so many rows of up to *width columns. Where there is none, of fewer; one
   column needs none, since it is read where it is. */
static hybrid_status find_room(hy_lane *lane, int64_t rows, int64_t size, int64_t *width,
                               void **turned)
{
    hybrid_status status = HYBRID_NO_MEMORY;
    hy_message unheard;
    size_t fresh;

    hy_message_init(&unheard);
    hy_message_aside(&unheard);
    for (; *width > 1; *width = (*width + 1) / 2) {
        status = hy_host_workspace(lane, HY_SCRATCH_TURNED,
                                   (size_t)(rows * *width * size) + 1, turned, &fresh);
        if (status != HYBRID_NO_MEMORY)
            break;
    }
    hy_message_aside(NULL);
    hy_message_destroy(&unheard);
    return status == HYBRID_NO_MEMORY ? HYBRID_OK : status;
}

/* Columns [at, at + p->n) of X. */
static hybrid_status make(hy_lane *lane, const hy_job *job, const extent *e, int64_t at,
                          void *turned, hy_product *p)
{
    const hybrid_dense *X = job->problem->X;
    const int64_t size    = (int64_t)hy_value_size(X->type);
    const char *x         = (const char *)p->x + at * X->ld * size;

    p->x     = x;
    p->x_row = p->n;
    p->y     = (char *)p->y + at * p->y_col * size;
    if (p->n > 1) {
        HY_TRY(hy_turn_to_rows(lane->backend->ctx->pool, X->type, x + e->first * size,
                               X->ld, e->end - e->first, p->n, turned));
        /* row 0, which may lie before what was turned */
        p->x = (const void *)((uintptr_t)turned - (uintptr_t)(e->first * p->n * size));
    }
    return hy_product_make(lane, job, p);
}

hybrid_status hy_product_turned(hy_lane *lane, const hy_job *job, const hy_product *all)
{
    const int64_t size   = (int64_t)hy_value_size(all->A->type);
    const int64_t panels = (all->n * size + TURNED - 1) / TURNED;
    int64_t width        = (all->n + panels - 1) / panels;
    extent e             = {all->A, all->A->cols, 0};
    void *turned         = NULL;

    HY_TRY(hy_pool_for(lane->backend->ctx->pool, HY_COMPUTE, all->row_begin, all->row_end,
                       LOOK, look_at, &e));
    e.first = hy_lesser(e.first, e.end); /* no entries */
    HY_TRY(find_room(lane, e.end - e.first, size, &width, &turned));
    for (int64_t at = 0; at < all->n; at += width) {
        hy_product p = *all;
        p.n          = hy_lesser(width, all->n - at);
        p.stream     = all->stream && width == all->n; /* whole rows of Y */
        HY_TRY(make(lane, job, &e, at, turned, &p));
    }
    return HYBRID_OK;
}
