/* engine/plan/rank.h - ranks the variants that may compute a product: refuses those that
   cannot, predicts the seconds of the others, and orders them. */
#ifndef HY_RANK_H
#define HY_RANK_H

#include "engine/plan/portion.h"

enum { HY_CANDIDATES = 64 };

typedef struct hy_candidate {
    const hy_variant *variant;
    hy_backend *backend;
    const char *refused; /* NULL, or the reason why the variant cannot compute the product
                            (a static string) */
    double predicted_s;  /* predicted seconds of a run in the planned circumstances
                            (estimate.h), as if B or X fitted the device */
} hy_candidate;

typedef struct hy_candidates {
    int count, chosen; /* count: number of candidates; chosen: index of the candidate that
                          computes */
    hy_candidate of[HY_CANDIDATES];
} hy_candidates;

/* Returns 1 if the variant belongs to the backend, as "spgemm.host.hash" to "host". */
int hy_runs_on(const hy_variant *variant, const hy_backend *backend);

/* Ranks the variants of this product that options.variant asks for
   (hy_parameters_want()). Variants of the engine's device come first, then those of the
   host if the options and the engine allow it to compute; on each backend the one with
   the least predicted seconds comes first and refused ones last. HYBRID_DETERMINISTIC
   refuses variants whose sums have no fixed order. If no variant is left, the error is
   UNSUPPORTED, with a sentence that lists each refusal. */
hybrid_status hy_rank(const hy_product *product, hy_candidates *out);

/* Does what hy_rank() does, for device `device` alone, or for the host. No error is
   returned if all variants are refused. */
void hy_rank_device(const hy_product *product, hy_backend *device, hy_candidates *out);

/* hy_rank_first_host() returns the index of the first candidate that computes in place,
   on the host; the number of candidates if there is none. hy_rank_first() returns the
   first of all candidates that is not refused; NULL if there is none. */
int hy_rank_first_host(const hy_candidates *candidates);
const hy_candidate *hy_rank_first(const hy_candidates *candidates);

/* Sets *out to the host's variant with the least predicted seconds. options.variant is
   ignored. out->variant is NULL if no variant of the host can compute the product. */
void hy_rank_host(const hy_product *product, hy_candidate *out);

#endif /* HY_RANK_H */
