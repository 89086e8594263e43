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
    hybrid_engine *engine; /* with two workers */
    int on_host;           /* 0: the engine has a fake device, and the host may take
                              rows */
    test_kind kind;        /* whole numbers */
    hybrid_csr A, B;       /* ROWS x MIDDLE, MIDDLE x COLS */
    hybrid_csr wide_a, wide_b; /* A and B with 64-bit column indices */
    hybrid_dense X, Y, before; /* MIDDLE x WIDTH, ROWS x WIDTH; before: a copy of Y */
    oracle product;
    hybrid_index offsets, columns; /* types that are requested for C */
} world;

void indices_open(world *w, int on_host, hybrid_type type, hybrid_index offsets);
void indices_close(world *w);

/* Calls `check` on the host and on the device, for f32 and f64, with offsets of 32 and 64
   bits. */
void indices_each(void (*check)(world *));

/* Returns A with 64-bit column indices. The caller frees them with free(). */
hybrid_csr indices_widened(const hybrid_csr *A);

/* Number of requests for index types of C; indices_ask() sets request i. The last request
   is HYBRID_INDEX_AUTO. */
enum { ASKED = 6 };
void indices_ask(world *w, int i);
hybrid_plan_options indices_options(const world *w, unsigned flags);

/* Returns 1 if C has too many entries for the requested types. */
int indices_refused(const world *w);

/* Checks *C after a call that returned `status`. On success C must be w->product and is
   freed. On failure each byte of *C must still be 0x5a. Returns `status`. */
hybrid_status indices_check(const world *w, hybrid_status status, hybrid_csr *C);

/* Multiply A and B in one call or with a plan; their product must be w->product. Check C
   with indices_check(). */
hybrid_status indices_once(const world *w, const hybrid_csr *A, const hybrid_csr *B);
hybrid_status indices_run(const world *w, hybrid_plan *plan, const hybrid_csr *A,
                  const hybrid_csr *B);
/* Makes a plan, runs it three times (later runs may know the result positions), and then
   hands the rows of C to a function. Checks each result. */
hybrid_status indices_planned(const world *w, unsigned flags, const hybrid_csr *A,
                      const hybrid_csr *B);

/* Repeats `call` and makes one allocation after the other fail. A failure must leave no
   memory behind, and the next call must be right. At least `least` allocations must have
   failed. */
void indices_fail_each(world *w, hybrid_status (*call)(world *), int64_t least);

#endif /* INDICES_H */
