/* pipeline/sink/indices.h - offsets and columns of a result, of 32 or 64 bits. */
#ifndef HY_INDICES_H
#define HY_INDICES_H

#include "base/memory/results.h"

/* `count` offsets, each `more` than in `from`, to the array `to` of that type from its element
   `at` on. */
void hy_offsets_put(hybrid_index type, void *to, int64_t at, const int64_t *from,
                    int64_t count, int64_t more);

/* The same of columns, past the caches. */
void hy_columns_put(hybrid_index type, void *to, int64_t at, const int32_t *from,
                    int64_t count);

/* The `count` numbers of the span become numbers of that type, in pages of their own, by all
   workers. They had the other type, and fit. On failure they are as they were. */
hybrid_status hy_indices_convert(hy_context *ctx, hy_span *span, int64_t count,
                                 hybrid_index type);

#endif /* HY_INDICES_H */
