/* engine/run/match.h - checks that operands of a run are those that the plan was made
   for. Each function fails with BAD_STATE and a sentence. */
#ifndef HY_MATCH_H
#define HY_MATCH_H

#include "engine/plan/plan.h"

/* Compares types, shapes and numbers of entries. b_rows, b_cols and b_nnz describe B or
   X; for X, b_nnz is 0. */
hybrid_status hy_match_product(const hy_product *product, hy_op op, const hybrid_csr *A,
                               int64_t b_rows, int64_t b_cols, int64_t b_nnz);

/* Checks that A, B or X, and Y, unless it is NULL, are in the memory and on the device
   that the plan expects. */
hybrid_status hy_match_spaces(const hy_product *product, hybrid_space a,
                              hybrid_space second, const hybrid_dense *Y);

/* Compares hashes of the patterns, for a plan with HYBRID_REUSE. Each hash is computed
   where the operand is. */
hybrid_status hy_match_patterns(const hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_csr *B);

#endif /* HY_MATCH_H */
