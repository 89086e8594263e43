/* tests/support/pinned_runs.h - runs of one plan with X and Y pinned, and others, on a fake
   device whose calls can be made to fail, and the host. Failures abort the test. */
#ifndef PINNED_RUNS_H
#define PINNED_RUNS_H

#include "engine/plan.h"
#include "support/cases.h"

enum { ROWS = 900, COLS = 800, EACH = 7, CHUNK_ROWS = 60, CHUNKS = 15, WIDTH = 20 };
enum { NONE = 0, X_PINNED = 1, Y_PINNED = 2, BOTH = 3 };

typedef struct runs_world {
    hybrid_engine *engine;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    unsigned runs;
} runs_world;

/* With this variant on the device. */
void runs_open(runs_world *w, const hy_variant *spmm, size_t device_bytes);
void runs_close(runs_world *w);

/* Y comes down so slowly that the host has time for its part, but no time for it where it
   stores all of Y as well. */
void runs_slow_down(runs_world *w);

/* X, Y, BOTH or NONE of them. */
void runs_pin(runs_world *w, int which, int on);

hybrid_plan *runs_plan(runs_world *w, unsigned flags, hybrid_split split, double share);

/* The plan was made for some share of the host; from now on it is this one. */
void runs_share(hybrid_plan *plan, double share);

/* With A, or the arrays that are `given`, another X in each run. The result is to be that
   of A, and the report true. */
hybrid_report run_once(runs_world *w, hybrid_plan *plan, double beta);
hybrid_report run_with(runs_world *w, hybrid_plan *plan, const hybrid_csr *given,
                       double beta);

/* Numbers of A change sign, and with them the sign of A*X. */
void runs_turn_signs(runs_world *w);

/* A's shape, and nothing where its arrays are. */
hybrid_csr runs_hollow(const hybrid_csr *A);

#endif /* PINNED_RUNS_H */
