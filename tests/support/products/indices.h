/* tests/support/products/indices.h - products with offsets and column indices of 32 or 64
   bits.

   Results are compared with the oracle. A failure aborts the test. */
#ifndef INDICES_H
#define INDICES_H

#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/check/oracle.h"

enum { ROWS = 300, MIDDLE = 200, COLS = 250, WIDTH = 3 };

typedef struct world {
    hybrid_engine *engine;     /* an engine with two workers */
    int on_host;               /* 1: the host computes; 0: a fake device computes, and the
                                  host may take rows */
    test_kind kind;            /* value type and offset type; values are whole numbers */
    hybrid_csr A, B;           /* A is ROWS x MIDDLE, B is MIDDLE x COLS */
    hybrid_csr wide_a, wide_b; /* the same matrices as A and B, with 64-bit column
                                  indices */
    hybrid_dense X, Y, before; /* X is MIDDLE x WIDTH, Y is ROWS x WIDTH; before: a copy
                                  of Y */
    oracle product;
    hybrid_index offsets, columns; /* types of offsets and of column indices that are
                                      requested for C */
} world;

void indices_open(world *w, int on_host, hybrid_type type, hybrid_index offsets);
void indices_close(world *w);

/* Calls `check` eight times: on the host and on the device, for f32 and f64, with
   operands whose offsets have 32 and 64 bits. */
void indices_each(void (*check)(world *));

/* Returns A with its column indices copied to a new 64-bit array, which the caller frees
   with free(). The other arrays are A's. */
hybrid_csr indices_widened(const hybrid_csr *A);

/* indices_ask() sets the types that are requested for C to request number i, 0 to ASKED
   - 1. The last request is HYBRID_INDEX_AUTO for both types. */
enum { ASKED = 6 };
void indices_ask(world *w, int i);
hybrid_plan_options indices_options(const world *w, unsigned flags);

/* Returns 1 if A*B has too many entries for the requested types, so that calls must
   fail. */
int indices_refused(const world *w);

/* Checks *C after a call that returned `status`. After a success C must equal A*B
   (w->product); C is freed. After a failure each byte of *C must still be 0x5a, the
   value set before. Returns `status`. */
hybrid_status indices_check(const world *w, hybrid_status status, hybrid_csr *C);

/* indices_once() multiplies A and B by a one-shot call, indices_run() by a plan; A*B
   must be w->product. Both check C with indices_check() and return the status. */
hybrid_status indices_once(const world *w, const hybrid_csr *A, const hybrid_csr *B);
hybrid_status indices_run(const world *w, hybrid_plan *plan, const hybrid_csr *A,
                  const hybrid_csr *B);
/* Makes a plan, runs it three times (later runs may know the positions in the result),
   and then lets it hand the rows of C to a function. Checks the result each time. */
hybrid_status indices_planned(const world *w, unsigned flags, const hybrid_csr *A,
                      const hybrid_csr *B);

/* Calls `call` repeatedly, and lets a later allocation fail each time, beginning with
   the first. A failure must leave no memory behind, and the next call must succeed.
   `call` must make at least `least` allocations, or the test fails. */
void indices_fail_each(world *w, hybrid_status (*call)(world *), int64_t least);

#endif /* INDICES_H */
