/* tests/support/products/indices.h - products whose operands and results have offsets and
   columns of 32 or 64 bits, against the oracle. Failures abort the test. */
#ifndef INDICES_H
#define INDICES_H

#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/check/oracle.h"

enum { ROWS = 300, MIDDLE = 200, COLS = 250, WIDTH = 3 };

typedef struct world {
    hybrid_engine *engine; /* of two workers */
    int on_host;           /* else a fake device, which the host helps */
    test_kind kind;        /* whole numbers */
    hybrid_csr A, B;       /* ROWS x MIDDLE, MIDDLE x COLS */
    hybrid_csr wide_a, wide_b; /* the same with columns of 64 bits */
    hybrid_dense X, Y, before; /* MIDDLE x WIDTH, ROWS x WIDTH; before: a copy of Y */
    oracle product;
    hybrid_index offsets, columns; /* of C, as asked for */
} world;

void indices_open(world *w, int on_host, hybrid_type type, hybrid_index offsets);
void indices_close(world *w);

/* On the host and the device, of f32 and f64, with offsets of 32 and 64 bits. */
void indices_each(void (*check)(world *));

/* The same with columns of 64 bits, which are malloc's. */
hybrid_csr indices_widened(const hybrid_csr *A);

/* Types that can be asked for; the last are HYBRID_INDEX_AUTO. */
enum { ASKED = 6 };
void indices_ask(world *w, int i);
hybrid_plan_options indices_options(const world *w, unsigned flags);

/* Whether C has too many entries for what is asked for. */
int indices_refused(const world *w);

/* C of w->product as it should be, which is freed, or as it was: each byte 0x5a. Returns
   `status`. */
hybrid_status indices_check(const world *w, hybrid_status status, hybrid_csr *C);

/* These operands, whose product is w->product, in every way. C is checked, of the types that
   were asked for, and freed; after a failure it is as it was before. */
hybrid_status indices_once(const world *w, const hybrid_csr *A, const hybrid_csr *B);
hybrid_status indices_run(const world *w, hybrid_plan *plan, const hybrid_csr *A,
                  const hybrid_csr *B);
/* Three runs, of which the later ones may know where rows begin; then rows as they come. */
hybrid_status indices_planned(const world *w, unsigned flags, const hybrid_csr *A,
                      const hybrid_csr *B);

/* Fail each allocation of `call` once: nothing is left of it, and the next call is right.
   There are so many at least. */
void indices_fail_each(world *w, hybrid_status (*call)(world *), int64_t least);

#endif /* INDICES_H */
