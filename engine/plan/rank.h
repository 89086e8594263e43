/* engine/plan/rank.h - which variant: refuse, cost, rank. */
#ifndef HY_RANK_H
#define HY_RANK_H

#include "engine/plan/product.h"

enum { HY_CANDIDATES = 64 };

typedef struct hy_candidate {
    const hy_variant *variant;
    hy_backend *backend;
    const char *refused; /* NULL, or why it cannot run */
    double predicted_s;  /* of a run as a plan expects it (estimate.h), B or X fitting */
} hy_candidate;

typedef struct hy_candidates {
    int count, chosen; /* index of the one that computes */
    hy_candidate of[HY_CANDIDATES];
} hy_candidates;

/* Whether the variant belongs to the backend: "spgemm.host.hash" does to "host". */
int hy_runs_on(const hy_variant *variant, const hy_backend *backend);

/* The variant of this product named `prefix`, or all whose name begins so (NULL: all of
   the engine's backend, then those of the host, to which AUTO falls back), cheapest first,
   the device before the host, refused ones last. DETERMINISTIC refuses variants whose
   sums have no fixed order. Fails with UNSUPPORTED and a sentence that lists each refusal
   when none is left. */
hybrid_status hy_rank(const hy_product *product, hy_candidates *out);

/* The same of that device alone; none may be left. */
void hy_rank_device(const hy_product *product, hy_backend *device, hy_candidates *out);

/* Index of the first candidate that computes in place: their number if there is none. */
int hy_rank_first_host(const hy_candidates *candidates);

/* The host's cheapest variant for the product, whatever the name asked for; out->variant is
   NULL if there is none. */
void hy_rank_host(const hy_product *product, hy_candidate *out);

#endif /* HY_RANK_H */
