/* tests/support/check/oracle.h - slow and obvious products, to compare with.

   The oracle shares no code with the library. Sums are long double, which is exact for
   integer values. The error bound of an entry that sums k scalar products is

     |c - reference| <= (k + 2) eps sum |a||b|

   and 0 if the values are integers. */
#ifndef ORACLE_H
#define ORACLE_H

#include "hybrid_spmm.h"

/* C = A*B and the numbers that its error bounds need. */
typedef struct oracle {
    int64_t rows, cols, nnz;
    int64_t room; /* capacity of the arrays below, in entries */
    int64_t *row_ptr;
    int32_t *col;
    long double *sum;       /* value of each entry */
    long double *magnitude; /* sum |a||b| of each entry */
    int64_t *terms;         /* number k of scalar products of each entry */
} oracle;

/* Computes A*B in memory from malloc(). A failed allocation aborts the program. */
void oracle_spgemm(const hybrid_csr *A, const hybrid_csr *B, oracle *out);
void oracle_free(oracle *o);

/* Returns NULL if C is right, else a sentence that names the first wrong entry, valid
   until the thread's next check. `exact`: values must be equal. */
const char *oracle_check(const oracle *o, const hybrid_csr *C, int exact);

/* Works as oracle_check() for Y = alpha*A*X + beta*before. */
const char *oracle_check_spmm(double alpha, const hybrid_csr *A, const hybrid_dense *X,
                              double beta, const hybrid_dense *before,
                              const hybrid_dense *Y, int exact);

/* Works as oracle_check_spmm() for f32 under HYBRID_ALLOW_TF32. Rounding to the 11 bits
   of TF32 changes an operand by at most 2^-11 of its value, and a scalar product by 2^-10
   + 2^-22. Tensor cores round towards zero and add with half of f32's precision. With u =
   2^-11 the bound is

       |y - reference| <= (2 u + u^2 + 2 (k + 2) eps) sum |a||b|

   Whole numbers up to 2^11 are not rounded and thus exact. */
const char *oracle_check_spmm_tf32(double alpha, const hybrid_csr *A,
                                   const hybrid_dense *X, double beta,
                                   const hybrid_dense *before, const hybrid_dense *Y,
                                   int exact);

#endif /* ORACLE_H */
