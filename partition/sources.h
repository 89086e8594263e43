/* partition/sources.h - the kinds of sources (base/source.h). */
#ifndef HY_SOURCES_H
#define HY_SOURCES_H

#include "base/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The matrix, and the list of rows, live as long as the source. */
hy_source hy_source_csr(const hy_context *ctx, const hybrid_csr *B);
hy_source hy_source_dense(const hy_context *ctx, const hybrid_dense *X);
hy_source hy_source_subset(const hy_context *ctx, const hybrid_dense *X,
                           const int32_t *listed, int64_t rows);

/* Of an X in rows, and in columns. */
extern const hy_source_ops hy_source_rows, hy_source_columns;

/* source_rows.c: `run` of both. */
const char *hy_dense_run(const hy_source *self, hybrid_order order, int array,
                         int64_t begin, int64_t end);

#ifdef __cplusplus
}
#endif
#endif /* HY_SOURCES_H */
