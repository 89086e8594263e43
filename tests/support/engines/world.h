/* tests/support/engines/world.h - repeated products A*X on a fake device and the host.

   A failure aborts the test. */
#ifndef WORLD_H
#define WORLD_H

#include "engine/plan/plan.h"
#include "support/inputs/cases.h"

enum { ROWS = 900, COLS = 800, EACH = 7 };
enum { NONE = 0, X_PINNED = 1, Y_PINNED = 2, BOTH = 3 };

typedef struct world {
    hybrid_engine *engine; /* with three workers, a fake device and the host */
    hybrid_csr A;
    hybrid_dense X, Y, before; /* before: a copy of Y's elements before a run */
    unsigned runs;             /* number of runs so far, for tests that change X before
                                  each run */
} world;

/* Creates the engine and the operands. A has about EACH f64 entries per row, all whole
   numbers. X and Y are row-major and have `width` columns. The device has the variant
   `spmm` and a variant for SpGEMM; `device_bytes` caps its memory, 0: no cap. */
void world_open(world *w, const hy_backend_ops *device, const hy_variant *spmm,
                size_t device_bytes, int64_t width);
void world_close(world *w);

/* Pins (on = 1) or unpins X, Y, both or none, as `which` says. */
void world_pin(world *w, int which, int on);

hybrid_plan *world_plan(world *w, int64_t chunk_rows, unsigned flags, hybrid_split split,
                        double share);

/* Negates all values of A, which negates A*X. */
void world_negate(world *w);

size_t world_bytes(const hybrid_dense *m);

#endif /* WORLD_H */
