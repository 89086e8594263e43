/* host/spmm/spmm_host_transposed.c - Y = alpha*A*X + beta*Y for a column-major X.

   The rows of X that a chunk needs are transposed, a block of columns at a time, and
   multiplied like any row-major X. The transposed rows use pages from the pool of
   results. These pages are present from earlier calls, belong to no worker, and are freed
   when memory is short. */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/text/message.h"
#include "base/threads/pool.h"
#include "base/memory/results.h"
#include "host/spmm/spmm_host.h"
#include "partition/pattern/extents.h"
#include "partition/move/transpose.h"

enum {
    ROW_BYTES = 128,      /* maximum bytes of a transposed row */
    ALL_BYTES = 1 << 30,  /* maximum bytes of all transposed rows */
    FEW       = 8,        /* X is transposed only if the chunk has at least one entry of A
                             for every FEW rows of X that it spans */
    TRANSPOSED = 1 << 10, /* rows that one worker transposes at a time */
    EXAMINED   = 1 << 14  /* rows of A that one worker examines at a time */
};

/* The range of columns [first, end) in which rows of A have entries; workers widen it. */
typedef struct extent {
    const hybrid_csr *A;
    int64_t first, end;
} extent;

static hybrid_status widen(void *arg, int part, int64_t begin, int64_t end)
{
    extent *e            = arg;
    int64_t widest       = 0;
    const hy_extent rows = hy_extents_scan(e->A, begin, end, &widest);

    (void)part;
    hy_lower_to(&e->first, rows.first);
    hy_raise_to(&e->end, rows.end);
    return HYBRID_OK;
}

typedef struct transposing {
    const char *from;
    char *to;
    int64_t ld, cols;
    size_t size;
} transposing;

/* Transposes rows [begin, end) of X, in the block of columns that begins at t->from. */
static hybrid_status transpose(void *arg, int part, int64_t begin, int64_t end)
{
    const transposing *t = arg;

    (void)part;
    hy_transpose(t->from + (size_t)begin * t->size, t->ld, end - begin, t->cols, t->size,
                 t->to + (size_t)(begin * t->cols) * t->size, t->cols);
    return HYBRID_OK;
}

/* Returns how many columns are transposed at once; 1 if transposing does not pay.
   Transposing costs a part of each needed row of X. That is little for a chunk with many
   entries, and more than all other work for a chunk with few. */
static int64_t worth(const hy_dense_product *p, const extent *e, int64_t size)
{
    const int64_t entries = hy_offset(p->A, p->row_end) - hy_offset(p->A, p->row_begin);
    const int64_t rows    = e->end - e->first;
    const int64_t most    = hy_min(ROW_BYTES, ALL_BYTES / (rows + 1)) / size;

    if (entries < rows / FEW || most < 1)
        return 1;
    const int64_t blocks = (p->n + most - 1) / most;
    return (p->n + blocks - 1) / blocks;
}

/* Allocates room for `rows` rows of up to *width columns, which the caller releases. If
   memory is short, *width is reduced. Returns NULL and sets *width to 1 if one column
   remains: it needs no room, because it is read where it is. */
static void *find_room(hy_context *ctx, int64_t rows, int64_t size, int64_t *width)
{
    void *transposed = NULL;
    hy_message unheard;

    hy_message_hush(&unheard);
    for (; *width > 1; *width = (*width + 1) / 2)
        if (hy_results_array(ctx, rows * *width, (size_t)size, "columns of X",
                             &transposed) == HYBRID_OK)
            break;
    hy_message_heed(&unheard);
    return transposed;
}

/* Computes columns [at, at + p->n) of the chunk. */
static hybrid_status make(hy_lane *lane, const hy_job *job, const extent *e, int64_t at,
                          void *transposed, hy_dense_product *p)
{
    const hybrid_dense *X = job->problem->X;
    const int64_t size    = (int64_t)hy_value_size(X->type);
    const char *x         = (const char *)p->x + at * X->ld * size;

    p->x     = x;
    p->x_row = p->n;
    p->y     = (char *)p->y + at * p->y_col * size;
    if (p->n > 1) {
        transposing t = {x + e->first * size, transposed, X->ld, p->n, (size_t)size};
        HY_TRY(hy_pool_for(lane->backend->ctx->pool, HY_COMPUTE, 0, e->end - e->first,
                           TRANSPOSED, transpose, &t));
        /* the address that row 0 of X would have in the room */
        p->x =
            (const void *)((uintptr_t)transposed - (uintptr_t)(e->first * p->n * size));
    }
    return hy_dense_product_make(lane, job, p);
}

static hybrid_status make_blocks(hy_lane *lane, const hy_job *job,
                                 const hy_dense_product *all, const extent *e,
                                 int64_t width, void *transposed)
{
    for (int64_t at = 0; at < all->n; at += width) {
        hy_dense_product p = *all;
        p.n                = hy_min(width, all->n - at);
        /* stores past the caches need whole cache lines: a column-major Y, or rows of Y
           with all columns at once */
        p.stream = all->stream && (p.y_col != 1 || width == all->n);
        HY_TRY(make(lane, job, e, at, transposed, &p));
    }
    return HYBRID_OK;
}

hybrid_status hy_dense_product_transposed(hy_lane *lane, const hy_job *job,
                                          const hy_dense_product *all)
{
    hy_context *ctx    = lane->backend->ctx;
    const int64_t size = (int64_t)hy_value_size(all->A->type);
    extent e           = {all->A, all->A->cols, 0};

    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, all->row_begin, all->row_end, EXAMINED,
                       widen, &e));
    /* first > end if there are no entries */
    e.first                    = hy_min(e.first, e.end);
    int64_t width              = worth(all, &e, size);
    void *transposed           = find_room(ctx, e.end - e.first, size, &width);
    const hybrid_status status = make_blocks(lane, job, all, &e, width, transposed);
    hy_results_release(ctx, transposed);
    return status;
}
