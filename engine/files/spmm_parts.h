/* engine/files/spmm_parts.h - Y = alpha*A*X + beta*Y, part by part of A.

   A caller begins a product, checks the shape of Y, multiplies, and ends it. */
#ifndef HY_SPMM_PARTS_H
#define HY_SPMM_PARTS_H

#include "engine/files/files.h"
#include "partition/parts/x_block.h"

/* A function that receives rows of Y, in order. They are valid until it returns. */
typedef hybrid_status (*hy_take_dense_fn)(void *user, const hybrid_dense *rows);

/* State of one call of a public function that computes A*X part by part. */
typedef struct hy_spmm {
    hy_files call;
    hy_sparse A;
    hy_source X;        /* X as the products of parts read it */
    hy_source caller_x; /* X as the caller passed it */
    hy_x_block whole;   /* X if it was read from a file completely */
    double alpha, beta;
    const hybrid_dense *Y; /* Y itself or, if `take` is set, memory for the rows of Y that
                              are computed and given to `take` together */
    hy_take_dense_fn take; /* function that receives the rows of Y; NULL: Y receives all
                              rows */
    void *user;            /* first argument of `take` */
    int64_t y_row;         /* row of the result that is row 0 of *Y */
} hy_spmm;

/* Begins a call: finds the operands. The caller sets alpha, beta, take and user before.
 */
hybrid_status hy_spmm_begin(hy_spmm *u, hybrid_engine *engine, const hybrid_operand *A,
                            const hybrid_operand *X, const hybrid_plan_options *options);

/* Checks the shapes with those of Y, which has as many rows as A. Sets u->Y. */
hybrid_status hy_spmm_check(hy_spmm *u, const hybrid_dense *Y);

/* Reads an A in a file completely if it has at most hy_files_whole() bytes, and checks an
   A in memory. */
hybrid_status hy_spmm_read_small(hy_spmm *u);

/* Computes the rows of Y from `first` on; `first` must be 0 if `take` is NULL. */
hybrid_status hy_spmm_multiply(hy_spmm *u, int64_t first);

/* Completes the report of the call. */
void hy_spmm_end(hy_spmm *u);

/* Frees operands that were read completely. */
void hy_spmm_release(hy_spmm *u);

#endif /* HY_SPMM_PARTS_H */
