/* engine/take.h - operands of a call are found, checked and taken. */
#ifndef HY_TAKE_H
#define HY_TAKE_H

#include "engine/engine.h"

/* All operands were found: progress of so many rows is told from here on, first of the wait
   for the caller's stream if operands are on a device. */
hybrid_status hy_begin_rows(hybrid_engine *engine, int64_t rows);

/* Where A, B or A, X and Y are. Of a SpGEMM also the options to plan with, in *o. */
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
