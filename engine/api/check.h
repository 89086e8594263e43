/* engine/api/check.h - arguments of public calls, checked before anything is done. */
#ifndef HY_CHECK_H
#define HY_CHECK_H

#include "base/contract/context.h"

/* Each fails with a sentence that names the argument. */

/* The options to plan with: the caller's, which may be NULL, over the defaults. Offsets and
   columns are types, or HYBRID_INDEX_AUTO. */
hybrid_status hy_read_plan_options(hy_context *ctx, const hybrid_plan_options *options,
                                   hybrid_plan_options *out);

/* What has passed hy_check_csr() or hy_check_dense() lies in host memory. Operands of
   hy_check_csr_anywhere(), hy_check_spgemm() and hy_check_spmm() may be a device's: whether
   they are where they say is for engine/device/spaces.h. Columns have either width: see
   engine/api/narrow.h. */
hybrid_status hy_check_csr_anywhere(hy_context *ctx, const hybrid_csr *A,
                                    const char *name);
hybrid_status hy_check_csr(hy_context *ctx, const hybrid_csr *A, const char *name);
hybrid_status hy_check_dense(hy_context *ctx, const hybrid_dense *X, const char *name);
/* The same as hy_check_csr(), and all rules of hybrid_csr. */
hybrid_status hy_check_rules(hy_context *ctx, const hybrid_csr *A, const char *name);
hybrid_status hy_check_spgemm(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B);
hybrid_status hy_check_spmm(hy_context *ctx, const hybrid_csr *A, const hybrid_dense *X,
                            const hybrid_dense *Y);
/* The same of operands that are checked for themselves, or are in files; Y is in host
   memory. */
hybrid_status hy_check_spgemm_shapes(hy_context *ctx, const hybrid_csr *A,
                                     const hybrid_csr *B);
hybrid_status hy_check_spmm_shapes(hy_context *ctx, const hybrid_csr *A,
                                   const hybrid_dense *X, const hybrid_dense *Y);

/* Columns of X, and with them the work that A makes. */
hybrid_status hy_check_dense_cols(hy_context *ctx, const hybrid_csr *A, int64_t cols);

/* Offsets of A and B, whose headers are checked, or with HYBRID_CHECK in `flags` all their
   rules; B NULL: of A. */
hybrid_status hy_check_patterns(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                unsigned flags);

#endif /* HY_CHECK_H */
