/* tests/support/subjects/csr_samples.h - matrices for tests of functions on CSR. They use
   the context `ctx` (group.h). */
#ifndef CSR_SAMPLES_H
#define CSR_SAMPLES_H

#include "hybrid_spmm.h"

/* Checks that hy_csr_check() of A returns this status, with this sentence. */
void sample_check(const hybrid_csr *A, hybrid_status status, const char *sentence);

/* Returns the matrix

       . 1 2
       . . .
       3 . 4
       5 6 7

   whose arrays are sample_ptr, sample_col and sample_val. */
hybrid_csr sample_small(void);
extern int32_t sample_ptr[5], sample_col[7];
extern double sample_val[7];

/* Returns a number that depends on all bits of x. */
uint64_t sample_mix(uint64_t x);

/* Makes a matrix with up to `most` entries per row, each a random distance after the
   previous one. Every 5th row is empty. The value of an entry is its number. */
hybrid_csr sample_random(int64_t rows, int64_t cols, int64_t most, hybrid_type type);

/* Checks that A and B have the same shape, entries and bits of values. */
void csr_same(const hybrid_csr *A, const hybrid_csr *B);

#endif /* CSR_SAMPLES_H */
