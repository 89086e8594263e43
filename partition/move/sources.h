/* partition/move/sources.h - constructors of the kinds of sources
   (base/contract/source.h). */
#ifndef HY_SOURCES_H
#define HY_SOURCES_H

#include "base/contract/source.h"
#include "partition/move/matrix_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Return sources. The matrix A or X, the file, or the source `all` and the list from
   which a source is made must live as long as the source. */
hy_source hy_source_csr(hy_context *ctx, const hybrid_csr *A);
hy_source hy_source_dense(hy_context *ctx, const hybrid_dense *X);
hy_source hy_source_subset(const hy_source *all, const int32_t *listed, int64_t rows);
hy_source hy_source_file(const hy_matrix_file *X);
hy_source hy_source_csr_file(const hy_matrix_file *A);

#ifdef __cplusplus
}
#endif
#endif /* HY_SOURCES_H */
