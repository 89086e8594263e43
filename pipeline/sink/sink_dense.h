/* pipeline/sink/sink_dense.h - stores a dense result, Y = alpha * sums + beta * Y.

   Parts and Y may have different orders. Lines of a part are copied to lines of Y, or
   transposed tile by tile (partition/move/storing.h). If Y is pinned, alpha is 1 and beta
   is 0, a device copies to Y directly.

   With the reduced A, parts have a subset of Y's rows. Workers store these rows at their
   places, and the sink fills the other rows itself. */
#ifndef HY_SINK_DENSE_H
#define HY_SINK_DENSE_H

#include "base/contract/sink.h"
#include "partition/move/storing.h"

typedef struct hy_dense_sink {
    hy_sink sink; /* must be first: the sink's functions cast it to this struct */
    hy_update update;
    const hy_touched *subset; /* with the reduced A: the rows of Y that parts have; NULL:
                                 all rows */
    int64_t left;             /* number of elements of Y that are not reserved yet */
    hy_empty_rows others;     /* other rows of Y, which the sink fills itself */
    int others_begun;         /* 1 from the start of the loop that fills the other rows
                                 until its end has been awaited */
} hy_dense_sink;

/* Opens a sink for all rows of Y. */
void hy_dense_sink_open(hy_context *ctx, const hy_update *update, hy_dense_sink *out);

/* Opens a sink in which row i of all parts is row subset->rows[i] of Y (borrowed). *out
   must not move until it is finished or aborted. */
void hy_subset_sink_open(hy_context *ctx, const hy_update *update,
                         const hy_touched *subset, hy_dense_sink *out);

/* ---- shared by both: sink_dense.c ---- */

/* Returns a dense sink with the functions `ops` for a result of `rows` rows. */
hy_dense_sink hy_dense_sink_of(hy_context *ctx, const hy_sink_ops *ops,
                               const hy_update *update, int64_t rows);
hybrid_status hy_dense_reserve(hy_sink *sink, hy_part *part);
hybrid_status hy_dense_finish(hy_sink *sink);

#endif /* HY_SINK_DENSE_H */
