/* partition/pack_x.c - the rows of X that a chunk touches, for its pack. */
#include <string.h>

#include "base/csr.h"
#include "base/pool.h"
#include "partition/gather.h"

enum {
    PACK_ELEMENTS = 1 << 16, /* that one worker takes at a time */
    TILE = 16 /* rows and columns of X in columns, so that both sides stay cached */
};

/* What the loops of one call share. */
typedef struct gathering {
    const hy_job *job;
    const hy_touched *touched;
    size_t size; /* of a value */
    char *dst;
} gathering;

/* Where the rows end that follow each other in X as they do in the pack. */
static int64_t run_end(const hy_touched *t, int64_t begin, int64_t end)
{
    int64_t r = begin + 1;

    while (r < end && t->rows[r] == t->rows[r - 1] + 1)
        r++;
    return r;
}

/* Most rows from the first of these to the last are touched: then runs are worth looking
   for. */
static int is_dense(const hy_touched *t, int64_t begin, int64_t end)
{
    return t->rows[end - 1] - t->rows[begin] < 2 * (end - begin);
}

/* Slots of gathered chunks exceed the caches: long runs are stored past them. */
static hybrid_status gather_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const gathering *g    = arg;
    const hy_chunk *chunk = g->job->chunk;
    const hybrid_dense *X = g->job->problem->X;
    const size_t bytes    = (size_t)(chunk->col_end - chunk->col_begin) * g->size;

    const int dense = is_dense(g->touched, begin, end);

    (void)part;
    for (int64_t r = begin, stop; r < end; r = stop) {
        const int64_t at = g->touched->rows[r] * X->ld + chunk->col_begin;
        const char *from = (const char *)X->data + (size_t)at * g->size;
        char *to         = g->dst + (size_t)r * bytes;
        stop             = dense ? run_end(g->touched, r, end) : r + 1;
        if (dense)
            hy_copy_rows_past(to, bytes, from, (size_t)X->ld * g->size, bytes,
                              (size_t)(stop - r));
        else
            memcpy(to, from, bytes);
    }
    return HYBRID_OK;
}

/* One tile where X or the pack is in columns: touched rows [begin, end), columns [first,
   last). */
static void gather_tile(const gathering *g, int64_t begin, int64_t end, int64_t first,
                        int64_t last)
{
    const hy_problem *problem = g->job->problem;
    const hy_chunk *chunk     = g->job->chunk;
    const hybrid_dense *X     = problem->X;
    const int in_rows         = X->order == HYBRID_ROW_MAJOR;
    const int64_t row = in_rows ? X->ld : 1, col = in_rows ? 1 : X->ld;
    const int64_t to_row = problem->in_cols ? 1 : chunk->col_end - chunk->col_begin;
    const int64_t to_col = problem->in_cols ? g->touched->count : 1;

    for (int64_t r = begin; r < end; r++) {
        const int64_t from = g->touched->rows[r] * row + chunk->col_begin * col;
        for (int64_t j = first; j < last; j++)
            if (g->size == 8)
                ((double *)(void *)g->dst)[r * to_row + j * to_col] =
                    ((const double *)X->data)[from + j * col];
            else
                ((float *)(void *)g->dst)[r * to_row + j * to_col] =
                    ((const float *)X->data)[from + j * col];
    }
}

static hybrid_status gather_tiles(void *arg, int part, int64_t begin, int64_t end)
{
    const gathering *g    = arg;
    const hy_chunk *chunk = g->job->chunk;
    const int64_t width   = chunk->col_end - chunk->col_begin;

    (void)part;
    for (int64_t r = begin; r < end; r += TILE)
        for (int64_t j = 0; j < width; j += TILE)
            gather_tile(g, r, r + TILE < end ? r + TILE : end, j,
                        j + TILE < width ? j + TILE : width);
    return HYBRID_OK;
}

hybrid_status hy_pack_x(const hy_job *job, const hy_touched *touched, void *dst)
{
    const hy_problem *problem = job->problem;
    const int64_t width       = job->chunk->col_end - job->chunk->col_begin;
    const int64_t grain       = 1 + PACK_ELEMENTS / (1 + width);
    const int in_rows = problem->X->order == HYBRID_ROW_MAJOR && !problem->in_cols;
    gathering g       = {job, touched, hy_value_size(problem->X->type), dst};

    return hy_pool_for(problem->ctx->pool, HY_PACK, 0, touched->count, grain,
                       in_rows ? gather_rows : gather_tiles, &g);
}
