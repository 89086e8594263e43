/* host/spmm/spmm_host_transposed.c - Y = alpha*A*X + beta*Y where columns of X lie apart:
   those rows of X that a chunk needs are turned, some columns at a time, and the product
   of these is made as of any rows. They lie in pages that results are made of, which are
   there from the last time, belong to no worker, and go when memory is short. */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/text/message.h"
#include "base/threads/pool.h"
#include "base/memory/results.h"
#include "host/spmm/spmm_host.h"
#include "partition/pattern/extents.h"
#include "partition/move/transpose.h"

enum {
    TURNED       = 128,     /* bytes of a row of columns that are turned at once */
    TURNED_BYTES = 1 << 30, /* of all these rows, at most */
    FEW          = 8,       /* rows of X for an entry of A: more are not worth turning */
    TURN_ROWS    = 1 << 10, /* that one worker turns at a time */
    LOOK         = 1 << 14  /* rows of A that are looked at at once */
};

/* Between which columns rows of A lie, by all workers. */
typedef struct extent {
    const hybrid_csr *A;
    int64_t first, end;
} extent;

static hybrid_status look_at(void *arg, int part, int64_t begin, int64_t end)
{
    extent *e            = arg;
    int64_t widest       = 0;
    const hy_extent rows = hy_extents_look(e->A, begin, end, &widest);

    (void)part;
    hy_lower_to(&e->first, rows.first);
    hy_raise_to(&e->end, rows.end);
    return HYBRID_OK;
}

typedef struct turning {
    const char *from;
    char *to;
    int64_t ld, cols;
    size_t size;
} turning;

/* Rows [begin, end) of the columns at `from`. */
static hybrid_status turn(void *arg, int part, int64_t begin, int64_t end)
{
    const turning *t = arg;

    (void)part;
    hy_transpose(t->from + (size_t)begin * t->size, t->ld, end - begin, t->cols, t->size,
                 t->to + (size_t)(begin * t->cols) * t->size, t->cols);
    return HYBRID_OK;
}

/* How many columns are worth turning at once: a part of each row of X that is needed
   takes its share of a chunk with many entries, and more than all else of one with few.
 */
static int64_t worth(const hy_dense_product *p, const extent *e, int64_t size)
{
    const int64_t entries = hy_offset(p->A, p->row_end) - hy_offset(p->A, p->row_begin);
    const int64_t rows    = e->end - e->first;
    const int64_t most    = hy_min(TURNED, TURNED_BYTES / (rows + 1)) / size;

    if (entries < rows / FEW || most < 1)
        return 1;
    const int64_t panels = (p->n + most - 1) / most;
    return (p->n + panels - 1) / panels;
}

/* Room for so many rows of up to *width columns, to be released. Where there is none, of
   fewer; one column needs none, since it is read where it is. */
static void *find_room(hy_context *ctx, int64_t rows, int64_t size, int64_t *width)
{
    void *turned = NULL;
    hy_message unheard;

    hy_message_hush(&unheard);
    for (; *width > 1; *width = (*width + 1) / 2)
        if (hy_results_array(ctx, rows * *width, (size_t)size, "columns of X", &turned) ==
            HYBRID_OK)
            break;
    hy_message_heed(&unheard);
    return turned;
}

/* Columns [at, at + p->n) of X. */
static hybrid_status make(hy_lane *lane, const hy_job *job, const extent *e, int64_t at,
                          void *turned, hy_dense_product *p)
{
    const hybrid_dense *X = job->problem->X;
    const int64_t size    = (int64_t)hy_value_size(X->type);
    const char *x         = (const char *)p->x + at * X->ld * size;

    p->x     = x;
    p->x_row = p->n;
    p->y     = (char *)p->y + at * p->y_col * size;
    if (p->n > 1) {
        turning t = {x + e->first * size, turned, X->ld, p->n, (size_t)size};
        HY_TRY(hy_pool_for(lane->backend->ctx->pool, HY_COMPUTE, 0, e->end - e->first,
                           TURN_ROWS, turn, &t));
        /* row 0, which may lie before what was turned */
        p->x = (const void *)((uintptr_t)turned - (uintptr_t)(e->first * p->n * size));
    }
    return hy_dense_product_make(lane, job, p);
}

static hybrid_status make_panels(hy_lane *lane, const hy_job *job,
                                 const hy_dense_product *all, const extent *e,
                                 int64_t width, void *turned)
{
    for (int64_t at = 0; at < all->n; at += width) {
        hy_dense_product p = *all;
        p.n                = hy_min(width, all->n - at);
        p.stream =
            all->stream && (p.y_col != 1 || width == all->n); /* whole lines of Y */
        HY_TRY(make(lane, job, e, at, turned, &p));
    }
    return HYBRID_OK;
}

hybrid_status hy_dense_product_transposed(hy_lane *lane, const hy_job *job,
                                          const hy_dense_product *all)
{
    hy_context *ctx    = lane->backend->ctx;
    const int64_t size = (int64_t)hy_value_size(all->A->type);
    extent e           = {all->A, all->A->cols, 0};

    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, all->row_begin, all->row_end, LOOK, look_at,
                       &e));
    e.first                    = hy_min(e.first, e.end); /* no entries */
    int64_t width              = worth(all, &e, size);
    void *turned               = find_room(ctx, e.end - e.first, size, &width);
    const hybrid_status status = make_panels(lane, job, all, &e, width, turned);
    hy_results_release(ctx, turned);
    return status;
}
