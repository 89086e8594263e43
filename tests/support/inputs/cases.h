/* tests/support/inputs/cases.h - small matrices by name, each with what it is multiplied
   by.

   Integer-valued data are small and never zero, so that all sums are exact in f32. All
   memory is malloc's; running out of it aborts the test. */
#ifndef CASES_H
#define CASES_H

#include "hybrid_spmm.h"

typedef struct test_case {
    const char *name; /* static */
    hybrid_csr A, B;  /* A.cols == B.rows */
} test_case;

/* How the numbers of a case are stored and which they are. */
typedef struct test_kind {
    hybrid_type type;
    hybrid_index offsets;
    int integers;
} test_kind;

/* Under the thread sanitizer, which sees races whatever the numbers are, a case passes
   with every second of its kinds, and the next case with the others. */
#ifdef __SANITIZE_THREAD__
enum { KIND_STEP = 2 };
#else
enum { KIND_STEP = 1 };
#endif

int case_count(void);
const char *case_name(int i);
void case_make(int i, test_kind kind, test_case *out);
void case_free(test_case *c);

/* The case of this name; aborts if there is none. */
void case_named(const char *name, test_kind kind, test_case *out);

/* rows x cols with about `per_row` entries a row. Free with matrix_free(). */
void matrix_random(int64_t rows, int64_t cols, double per_row, unsigned seed,
                   test_kind kind, hybrid_csr *out);
void matrix_free(hybrid_csr *matrix);

/* The same matrix with columns of 64 bits in an array of their own, for free(). */
hybrid_csr matrix_widen(const hybrid_csr *A);

/* rows x cols with `gap` unused elements after each row (column), which hold a number
   that dense_gaps_intact() looks for. */
void dense_make(int64_t rows, int64_t cols, int64_t gap, hybrid_order order,
                unsigned seed, test_kind kind, hybrid_dense *out);
void dense_copy(const hybrid_dense *from, hybrid_dense *out);
void dense_free(hybrid_dense *matrix);
int dense_gaps_intact(const hybrid_dense *matrix);

/* The same elements in that order, with such gaps. */
void dense_turn(const hybrid_dense *from, hybrid_order order, int64_t gap,
                hybrid_dense *out);

/* The same matrix so many bytes after a line of HY_X_LINE bytes, less than a line. Returns
   the line, for free(). Whether nobody wrote what lies between the two. */
void *dense_move(const hybrid_dense *from, size_t bytes, hybrid_dense *out);
int dense_moved_intact(const void *line, const hybrid_dense *matrix);

/* Set all elements, but not the gaps. */
void dense_set(hybrid_dense *matrix, double value);

/* Element (i, j), and value k of an array, whatever the type. */
double dense_at(const hybrid_dense *matrix, int64_t i, int64_t j);
double value_at(const void *values, hybrid_type type, int64_t k);
void value_set(void *values, hybrid_type type, int64_t k, double value);

/* Numbers that depend on nothing but the arguments: any 64 bits; and a whole number
   from -7 to 7 without 0, or a real one in [-1, 1). */
uint64_t test_hash(uint64_t seed, uint64_t k);
double test_number(uint64_t seed, int64_t k, int integers);

#endif /* CASES_H */
