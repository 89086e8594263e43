/* tests/support/inputs/stored.h - products A*X of whole numbers, X in a file. */
#ifndef STORED_H
#define STORED_H

#include "engine/api/engine.h"
#include "support/inputs/cases.h"

enum { STORED_ROWS = 300, STORED_COLS = 900, STORED_FRONT = 24 };

typedef struct stored_trial {
    hybrid_engine *engine;
    const hybrid_plan_options *options; /* NULL: the usual ones */
    hybrid_csr A;
    hybrid_dense X, Y, before;
} stored_trial;

/* Bytes from the first element to the last, gaps included. */
size_t stored_bytes(const hybrid_dense *X);

/* X to x.bin, behind STORED_FRONT bytes, and its description to x.json, of io_temp(). */
void stored_write(const hybrid_dense *X);

/* The same of a sparse one, to NAME.bin and NAME.json: values, columns, offsets. */
void stored_write_csr(const char *name, const hybrid_csr *A);

/* An operand: in memory; or written and opened, then to be closed. */
hybrid_operand stored_csr(hybrid_engine *engine, const char *name, const hybrid_csr *A,
                          int in_file);

/* STORED_ROWS x STORED_COLS; banded: rows name columns that follow each other. */
hybrid_csr stored_matrix(int banded, test_kind kind);

/* A, which becomes the trial's, X of `width` columns, and Y; bits of `orders`: X, and Y, in
   rows. X is written. */
void stored_make(stored_trial *t, hybrid_csr A, int64_t width, int orders, int64_t gap,
                 test_kind kind);
void stored_free(stored_trial *t);

/* Two runs of one plan, checked against the oracle, bit for bit. 0: it cannot be planned. */
int stored_run(stored_trial *t, double alpha, double beta);

extern const test_kind stored_kinds[2];

#endif /* STORED_H */
