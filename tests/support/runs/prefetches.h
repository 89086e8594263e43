/* tests/support/runs/prefetches.h - one-shot products on the fake device with B
   prefetched. */
#ifndef PREFETCHES_H
#define PREFETCHES_H

#include "engine/run/prefetch.h"
#include "engine/plan/plan.h"
#include "support/check/oracle.h"

enum { PREFETCH_ROWS = 400, PREFETCH_SLOW_US = 20000 };

/* Tables of variants. staying: B is on the device. late: as staying, but planning takes
   long. carrying: chunks contain rows of B. on_host: the device refuses and the host
   computes. nowhere: all variants refuse. */
extern const hy_variant *const prefetch_staying[];
extern const hy_variant *const prefetch_late[];
extern const hy_variant *const prefetch_carrying[];
extern const hy_variant *const prefetch_on_host[];
extern const hy_variant *const prefetch_nowhere[];

/* Time at which slow planning last ended, to compare with the time of B's copy. */
extern int64_t prefetch_planned_ns;

typedef struct prefetch_world {
    hybrid_engine *engine;
    hybrid_csr A, B;
    oracle square, product;
} prefetch_world;

/* Makes A with about `per_row` entries per row, and B. */
void prefetch_operands(prefetch_world *w, double per_row);
void prefetch_operands_free(prefetch_world *w);

/* Creates an engine with two workers that prefetches B of any size. `device_bytes` caps
   device memory; 0: no cap. */
void prefetch_open(prefetch_world *w, const hy_variant *const *variants,
                   size_t device_bytes);

/* Destroys the engine. Fails the test if the fake device still holds anything. */
void prefetch_close(prefetch_world *w);

/* Computes A*B or, squared, A*A in one call. Checks the result of a success, and that all
   memory is freed. */
hybrid_status prefetch_multiply(prefetch_world *w, int squared);

/* Begins to prefetch B. Returns NULL if the engine does not. */
hy_loader *prefetch_begin(prefetch_world *w);
/* Makes a plan; `loader` is from prefetch_begin(), or NULL. Returns NULL if a row does
   not fit the budget. Any other error fails the test. */
hybrid_plan *prefetch_plan(prefetch_world *w, hy_loader *loader);

/* Properties that are equal for equal plans, or for equal refusals (plan NULL). `hash` is
   a hash of the chunks. The struct has no padding, so that memcmp() can compare it. */
typedef struct prefetch_shape {
    int64_t chosen, depth, gathered, chunks, shared, hash;
} prefetch_shape;

prefetch_shape prefetch_shape_of(const hybrid_plan *plan);

hybrid_report prefetch_report(const prefetch_world *w);

#endif /* PREFETCHES_H */
