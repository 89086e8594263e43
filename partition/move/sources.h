/* partition/move/sources.h - the kinds of sources (base/contract/source.h). */
#ifndef HY_SOURCES_H
#define HY_SOURCES_H

#include "base/contract/source.h"
#include "base/data/stored.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X in a file: element k, as its shape has it, is number k. */
typedef struct hy_dense_file {
    hybrid_dense shape; /* first; its data are NULL */
    hy_stored values;
} hy_dense_file;

/* The matrix, the source of all rows, and the list of some, live as long as the source. */
hy_source hy_source_csr(hy_context *ctx, const hybrid_csr *B);
hy_source hy_source_dense(hy_context *ctx, const hybrid_dense *X);
hy_source hy_source_subset(const hy_source *all, const int32_t *listed, int64_t rows);

hy_source hy_source_file(const hy_dense_file *X);

/* Of an X in rows, and in columns. */
extern const hy_source_ops hy_source_rows, hy_source_columns;

/* source_subset.c: `run` where no copy engine finds anything. */
const char *hy_no_run(const hy_source *self, hybrid_order order, int array, int64_t begin,
                      int64_t end);

/* source_rows.c: `run` of both. */
const char *hy_dense_run(const hy_source *self, hybrid_order order, int array,
                         int64_t begin, int64_t end);

#ifdef __cplusplus
}
#endif
#endif /* HY_SOURCES_H */
