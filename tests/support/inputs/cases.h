/* tests/support/inputs/cases.h - small named matrices, each with a right operand.

   Integer values are small and never zero, so that all sums are exact in f32. Memory
   comes from malloc(); a failed allocation aborts the program. */
#ifndef CASES_H
#define CASES_H

#include "hybrid_spmm.h"

typedef struct test_case {
    const char *name; /* name of the case, a static string */
    hybrid_csr A, B;  /* operands of A*B: A.cols == B.rows */
} test_case;

/* Value type and offset type of a case, and whether its values are whole numbers. */
typedef struct test_kind {
    hybrid_type type;
    hybrid_index offsets;
    int integers;
} test_kind;

/* Returns the step from one combination that a test takes to the next: `step`, or 1 if
   HYBRID_ALL_CASES is 1 in the environment, as in scripts/test --long. A test that takes
   every second combination begins with another one for the next case, so that all cases
   and all values of each parameter are tested. */
int case_step(int step);

int case_count(void);
const char *case_name(int i);
void case_make(int i, test_kind kind, test_case *out);
void case_free(test_case *c);

/* Makes the case of this name. Aborts if there is none. */
void case_named(const char *name, test_kind kind, test_case *out);

/* Makes a rows x cols matrix with about `per_row` entries per row. matrix_free() frees
   it. */
void matrix_random(int64_t rows, int64_t cols, double per_row, unsigned seed,
                   test_kind kind, hybrid_csr *out);
void matrix_free(hybrid_csr *matrix);

/* Returns A with its column indices converted to a new 64-bit array, which the caller
   frees with free(). The other arrays are A's. */
hybrid_csr matrix_widen(const hybrid_csr *A);

/* dense_make() makes a rows x cols matrix. `gap` unused elements follow each row
   (row-major) or column (column-major). They hold a number; dense_gaps_intact() returns
   1 if all still do. */
void dense_make(int64_t rows, int64_t cols, int64_t gap, hybrid_order order,
                unsigned seed, test_kind kind, hybrid_dense *out);
void dense_copy(const hybrid_dense *from, hybrid_dense *out);
void dense_free(hybrid_dense *matrix);
int dense_gaps_intact(const hybrid_dense *matrix);

/* Makes a copy of `from` with that order and gap (unused elements after each line). */
void dense_reorder(const hybrid_dense *from, hybrid_order order, int64_t gap,
                   hybrid_dense *out);

/* Makes a copy of `from` that begins `bytes` bytes after an address A that is a multiple
   of HY_X_LINE; bytes must be less than HY_X_LINE. Returns A, which the caller frees
   with free(). dense_moved_intact() returns 1 if nothing was written between A and the
   matrix. */
void *dense_move(const hybrid_dense *from, size_t bytes, hybrid_dense *out);
int dense_moved_intact(const void *line, const hybrid_dense *matrix);

/* Sets all elements, but not the gaps. */
void dense_set(hybrid_dense *matrix, double value);

/* Return or set a value of either type: element (i, j) of a matrix, or element k of an
   array. */
double dense_at(const hybrid_dense *matrix, int64_t i, int64_t j);
double value_at(const void *values, hybrid_type type, int64_t k);
void value_set(void *values, hybrid_type type, int64_t k, double value);

/* Pseudorandom numbers that depend on the arguments only. test_hash() returns 64 bits.
   test_number() returns a whole number in [-7, 7] except 0, or a real number in [-1,
   1). */
uint64_t test_hash(uint64_t seed, uint64_t k);
double test_number(uint64_t seed, int64_t k, int integers);

#endif /* CASES_H */
