/* partition/rows.c - room for a chunk's result, and the way of dense rows into Y. */
#include "partition/pack.h"

#include <string.h>

#include "base/csr.h"
#include "base/pool.h"

enum {
    STORE_ELEMENTS = 1 << 16, /* of Y that one worker takes at a time */
    TILE_ELEMENTS  = 1 << 10, /* of the chunk stay in the first-level cache while they */
    TILE_COLS      = 16       /* are written column after column */
};

/* ---- layout ------------------------------------------------------------------ */

/* Arrays of a SpGEMM result: row_ptr | row_at | col | val. */
typedef struct layout {
    size_t row_at, col, val, bytes;
} layout;

static layout csr_layout(const hy_features *f, int with_row_at)
{
    const size_t rows = (size_t)f->rows, entries = (size_t)f->out_bound;
    layout at;

    at.row_at = hy_align((rows + 1) * 8);
    at.col    = at.row_at + (with_row_at ? hy_align(rows * 8) : 0);
    at.val    = at.col + hy_align(entries * 4);
    at.bytes  = at.val + entries * hy_value_size(f->type);
    return at;
}

size_t hy_rows_bytes(hy_op op, const hy_features *f, int with_row_at)
{
    if (op == HY_SPMM)
        return (size_t)f->out_bound * hy_value_size(f->type);
    return csr_layout(f, with_row_at).bytes;
}

hy_rows hy_rows_in(void *block, hy_op op, const hy_features *f, int with_row_at)
{
    char *base = block;

    if (op == HY_SPMM)
        return (hy_rows){.val = block};
    const layout at = csr_layout(f, with_row_at);
    return (hy_rows){.row_ptr = block,
                     .row_at  = with_row_at ? (void *)(base + at.row_at) : NULL,
                     .col     = (void *)(base + at.col),
                     .val     = base + at.val};
}

/* ---- dense rows into Y ------------------------------------------------------- */

/* out[i] = alpha * in[i * step] + beta * out[i], in double, rounded once. */
#define DEFINE_STORE(name, real)                                                         \
    static void name(const real *restrict in, int64_t step, int64_t count, double alpha, \
                     double beta, real *restrict out)                                    \
    {                                                                                    \
        if (beta != 0)                                                                   \
            for (int64_t i = 0; i < count; i++)                                          \
                out[i] = (real)(alpha * (double)in[i * step] + beta * (double)out[i]);   \
        else if (alpha != 1)                                                             \
            for (int64_t i = 0; i < count; i++)                                          \
                out[i] = (real)(alpha * (double)in[i * step]);                           \
        else if (step == 1)                                                              \
            memcpy(out, in, (size_t)count * sizeof(real));                               \
        else                                                                             \
            for (int64_t i = 0; i < count; i++)                                          \
                out[i] = in[i * step];                                                   \
    }

DEFINE_STORE(store_f32, float)
DEFINE_STORE(store_f64, double)

/* `count` elements of the chunk from element `from`, `step` apart, to consecutive
   elements of Y from element `to`. */
static void store(const hy_job *job, int64_t from, int64_t step, int64_t count,
                  int64_t to)
{
    const hy_problem *p = job->problem;

    if (p->Y->type == HYBRID_F64)
        store_f64((const double *)job->back.val + from, step, count, p->alpha, p->beta,
                  (double *)p->Y->data + to);
    else
        store_f32((const float *)job->back.val + from, step, count, p->alpha, p->beta,
                  (float *)p->Y->data + to);
}

typedef struct storing {
    const hy_job *job;
    int64_t width, ld;
    int64_t origin; /* of the chunk in Y */
} storing;

/* Elements [begin, end) of a chunk that lies in Y as it lies in its own memory. */
static hybrid_status store_flat(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s = arg;

    (void)part;
    store(s->job, begin, 1, end - begin, s->origin + begin);
    return HYBRID_OK;
}

static hybrid_status store_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s = arg;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        store(s->job, i * s->width, 1, s->width, s->origin + i * s->ld);
    return HYBRID_OK;
}

/* Rows [begin, end) into a Y in columns, tile by tile. */
static hybrid_status store_cols(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s     = arg;
    const int64_t cols   = s->width < TILE_COLS ? s->width : TILE_COLS;
    const int64_t height = TILE_ELEMENTS / cols;

    (void)part;
    for (int64_t i = begin; i < end; i += height) {
        const int64_t rows = end - i < height ? end - i : height;
        for (int64_t first = 0; first < s->width; first += cols)
            for (int64_t j = first; j < s->width && j < first + cols; j++)
                store(s->job, i * s->width + j, s->width, rows,
                      s->origin + i + j * s->ld);
    }
    return HYBRID_OK;
}

hybrid_status hy_rows_store_dense(const hy_job *job)
{
    const hy_chunk *chunk = job->chunk;
    const hybrid_dense *Y = job->problem->Y;
    hy_pool *pool         = job->problem->ctx->pool;
    const int64_t rows    = chunk->row_end - chunk->row_begin;
    const int in_rows     = Y->order == HYBRID_ROW_MAJOR;
    storing s = {.job = job, .width = chunk->col_end - chunk->col_begin, .ld = Y->ld};

    if (rows == 0 || s.width == 0)
        return HYBRID_OK;
    s.origin = in_rows ? chunk->row_begin * Y->ld + chunk->col_begin
                       : chunk->row_begin + chunk->col_begin * Y->ld;
    if (in_rows && s.width == Y->ld)
        return hy_pool_for(pool, HY_PLACE, 0, rows * s.width, STORE_ELEMENTS, store_flat,
                           &s);
    const int64_t grain = 1 + STORE_ELEMENTS / s.width;
    return hy_pool_for(pool, HY_PLACE, 0, rows, grain, in_rows ? store_rows : store_cols,
                       &s);
}
