/* tests/support/runs/each.h - collects the rows of C that a plan hands to a function.

   A failure aborts the test. */
#ifndef EACH_H
#define EACH_H

#include "engine/api/engine.h"

/* Creates an engine with `threads` workers and a cap on host memory (0: none). With
   on_host the host computes; otherwise a fake device with calls that can fail
   (fake_faults.c), and the host takes some rows. */
hybrid_engine *each_open(int on_host, int threads, size_t host_bytes);

hybrid_plan *each_plan(hybrid_engine *engine, const hybrid_csr *A, const hybrid_csr *B,
                       int64_t chunk_rows, unsigned flags);

typedef struct collected {
    hybrid_csr C;   /* the received rows; freed with matrix_free() */
    int64_t panels; /* number of received parts (ranges of rows that the plan hands over
                       at once) */
} collected;

/* Runs the plan and collects the rows of C. Checks that they arrive in order, with C's
   types, and in the calling thread. The receiving function ends the run at part number
   `last`, counted from 0, by returning 7; -1: it never does. `out` has the rows received
   so far, whatever the status is. */
hybrid_status collect(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                      int64_t last, collected *out);

/* Works as collect() without a plan, for operands in memory or in files. `like` is a
   matrix with the number of columns and the value type of B. */
hybrid_status collect_files(hybrid_engine *engine, const hybrid_operand *A,
                            const hybrid_operand *B, const hybrid_csr *like,
                            const hybrid_plan_options *options, int64_t last,
                            collected *out);

/* Check that the collected rows have the bits of all rows of C, or of the first rows of
   C. */
void collected_same(const collected *rows, const hybrid_csr *C);
void collected_begins(const collected *rows, const hybrid_csr *C);

#endif /* EACH_H */
