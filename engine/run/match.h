/* engine/run/match.h - checks that operands of a run are those that the plan was made
   for. Each function fails with BAD_STATE and a sentence. */
#ifndef HY_MATCH_H
#define HY_MATCH_H

#include "engine/plan/plan.h"

/* Compares types, shapes and numbers of entries. b_rows, b_cols and b_nnz describe B or
   X; for X, b_nnz is 0. */
hybrid_status hy_match_product(const hy_product *product, hy_op op, const hybrid_csr *A,
                               int64_t b_rows, int64_t b_cols, int64_t b_nnz);

/* Checks that A, B or X, and Y are in the memory, and on the device, that the plan
   expects. A NULL Y is not checked. */
hybrid_status hy_match_spaces(const hy_product *product, hybrid_space a,
                              hybrid_space second, const hybrid_dense *Y);

/* For a plan with HYBRID_REUSE: compares hashes of the patterns with the plan's. A hash
   is computed in the memory that the operand is in. */
hybrid_status hy_match_patterns(const hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_csr *B);

/* Checks that the rows of B which each chunk touches, and the piece that brings the last of
   them, fit the ring of entries, if B passes through one. */
hybrid_status hy_match_ring(const hybrid_plan *plan, const hybrid_csr *B);

#endif /* HY_MATCH_H */
