/* engine/run/prefetch.h - sends B of a one-shot product to the device while the plan is
   made.

   A one-shot call has the values of its operands when it plans. B is therefore sent
   before any pattern is inspected. If the plan wants B on the device, its site takes over
   the lanes and the memory that were used for sending. X is not prefetched: its layout on
   the device depends on the variant, which planning chooses. */
#ifndef HY_PREFETCH_H
#define HY_PREFETCH_H

#include "engine/api/engine.h"
#include "partition/pattern/inspect.h"
#include "pipeline/load/load.h"

/* Begins to send B if there is a device, B has at least hy_settings.prefetch_bytes bytes,
   and B fits beside the slots. Otherwise, or if other plans hold the device memory, sets
   *out to NULL. */
hybrid_status hy_prefetch_begin(hybrid_engine *engine, const hybrid_csr *A,
                             const hybrid_csr *B, hy_loader **out);

/* Returns a function by which the device counts the scalar products of A's rows, if three
   conditions hold: A is B, A has at least hy_settings.counted_bytes bytes, and probably
   no chunk can begin before all of B has arrived. Otherwise, or if `prefetcher` is NULL,
   the result's `count` is NULL. */
hy_counter hy_prefetch_counter(const hybrid_engine *engine, hy_loader *prefetcher,
                               const hybrid_csr *A, const hybrid_csr *B);

/* Stops the loader and gives its memory and lanes back, because the plan does not want B
   on the device. Returns the error of the loader, if any. Sets *loader, which may be
   NULL, to NULL. */
hybrid_status hy_prefetch_end(hy_loader **loader);

/* Returns an estimate of the number of leading rows of B or X that the first chunk of A
   touches, from at most 16 rows at the beginning of A. */
int64_t hy_prefetch_x_end(const hybrid_csr *A);

#endif /* HY_PREFETCH_H */
