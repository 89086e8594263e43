/* partition/format/pack_x.c - copies the rows of X that a chunk touches into its pack. */
#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "partition/format/gather.h"

enum { PACK_ELEMENTS = 1 << 16 }; /* elements that one worker copies at a time */

typedef struct gathering {
    const hy_job *job;
    const hy_touched *touched;
    size_t size; /* bytes of a value */
    char *dst;
} gathering;

/* Returns the place in the pack for the touched row with index `begin` and the rows after
   it, as address and strides. */
static hy_grid grid_of(const gathering *g, int64_t begin)
{
    const hy_chunk *chunk    = g->job->chunk;
    const int64_t width      = chunk->col_end - chunk->col_begin;
    const hybrid_order order = hy_form_order(g->job->problem->image.form);
    const int by_cols        = order == HYBRID_COL_MAJOR;
    const int64_t row = by_cols ? 1 : width, col = by_cols ? g->touched->count : 1;

    return (hy_grid){g->dst + (size_t)(begin * row) * g->size, row, col};
}

static hybrid_status gather(void *arg, int part, int64_t begin, int64_t end)
{
    const gathering *g      = arg;
    const hy_chunk *chunk   = g->job->chunk;
    const hy_source *source = &g->job->problem->source;
    const hy_grid to        = grid_of(g, begin);

    (void)part;
    return source->ops->gather(source, g->touched->rows + begin, end - begin,
                               chunk->col_begin, chunk->col_end - chunk->col_begin, &to);
}

hybrid_status hy_pack_x(const hy_job *job, const hy_touched *touched, void *dst)
{
    const hy_problem *problem = job->problem;
    const int64_t width       = job->chunk->col_end - job->chunk->col_begin;
    const int64_t grain       = 1 + PACK_ELEMENTS / (1 + width);
    gathering g               = {job, touched, hy_value_size(problem->X->type), dst};

    return hy_pool_for(problem->ctx->pool, HY_PACK, 0, touched->count, grain, gather, &g);
}
