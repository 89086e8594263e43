/* tests/support/engines/world.h - A*X on a fake device and the host, again and again.
   Failures abort the test. */
#ifndef WORLD_H
#define WORLD_H

#include "engine/plan/plan.h"
#include "support/inputs/cases.h"

enum { ROWS = 900, COLS = 800, EACH = 7 };
enum { NONE = 0, X_PINNED = 1, Y_PINNED = 2, BOTH = 3 };

typedef struct world {
    hybrid_engine *engine; /* of three workers */
    hybrid_csr A;
    hybrid_dense X, Y, before; /* before: a copy of Y */
    unsigned runs;             /* for who wants another X in each */
} world;

/* A of f64 and whole numbers, about EACH in a row; X and Y in rows, of so many columns. The
   device has `spmm`, and a variant for sparse products; 0 bytes: no cap. */
void world_open(world *w, const hy_backend_ops *device, const hy_variant *spmm,
                size_t device_bytes, int64_t width);
void world_close(world *w);

/* X, Y, BOTH or NONE of them. */
void world_pin(world *w, int which, int on);

hybrid_plan *world_plan(world *w, int64_t chunk_rows, unsigned flags, hybrid_split split,
                        double share);

/* Numbers of A change sign, and with them the sign of A*X. */
void world_turn_signs(world *w);

size_t world_bytes(const hybrid_dense *m);

#endif /* WORLD_H */
