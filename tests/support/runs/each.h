/* tests/support/runs/each.h - plans whose rows of C are handed over, and the rows put
   together again. Failures abort the test. */
#ifndef EACH_H
#define EACH_H

#include "engine/api/engine.h"

/* The host, or a fake device of which calls can be made to fail and that the host helps; so
   many workers, and a cap on host memory, 0: none. */
hybrid_engine *each_open(int on_host, int threads, size_t host_bytes);

hybrid_plan *each_plan(hybrid_engine *engine, const hybrid_csr *A, const hybrid_csr *B,
                       int64_t chunk_rows, unsigned flags);

typedef struct collected {
    hybrid_csr C;   /* so many rows as came; malloc's memory, for matrix_free() */
    int64_t panels; /* that came */
} collected;

/* Run the plan; panel `last`, counted from 0, is answered by 7, which ends the run, -1: none.
   The rows are to be in order, of matrices of C's kind, and handed over by this thread. What
   came is in `out`, whatever the status. */
hybrid_status collect(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                      int64_t last, collected *out);

/* The same of operands in memory or in files; `like` has the shape of B. */
hybrid_status collect_files(hybrid_engine *engine, const hybrid_operand *A,
                            const hybrid_operand *B, const hybrid_csr *like,
                            const hybrid_plan_options *options, int64_t last,
                            collected *out);

/* What came has the bits of C, or of its first rows, as many as came. */
void collected_same(const collected *rows, const hybrid_csr *C);
void collected_begins(const collected *rows, const hybrid_csr *C);

#endif /* EACH_H */
