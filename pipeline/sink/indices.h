/* pipeline/sink/indices.h - stores offsets and columns of a result in 32 or 64 bits. */
#ifndef HY_INDICES_H
#define HY_INDICES_H

#include "base/memory/results.h"

/* Stores `count` offsets, each increased by `more`, in the array `to`, from element `at`
   on. `type` is the type of the array. */
void hy_offsets_put(hybrid_index type, void *to, int64_t at, const int64_t *from,
                    int64_t count, int64_t more);

/* Stores `count` columns in the array `to`, from element `at` on, past the caches. `type`
   is the type of the array. */
void hy_columns_put(hybrid_index type, void *to, int64_t at, const int32_t *from,
                    int64_t count);

/* Converts the `count` numbers of the span to `type`, in new pages and in parallel: from
   32 bits to 64, or from 64 to 32. The numbers must fit the type. After a failure the
   span is as before. */
hybrid_status hy_indices_convert(hy_context *ctx, hy_span *span, int64_t count,
                                 hybrid_index type);

#endif /* HY_INDICES_H */
