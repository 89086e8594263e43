/* tests/support/runs/prefetches.h - one-shot products on the fake device, B of them sent
   early. */
#ifndef EARLY_H
#define EARLY_H

#include "engine/run/prefetch.h"
#include "engine/plan/plan.h"
#include "support/check/oracle.h"

enum { EARLY_ROWS = 400, EARLY_SLOW_US = 20000 };

/* Tables of variants: B stays on the device; the same with a plan that takes long; chunks
   bring B; the device refuses, and the host computes; nobody does. */
extern const hy_variant *const prefetch_staying[];
extern const hy_variant *const prefetch_late[];
extern const hy_variant *const prefetch_carrying[];
extern const hy_variant *const prefetch_on_host[];
extern const hy_variant *const prefetch_nowhere[];

/* When prefetch_late was last done with taking long: B is sent before, or after. */
extern int64_t prefetch_planned_ns;

typedef struct prefetch_world {
    hybrid_engine *engine;
    hybrid_csr A, B;
    oracle square, product;
} prefetch_world;

/* A with about so many entries a row. */
void prefetch_operands(prefetch_world *w, double per_row);
void prefetch_operands_free(prefetch_world *w);

/* An engine of two workers that sends any B early. device_bytes 0: no cap. */
void prefetch_open(prefetch_world *w, const hy_variant *const *variants, size_t device_bytes);

/* Close it: nothing is left but the backend, which goes too. */
void prefetch_close(prefetch_world *w);

/* A*B, or A squared, in one shot: right if it succeeds, and all is given back. */
hybrid_status prefetch_multiply(prefetch_world *w, int squared);

/* NULL if B is not sent early. */
hy_loader *prefetch_begin(prefetch_world *w);
/* NULL: a row does not fit the budget, the only error that is none. */
hybrid_plan *prefetch_plan(prefetch_world *w, hy_loader *early);

/* What two plans alike have in common, or two refusals (plan NULL); hash: of their
   chunks. No padding. */
typedef struct prefetch_shape {
    int64_t chosen, depth, gathered, chunks, shared, hash;
} prefetch_shape;

prefetch_shape prefetch_shape_of(const hybrid_plan *plan);

hybrid_report prefetch_report(const prefetch_world *w);

#endif /* EARLY_H */
