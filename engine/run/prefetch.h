/* engine/run/prefetch.h - B of a one-shot product goes to the device while the plan is made.

   A plan that is made to run once at once knows its operands' values too. So B is on its
   way before anybody has looked at a pattern, in the place and by the lanes that the
   plan's pipeline then takes over, if it turns out to want B there. X is not: how the
   device holds it depends on the variant, which is ranked by what planning finds. */
#ifndef HY_PREFETCH_H
#define HY_PREFETCH_H

#include "engine/api/engine.h"
#include "partition/pattern/inspect.h"
#include "pipeline/load/load.h"

/* Begin, if B has engine->prefetch_bytes, if there is a device, and if B fits it beside
   slots. *out is NULL if not, or if other
   plans hold the room. */
hybrid_status hy_prefetch_begin(hybrid_engine *engine, const hybrid_csr *A,
                             const hybrid_csr *B, hy_loader **out);

/* Who counts the products of A's rows for the plan: the device, if A is B, has
   engine->counted_bytes, and nothing else can begin before all of it is there; `count` is
   NULL if not, as without `early`. */
hy_counter hy_prefetch_counter(const hybrid_engine *engine, hy_loader *early,
                            const hybrid_csr *A, const hybrid_csr *B);

/* Stop, and give memory and lanes back: nobody wants it. What went wrong meanwhile is
   told. *loader may be NULL, and is then. */
hybrid_status hy_prefetch_end(hy_loader **loader);

/* Rows of B or X, from the first on, that the first chunk of A names, as some of its rows
   tell. */
int64_t hy_prefetch_needs(const hybrid_csr *A);

#endif /* HY_PREFETCH_H */
