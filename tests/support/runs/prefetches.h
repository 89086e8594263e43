/* tests/support/runs/prefetches.h - one-shot products on the fake device with B
   prefetched. */
#ifndef PREFETCHES_H
#define PREFETCHES_H

#include "engine/run/prefetch.h"
#include "engine/plan/plan.h"
#include "support/check/oracle.h"

enum { PREFETCH_ROWS = 400, PREFETCH_SLOW_US = 20000 };

/* Tables of variants for prefetch_open(). staying: B lies on the device. late: as
   staying, but planning takes longer than sending B. carrying: packs contain rows of B.
   on_host: the device's variant refuses and the host computes. nowhere: all variants
   refuse. */
extern const hy_variant *const prefetch_staying[];
extern const hy_variant *const prefetch_late[];
extern const hy_variant *const prefetch_carrying[];
extern const hy_variant *const prefetch_on_host[];
extern const hy_variant *const prefetch_nowhere[];

/* Time of the host's clock (hy_now_ns()) at which a variant of prefetch_late was last
   asked whether it refuses, in nanoseconds. */
extern int64_t prefetch_planned_ns;

typedef struct prefetch_world {
    hybrid_engine *engine;
    hybrid_csr A, B;
    oracle square, product;
} prefetch_world;

/* Makes A with about `per_row` entries per row, and B. */
void prefetch_operands(prefetch_world *w, double per_row);
void prefetch_operands_free(prefetch_world *w);

/* Creates an engine with two workers that prefetches B, however small it is.
   `device_bytes` caps device memory; 0: no cap. */
void prefetch_open(prefetch_world *w, const hy_variant *const *variants,
                   size_t device_bytes);

/* Destroys the engine. Fails the test if fake devices still have memory, lanes or
   marks. */
void prefetch_close(prefetch_world *w);

/* Computes A*B or, with `squared`, A*A in one call. Checks the result of a success, and
   that all memory of the call is freed. Returns the status. */
hybrid_status prefetch_multiply(prefetch_world *w, int squared);

/* Begins to send B to the device, as a one-shot call does before planning. Returns NULL
   if the engine does not. */
hy_loader *prefetch_begin(prefetch_world *w);
/* Makes a plan for A*B; `loader` is from prefetch_begin(), or NULL. Returns NULL if a
   row of A does not fit the budget. Any other error fails the test. */
hybrid_plan *prefetch_plan(prefetch_world *w, hy_loader *loader);

/* Numbers that are equal for equal plans, and for equal refusals (plan NULL). `hash` is
   a hash of the chunks. The struct has no padding, so that memcmp() can compare two. */
typedef struct prefetch_shape {
    int64_t chosen, depth, gathered, chunks, shared, hash;
} prefetch_shape;

prefetch_shape prefetch_shape_of(const hybrid_plan *plan);

hybrid_report prefetch_report(const prefetch_world *w);

#endif /* PREFETCHES_H */
