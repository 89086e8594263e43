/* engine/api/prepare.h - finds, checks and prepares the operands of a call. */
#ifndef HY_PREPARE_H
#define HY_PREPARE_H

#include "engine/api/engine.h"

/* Begins to report progress of a call whose result has `rows` rows. If an operand is in
   device memory, first waits for the caller's stream; hy_find_sparse() or
   hy_find_dense() must have been called. */
hybrid_status hy_begin_rows(hybrid_engine *engine, int64_t rows);

/* Find out whether the operands of a call are in host or device memory. hy_find_sparse()
   also checks A and B, writes the caller's options, checked and completed, to *o, and
   calls hy_begin_rows(). */
hybrid_status hy_find_sparse(hybrid_engine *engine, const hybrid_plan_options *options,
                             const hybrid_csr *A, const hybrid_csr *B,
                             hybrid_plan_options *o);
hybrid_status hy_find_dense(hybrid_engine *engine, const hybrid_csr *A,
                            const hybrid_dense *X, const hybrid_dense *Y);

/* Replaces *A and *B by the matrices to compute with, after checking their patterns:
   views of operands in device memory, and copies with 32-bit columns of those with
   64-bit columns. B is NULL for a product with a dense matrix. */
hybrid_status hy_prepare(hybrid_engine *engine, unsigned flags, const hybrid_csr **A,
                         const hybrid_csr **B);

#endif /* HY_PREPARE_H */
