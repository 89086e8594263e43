/* engine/run/multiply.h - one run of a plan, which stays as it is. */
#ifndef HY_MULTIPLY_H
#define HY_MULTIPLY_H

#include "engine/plan/plan.h"
#include "engine/report/usage.h"

/* C = AB. Operands are checked: shapes, and that the patterns are those of the plan. The
   call began at `start`. What the run learned goes to `history`, its report also to the
   engine. */
hybrid_status hy_multiply_sparse(const hybrid_plan *plan, const hybrid_csr *A,
                                 const hybrid_csr *B, const hy_beginning *start,
                                 hy_history *history, hybrid_csr *C);

/* The same, but rows of C go in order to a sink that the caller opened, and that counts
   their entries at *nnz. */
hybrid_status hy_multiply_to(const hybrid_plan *plan, const hybrid_csr *A,
                             const hybrid_csr *B, const hy_beginning *start,
                             hy_history *history, hy_sink *sink, const int64_t *nnz);

/* Y = alpha*A*X + beta*Y, alpha not 0; the same. An X that is not in memory the host loads
   by panels of columns. */
hybrid_status hy_multiply_dense(const hybrid_plan *plan, double alpha,
                                const hybrid_csr *A, const hy_source *X, double beta,
                                const hy_beginning *start, hy_history *history,
                                hybrid_dense *Y);

#endif /* HY_MULTIPLY_H */
