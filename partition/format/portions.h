/* partition/format/portions.h - what each thread of spmm.cuda.tiled adds up, and in which
   order.

   A portion is a row of A or a segment of a long one. Their order decides which of them
   share a panel, and with it how often a staged row of X is used. */
#ifndef HY_PORTIONS_H
#define HY_PORTIONS_H

#include "base/contract/variant.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hy_touched;

enum { HY_TILED_ROWS = 256 }; /* portions of a panel */

/* A row in segments: partials `partial` to partial + parts - 1, to be added. */
typedef struct hy_tiled_split {
    int32_t row, partial, parts;
} hy_tiled_split;

typedef struct hy_tiled_portion {
    int32_t begin, end; /* entries, from the chunk's first */
    int32_t out;        /* row of the chunk, or -1 - partial */
} hy_tiled_portion;

typedef struct hy_tiled_portions {
    int64_t count, splits, partials;
    hy_tiled_portion *list;
    hy_tiled_split *split;
} hy_tiled_portions;

/* The chunk's rows, cut into segments of at most so many entries. To be freed, also after
   a failure. */
hybrid_status hy_portions_make(const hy_job *job, int64_t segment, hy_tiled_portions *out);
void hy_portions_free(hy_context *ctx, hy_tiled_portions *portions);

/* Least column and the one after the greatest; `col` is of the chunk's entries. 0 and 0 if
   there are none. */
void hy_portions_range(const hy_tiled_portions *portions, const int32_t *col, int64_t *first,
                       int64_t *end);

/* Sort them by their columns if that promises less traffic of X and Y; *sorted says
   whether. Columns are renumbered by `touched` if it has rows. */
hybrid_status hy_portions_order(const hy_job *job, const struct hy_touched *touched,
                                hy_tiled_portions *portions, int *sorted);

#ifdef __cplusplus
}
#endif
#endif /* HY_PORTIONS_H */
