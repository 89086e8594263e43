/* pipeline/sink/sink_dense.h - a dense result, Y = alpha * sums + beta * Y.

   Y has rows or columns without regard to how parts lie: lines of a part are copied to lines
   of Y, or transposed tile by tile on their way (partition/move/storing.h). Where Y is pinned
   and nothing is to be added or scaled, a device copies to Y itself.

   Of a matrix without its empty rows, parts have a subset of the rows of Y. Workers store
   these where they belong, and the sink makes the other rows itself. */
#ifndef HY_SINK_DENSE_H
#define HY_SINK_DENSE_H

#include "base/contract/sink.h"
#include "partition/move/storing.h"

typedef struct hy_dense_sink {
    hy_sink sink; /* first */
    hy_update update;
    const hy_touched *subset; /* rows of Y that parts have; NULL: all */
    int64_t left;             /* elements that nobody reserved */
    hy_empty_rows others;     /* rows of Y that are not in the subset, */
    int others_begun;         /* and their loop has not ended */
} hy_dense_sink;

/* All rows of Y. */
void hy_dense_sink_open(hy_context *ctx, const hy_update *update, hy_dense_sink *out);

/* Row i of a part's is row subset->rows[i] of Y (borrowed). *out stays where it is until
   it is finished or aborted. */
void hy_subset_sink_open(hy_context *ctx, const hy_update *update,
                         const hy_touched *subset, hy_dense_sink *out);

/* ---- what both have: sink_dense.c ---- */

/* A sink of so many rows. */
hy_dense_sink hy_dense_sink_of(hy_context *ctx, const hy_sink_ops *ops,
                               const hy_update *update, int64_t rows);
hybrid_status hy_dense_reserve(hy_sink *sink, hy_part *part);
hybrid_status hy_dense_finish(hy_sink *sink);

#endif /* HY_SINK_DENSE_H */
