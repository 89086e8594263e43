/* tests/support/inputs/stored.h - products A*X of whole numbers with X in a file. */
#ifndef STORED_H
#define STORED_H

#include "engine/api/engine.h"
#include "support/inputs/cases.h"

enum { STORED_ROWS = 300, STORED_COLS = 900, STORED_FRONT = 24 };

typedef struct stored_trial {
    hybrid_engine *engine;
    const hybrid_plan_options *options; /* options of plans; NULL: default options, with
                                           the order of X */
    hybrid_csr A;
    hybrid_dense X, Y, before;
} stored_trial;

/* Returns the bytes from the first element of X to its last, including the unused
   elements between lines. */
size_t stored_bytes(const hybrid_dense *X);

/* Writes X to the file x.bin, after STORED_FRONT other bytes, and its description to
   x.json. Both lie in the temporary folder of io_temp(). */
void stored_write(const hybrid_dense *X);

/* Writes a sparse matrix to NAME.bin (values, columns, offsets) and its description to
   NAME.json. */
void stored_write_csr(const char *name, const hybrid_csr *A);

/* Returns an operand for A: with in_file = 0, A itself; with 1, the file NAME.bin, to
   which A is written. The caller closes the file. */
hybrid_operand stored_csr(hybrid_engine *engine, const char *name, const hybrid_csr *A,
                          int in_file);

/* Returns a STORED_ROWS x STORED_COLS matrix. With `banded` the columns of a row are
   consecutive. */
hybrid_csr stored_matrix(int banded, test_kind kind);

/* Makes X with `width` columns, and Y, and writes X to its file. `gap` elements between
   lines are unused. Bits of `orders`: 1, X is row-major; 2, Y is row-major. The trial
   takes ownership of A. */
void stored_make(stored_trial *t, hybrid_csr A, int64_t width, int orders, int64_t gap,
                 test_kind kind);
void stored_free(stored_trial *t);

/* Runs one plan twice and compares Y with the oracle's, bit for bit; a difference fails
   the test. Returns 1, or 0 if the engine refuses the plan. */
int stored_run(stored_trial *t, double alpha, double beta);

extern const test_kind stored_kinds[2];

#endif /* STORED_H */
