/* engine/api/check.h - checks arguments of public calls before anything is done.

   Each function fails with a sentence that names the argument. */
#ifndef HY_CHECK_H
#define HY_CHECK_H

#include "base/contract/context.h"

/* Writes the caller's options (NULL: the defaults) to *out and checks them.
   HYBRID_INDEX_DEFAULT is replaced by a type; HYBRID_INDEX_AUTO stays. */
hybrid_status hy_read_plan_options(hy_context *ctx, const hybrid_plan_options *options,
                                   hybrid_plan_options *out);

/* Returns BAD_ARGUMENT, with a sentence, unless `value` is in [least, most]. `name` is
   the field's name in the sentence. With INT64_MAX, `most` is not mentioned. */
hybrid_status hy_check_range(hy_context *ctx, const char *name, int64_t value,
                             int64_t least, int64_t most);

/* Check a matrix with 32-bit or 64-bit columns. hy_check_csr() and hy_check_dense()
   accept host memory only. The other functions also accept operands in device memory;
   engine/device/spaces.h checks that these are where `space` says. */
hybrid_status hy_check_csr_anywhere(hy_context *ctx, const hybrid_csr *A,
                                    const char *name);
hybrid_status hy_check_csr(hy_context *ctx, const hybrid_csr *A, const char *name);
hybrid_status hy_check_dense(hy_context *ctx, const hybrid_dense *X, const char *name);
/* hy_check_rules() also checks all rules of hybrid_csr. hy_check_spgemm() and
   hy_check_spmm() check all operands of a product and their shapes. */
hybrid_status hy_check_rules(hy_context *ctx, const hybrid_csr *A, const char *name);
hybrid_status hy_check_spgemm(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B);
hybrid_status hy_check_spmm(hy_context *ctx, const hybrid_csr *A, const hybrid_dense *X,
                            const hybrid_dense *Y);
/* Check whether the shapes fit together. The operands must be checked, or be in files. Y
   must be in host memory. */
hybrid_status hy_check_spgemm_shapes(hy_context *ctx, const hybrid_csr *A,
                                     const hybrid_csr *B);
hybrid_status hy_check_spmm_shapes(hy_context *ctx, const hybrid_csr *A,
                                   const hybrid_dense *X, const hybrid_dense *Y);

/* Returns BAD_ARGUMENT, with a sentence, if `cols` is negative, or so large that sizes or
   the number of scalar products of A*X overflow. */
hybrid_status hy_check_dense_cols(hy_context *ctx, const hybrid_csr *A, int64_t cols);

/* Checks the patterns of A and B (NULL: of A alone): all rules with HYBRID_CHECK in
   `flags`, else the offsets. Headers must be checked. */
hybrid_status hy_check_patterns(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                unsigned flags);

#endif /* HY_CHECK_H */
