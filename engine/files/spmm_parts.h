/* engine/files/spmm_parts.h - Y = alpha*A*X + beta*Y, part by part of A.

   A caller begins a product, checks the shape of Y, multiplies, and ends it. */
#ifndef HY_SPMM_PARTS_H
#define HY_SPMM_PARTS_H

#include "engine/files/spmm_room.h"

/* A function that receives rows of Y, in order. They are valid until it returns. */
typedef hybrid_status (*hy_take_dense_fn)(void *user, const hybrid_dense *rows);

/* State of one call of a public function that computes A*X part by part. */
typedef struct hy_spmm {
    hy_files call;
    hy_sparse A;
    hy_source X;        /* X as the products of parts read it */
    hy_source caller_x; /* X as the caller passed it */
    hybrid_dense whole; /* X if it was read from a file completely */
    hy_reused own;      /* memory of `whole` */
    hy_spmm_room room;
    double alpha, beta;
    const hybrid_dense *Y; /* Y itself or, if `take` is set, memory for the rows of Y that
                              are computed and given to `take` together */
    hy_take_dense_fn take; /* function that receives the rows of Y; NULL: Y receives all
                              rows */
    void *user;            /* first argument of `take` */
    int64_t y_row;         /* row of the result that is row 0 of *Y */
} hy_spmm;

/* Begins a call: finds the operands, and divides memory. The caller sets alpha, beta,
   take and user before. */
hybrid_status hy_spmm_begin(hy_spmm *u, hybrid_engine *engine, const hybrid_operand *A,
                            const hybrid_operand *X, const hybrid_plan_options *options);

/* Checks the shapes with those of Y, which has as many rows as A. Sets u->Y. */
hybrid_status hy_spmm_check(hy_spmm *u, const hybrid_dense *Y);

/* Checks an A in memory. */
hybrid_status hy_spmm_check_a(hy_spmm *u);

/* Plans the product of a part of A, or of all of A, as hy_spmm_multiply() does. Row 0 of
   this A is row `first` of the operand. The rows of Y that belong to it have the order and
   the columns of *u->Y. The caller destroys the plan. */
hybrid_status hy_spmm_plan(hy_spmm *u, const hybrid_csr *A, int64_t first,
                           hybrid_plan **out);

/* Computes the rows of Y from `first` on; `first` must be 0 if `take` is NULL. `take` may
   receive rows before `first` again, because parts of A begin with the same rows in every
   call. */
hybrid_status hy_spmm_multiply(hy_spmm *u, int64_t first);

/* Completes the report of the call. */
void hy_spmm_end(hy_spmm *u);

/* Frees an X that was read completely. */
void hy_spmm_release(hy_spmm *u);

#endif /* HY_SPMM_PARTS_H */
