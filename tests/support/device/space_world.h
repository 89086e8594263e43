/* tests/support/device/space_world.h - an engine with a fake device, operands of the
   host, and copies of them on that device. */
#ifndef SPACE_WORLD_H
#define SPACE_WORLD_H

#include "base/contract/variant.h"
#include "support/inputs/cases.h"

enum { SPACE_ROWS = 40, SPACE_COLS = 8 };

typedef struct space_world {
    hybrid_engine *engine;
    hybrid_csr A, a; /* small letters: on device 0 */
    hybrid_dense X, Y, x, y;
} space_world;

extern const test_kind space_kind;
extern const hy_variant *const space_variants[];

void space_world_open(const hybrid_engine_options *options, space_world *w);

/* Nothing is left: of the engine, and of its device. */
void space_world_close(space_world *w);

/* The call ended as wanted, and the engine's message has these words. */
void space_world_expect(const space_world *w, hybrid_status status, hybrid_status wanted,
                        const char *words);

/* Y = A X. */
hybrid_status space_world_spmm(const space_world *w, const hybrid_csr *A,
                               const hybrid_dense *X, hybrid_dense *Y);

#endif /* SPACE_WORLD_H */
