/* tests/support/check/oracle.h - products computed slowly and obviously, to test against.

   Shares no code with the library. Sums are long double, which holds integer-valued
   data exactly. The bound for an entry that sums k products is

       |c - reference| <= (k + 2) eps sum |a||b|

   and 0 where the data are integers. */
#ifndef ORACLE_H
#define ORACLE_H

#include "hybrid_spmm.h"

/* C = A*B with all that a check needs. */
typedef struct oracle {
    int64_t rows, cols, nnz;
    int64_t room; /* entries that the arrays below hold */
    int64_t *row_ptr;
    int32_t *col;
    long double *sum;       /* the entry */
    long double *magnitude; /* sum |a||b| */
    int64_t *terms;         /* k */
} oracle;

/* malloc's memory; running out of it aborts the test. */
void oracle_spgemm(const hybrid_csr *A, const hybrid_csr *B, oracle *out);
void oracle_free(oracle *o);

/* NULL if C is right, else a sentence that names the first entry that is not; valid
   until the thread's next check. `exact`: bit for bit. */
const char *oracle_check(const oracle *o, const hybrid_csr *C, int exact);

/* The same for Y = alpha*A*X + beta*before, element by element. */
const char *oracle_check_spmm(double alpha, const hybrid_csr *A, const hybrid_dense *X,
                              double beta, const hybrid_dense *before,
                              const hybrid_dense *Y, int exact);

/* The same for f32 under HYBRID_ALLOW_TF32. Rounding an operand to the 11 bits of TF32 is
   off by 2^-11 of it at most, and so a product by 2^-10 + 2^-22: with u = 2^-11

       |y - reference| <= (2 u + u^2 + 2 (k + 2) eps) sum |a||b|

   where tensor cores, which round towards zero, add with half of f32's precision. Whole
   numbers up to 2^11 are not rounded, and exact as before. */
const char *oracle_check_spmm_tf32(double alpha, const hybrid_csr *A,
                                   const hybrid_dense *X, double beta,
                                   const hybrid_dense *before, const hybrid_dense *Y,
                                   int exact);

#endif /* ORACLE_H */
