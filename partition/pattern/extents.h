/* partition/pattern/extents.h - between which columns rows of A have their entries.

   Columns ascend in rows, so the first and the last entry of each row tell; but reading
   them costs a line of the caches each, which is nearly all of A where rows are short. So
   it is done once, and what is kept of blocks of rows answers for any range of rows; at
   its ends a few rows are looked at again. */
#ifndef HY_EXTENTS_H
#define HY_EXTENTS_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows touch columns [first, end); none: first is INT32_MAX, end 0. */
typedef struct hy_extent {
    int32_t first, end;
} hy_extent;

typedef struct hy_extents {
    const hybrid_csr *A;
    int64_t count;     /* of blocks */
    hy_extent *blocks; /* NULL: a row was too wide, and the rest is not known */
} hy_extents;

/* Of rows [begin, end), by looking at each; *widest is raised to the columns that one of
   them spans. */
hy_extent hy_extents_look(const hybrid_csr *A, int64_t begin, int64_t end,
                          int64_t *widest);

/* In parallel. What rows touch is given up if one of them spans more than `most` columns.
   To be freed, also after a failure. */
hybrid_status hy_extents_find(hy_context *ctx, const hybrid_csr *A, int64_t most,
                              hy_extents *out);
void hy_extents_free(hy_context *ctx, hy_extents *extents);

/* Of rows [begin, end). */
hy_extent hy_extents_of(const hy_extents *extents, int64_t begin, int64_t end);

#ifdef __cplusplus
}
#endif
#endif /* HY_EXTENTS_H */
