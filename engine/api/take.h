/* engine/api/take.h - operands of a call are found, checked and taken. */
#ifndef HY_TAKE_H
#define HY_TAKE_H

#include "engine/api/engine.h"

/* Called when all operands were found. Progress of the call, which has `rows` rows, is told
   from here on. If operands are on a device, the caller's stream is waited for first. */
hybrid_status hy_begin_rows(hybrid_engine *engine, int64_t rows);

/* Find out where the operands are. hy_find_sparse() also checks A and B, and writes the
   options to plan with to *o. */
hybrid_status hy_find_sparse(hybrid_engine *engine, const hybrid_plan_options *options,
                             const hybrid_csr *A, const hybrid_csr *B,
                             hybrid_plan_options *o);
hybrid_status hy_find_dense(hybrid_engine *engine, const hybrid_csr *A,
                            const hybrid_dense *X, const hybrid_dense *Y);

/* *A and *B become the operands that are computed with: their patterns are in host memory and
   checked, and columns have 32 bits. */
hybrid_status hy_take_sparse(hybrid_engine *engine, unsigned flags, const hybrid_csr **A,
                             const hybrid_csr **B);

#endif /* HY_TAKE_H */
