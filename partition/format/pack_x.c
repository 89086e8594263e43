/* partition/format/pack_x.c - copies the rows of X that a chunk touches into its pack. */
#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "partition/move/fill.h"
#include "partition/format/gather.h"
#include "partition/move/transpose.h"

enum { PACK_ELEMENTS = 1 << 16 }; /* elements that one worker copies at a time */

typedef struct gathering {
    const hy_job *job;
    const hy_touched *touched;
    size_t size; /* bytes of a value */
    char *dst;
} gathering;

/* Returns the end of the run of consecutive rows of X that begins with the touched row of
   index `begin`; at most `end`. */
static int64_t run_end(const hy_touched *t, int64_t begin, int64_t end)
{
    int64_t r = begin + 1;

    while (r < end && t->rows[r] == t->rows[r - 1] + 1)
        r++;
    return r;
}

/* Returns 1 if most rows of X between those of indices `begin` and end - 1 are touched,
   so that it pays to look for runs. */
static int is_dense(const hy_touched *t, int64_t begin, int64_t end)
{
    return t->rows[end - 1] - t->rows[begin] < 2 * (end - begin);
}

/* Copies touched rows of a row-major X. Runs of consecutive rows are copied with stores
   that bypass the caches, because slots of gathered chunks are larger than the caches. */
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

/* Returns where the pack stores touched rows from index `begin` on. */
static hy_grid grid_of(const gathering *g, int64_t begin)
{
    const hy_chunk *chunk    = g->job->chunk;
    const int64_t width      = chunk->col_end - chunk->col_begin;
    const hybrid_order order = hy_form_order(g->job->problem->image.form);
    const int by_cols        = order == HYBRID_COL_MAJOR;
    const int64_t row = by_cols ? 1 : width, col = by_cols ? g->touched->count : 1;

    return (hy_grid){g->dst + (size_t)(begin * row) * g->size, row, col};
}

/* Copies touched rows if X or the pack is column-major. */
static hybrid_status gather_tiles(void *arg, int part, int64_t begin, int64_t end)
{
    const gathering *g    = arg;
    const hy_chunk *chunk = g->job->chunk;
    const hybrid_dense *X = g->job->problem->X;
    const int64_t width   = chunk->col_end - chunk->col_begin;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const int64_t row = in_rows ? X->ld : 1, col = in_rows ? 1 : X->ld;
    const hy_grid from = {(char *)X->data + (size_t)(chunk->col_begin * col) * g->size,
                          row, col};
    const hy_grid to   = grid_of(g, begin);

    (void)part;
    hy_copy_listed(&to, &from, g->touched->rows + begin, end - begin, width, g->size);
    return HYBRID_OK;
}

/* Reads touched rows from a source if X is not in memory. */
static hybrid_status gather_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const gathering *g      = arg;
    const hy_chunk *chunk   = g->job->chunk;
    const hy_source *source = &g->job->problem->source;
    const hy_grid to        = grid_of(g, begin);

    (void)part;
    return hy_fill_listed(source->listed ? source->all : source, g->touched->rows + begin,
                          end - begin, chunk->col_begin,
                          chunk->col_end - chunk->col_begin, &to);
}

hybrid_status hy_pack_x(const hy_job *job, const hy_touched *touched, void *dst)
{
    const hy_problem *problem = job->problem;
    const int64_t width       = job->chunk->col_end - job->chunk->col_begin;
    const int64_t grain       = 1 + PACK_ELEMENTS / (1 + width);
    const int in_rows         = problem->X->order == HYBRID_ROW_MAJOR &&
                        hy_form_order(problem->image.form) == HYBRID_ROW_MAJOR;
    gathering g = {job, touched, hy_value_size(problem->X->type), dst};

    return hy_pool_for(problem->ctx->pool, HY_PACK, 0, touched->count, grain,
                       !hy_has_view(&problem->source) ? gather_pieces
                       : in_rows                      ? gather_rows
                                                      : gather_tiles,
                       &g);
}
