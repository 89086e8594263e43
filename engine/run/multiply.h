/* engine/run/multiply.h - one run of a plan. The plan is not modified. */
#ifndef HY_MULTIPLY_H
#define HY_MULTIPLY_H

#include "engine/plan/plan.h"
#include "engine/report/usage.h"

/* Computes C = AB, after checking shapes and, with HYBRID_REUSE, patterns. `start` says
   when the call began. `history` receives the report and what later runs can use; the
   engine receives the report, too. */
hybrid_status hy_multiply_sparse(const hybrid_plan *plan, const hybrid_csr *A,
                                 const hybrid_csr *B, const hy_beginning *start,
                                 hy_history *history, hybrid_csr *C);

/* Does what hy_multiply_sparse() does, but rows of C go in order to a sink that the
   caller has opened. */
hybrid_status hy_multiply_to(const hybrid_plan *plan, const hybrid_csr *A,
                             const hybrid_csr *B, const hy_beginning *start,
                             hy_history *history, hy_sink *sink);

/* Computes Y = alpha*A*X + beta*Y, as `update` says, for an alpha that is not 0. If X is
   not in memory and the host computes, X is read in blocks of rows. */
hybrid_status hy_multiply_dense(const hybrid_plan *plan, const hybrid_csr *A,
                                const hy_source *X, const hy_update *update,
                                const hy_beginning *start, hy_history *history);

#endif /* HY_MULTIPLY_H */
