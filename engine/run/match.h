/* engine/run/match.h - whether operands of a run are those that the plan was made for.
   Each fails with BAD_STATE and a sentence. */
#ifndef HY_MATCH_H
#define HY_MATCH_H

#include "engine/plan/plan.h"

/* By type, shapes and entries; those of B or X, of which X has none. */
hybrid_status hy_match_product(const hy_product *product, hy_op op, const hybrid_csr *A,
                               int64_t b_rows, int64_t b_cols, int64_t b_nnz);

/* A, B or X, and Y, unless NULL, are where the plan expects them, on the same device. */
hybrid_status hy_match_places(const hy_product *product, hybrid_space a,
                              hybrid_space second, const hybrid_dense *Y);

/* By a hash of patterns, for a plan with HYBRID_REUSE; each where it is. */
hybrid_status hy_match_patterns(const hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_csr *B);

#endif /* HY_MATCH_H */
