/* tests/support/device/space_world.h - an engine with a fake device, and operands on both
   sides. */
#ifndef SPACE_WORLD_H
#define SPACE_WORLD_H

#include "base/contract/variant.h"
#include "support/inputs/cases.h"

enum { SPACE_ROWS = 40, SPACE_COLS = 8 };

typedef struct space_world {
    hybrid_engine *engine;
    hybrid_csr A, a; /* A, X, Y are in host memory; a, x, y: copies on device 0 */
    hybrid_dense X, Y, x, y;
} space_world;

extern const test_kind space_kind;
extern const hy_variant *const space_variants[];

void space_world_open(const hybrid_engine_options *options, space_world *w);

/* Opens an engine with default options and a fake device whose work is not delayed. */
void space_world_open_plain(space_world *w);

/* Frees everything. Fails the test if the engine or the fake device still holds
   memory. */
void space_world_close(space_world *w);

/* Fails the test unless a call returned `wanted` and the engine's last message contains
   `words`. */
void space_world_expect(const space_world *w, hybrid_status status, hybrid_status wanted,
                        const char *words);

/* Fails the test unless w->y, on the device, is alpha*A*X + beta*Y with the host's A, X
   and Y. */
void space_world_check(const space_world *w, double alpha, double beta);

/* Computes Y = A*X by a one-shot call of w->engine. */
hybrid_status space_world_spmm(const space_world *w, const hybrid_csr *A,
                               const hybrid_dense *X, hybrid_dense *Y);

#endif /* SPACE_WORLD_H */
