/* engine/api/check.h - checks arguments of public calls before anything is done.

   Each function fails with a sentence that names the argument. */
#ifndef HY_CHECK_H
#define HY_CHECK_H

#include "base/contract/context.h"

/* Writes the caller's options (NULL: the defaults) to *out and checks them.
   HYBRID_INDEX_DEFAULT is replaced by a type; HYBRID_INDEX_AUTO stays. */
hybrid_status hy_read_plan_options(hy_context *ctx, const hybrid_plan_options *options,
                                   hybrid_plan_options *out);

/* Checks the options of a new engine, except for its paths. */
hybrid_status hy_check_engine_options(hy_context *ctx, const hybrid_engine_options *o);

/* Returns BAD_ARGUMENT, with a sentence, unless `value` is in [least, most]. `name` is
   the field's name in the sentence. If `most` is INT64_MAX, the sentence names the lower
   bound only. */
hybrid_status hy_check_range(hy_context *ctx, const char *name, int64_t value,
                             int64_t least, int64_t most);

/* Check the struct of a matrix, and that its arrays are aligned and not NULL; columns may
   have 32 or 64 bits. hy_check_csr() and hy_check_dense() accept host memory only. The
   other functions also accept operands in device memory; engine/device/spaces.h checks
   that an operand is in the memory that its `space` names. */
hybrid_status hy_check_csr_anywhere(hy_context *ctx, const hybrid_csr *A,
                                    const char *name);
hybrid_status hy_check_csr(hy_context *ctx, const hybrid_csr *A, const char *name);
hybrid_status hy_check_dense(hy_context *ctx, const hybrid_dense *X, const char *name);
/* hy_check_rules() works as hy_check_csr() and also checks the arrays by all rules of
   hybrid_csr. hy_check_spgemm() and hy_check_spmm() check all operands of a product and
   their shapes. */
hybrid_status hy_check_rules(hy_context *ctx, const hybrid_csr *A, const char *name);
hybrid_status hy_check_spgemm(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B);
hybrid_status hy_check_spmm(hy_context *ctx, const hybrid_csr *A, const hybrid_dense *X,
                            const hybrid_dense *Y);
/* Check whether types and shapes of a product fit together. A, B and X must be checked
   before, or be in files. Y, which must be in host memory, is checked here. */
hybrid_status hy_check_spgemm_shapes(hy_context *ctx, const hybrid_csr *A,
                                     const hybrid_csr *B);
hybrid_status hy_check_spmm_shapes(hy_context *ctx, const hybrid_csr *A,
                                   const hybrid_dense *X, const hybrid_dense *Y);

/* Returns BAD_ARGUMENT, with a sentence, if `cols` is negative, or so large that sizes or
   the number of scalar products of A*X overflow. */
hybrid_status hy_check_dense_cols(hy_context *ctx, const hybrid_csr *A, int64_t cols);

/* Checks the patterns of A and B (NULL: of A alone): all rules of hybrid_csr if `flags`
   has HYBRID_CHECK, else only the offsets. The structs must be checked before. */
hybrid_status hy_check_patterns(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                unsigned flags);

#endif /* HY_CHECK_H */
