/* engine/check.h - arguments of public calls, checked before anything is done. */
#ifndef HY_CHECK_H
#define HY_CHECK_H

#include "base/context.h"

/* Each fails with a sentence that names the argument. */
hybrid_status hy_check_plan_options(hy_context *ctx, const hybrid_plan_options *options);
hybrid_status hy_check_spgemm(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B);
hybrid_status hy_check_dense(hy_context *ctx, const hybrid_dense *X, const char *name);
hybrid_status hy_check_spmm(hy_context *ctx, const hybrid_csr *A, const hybrid_dense *X,
                            const hybrid_dense *Y);
/* The same of an X that is in a file, checked when it was opened. */
hybrid_status hy_check_spmm_file(hy_context *ctx, const hybrid_csr *A,
                                 const hybrid_dense *X, const hybrid_dense *Y);

/* Offsets of A and B, whose headers are checked, or with HYBRID_CHECK in `flags` all their
   rules; B NULL: of A. */
hybrid_status hy_check_patterns(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                unsigned flags);

#endif /* HY_CHECK_H */
