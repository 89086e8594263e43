/* partition/format/portions.h - the portions that threads of spmm.cuda.tiled sum up, and
   their order.

   A portion is a row of A or a segment of a long row. The order decides which portions
   share a panel, and therefore how often a staged row of X is used. */
#ifndef HY_PORTIONS_H
#define HY_PORTIONS_H

#include "base/contract/variant.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hy_touched;

enum { HY_TILED_ROWS = 256 }; /* portions of a panel */

/* A row in segments: the sums of its segments, partials `partial` to partial + parts - 1,
   are added. */
typedef struct hy_tiled_split {
    int32_t row, partial, parts;
} hy_tiled_split;

typedef struct hy_tiled_portion {
    int32_t begin, end; /* range of entries, counted from the chunk's first */
    int32_t out;        /* where the sums of the portion are stored: row of the chunk, or
                           partial p as -1 - p */
} hy_tiled_portion;

typedef struct hy_tiled_portions {
    int64_t count, splits, partials;
    hy_tiled_portion *list;
    hy_tiled_split *split;
} hy_tiled_portions;

/* Cuts the chunk's rows into segments of at most `segment` entries. The caller frees
   `out`, also after a failure. */
hybrid_status hy_portions_make(const hy_job *job, int64_t segment,
                               hy_tiled_portions *out);
void hy_portions_free(hy_context *ctx, hy_tiled_portions *portions);

/* Finds the range [*first, *end) of columns of the portions; [0, 0) if there are no
   entries. `col` holds the columns of the chunk's entries. */
void hy_portions_range(const hy_tiled_portions *portions, const int32_t *col,
                       int64_t *first, int64_t *end);

/* Sorts the portions by their columns if the sort is predicted to reduce the traffic of X
   and Y. Sets *sorted to 1 if it has sorted them, else to 0. If touched->rows is set,
   `touched` gives the new numbers of columns. */
hybrid_status hy_portions_order(const hy_job *job, const struct hy_touched *touched,
                                hy_tiled_portions *portions, int *sorted);

#ifdef __cplusplus
}
#endif
#endif /* HY_PORTIONS_H */
