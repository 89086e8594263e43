/* engine/early.h - B or X of a one-shot product goes to the device while the plan is made.

   A plan that is made to run once at once knows its operands' values too. So B is on its
   way before anybody has looked at a pattern, in the place and by the lanes that the
   plan's pipeline then takes over, if it turns out to want B there.

   X waits for what a look at A tells: the host may compute all of it, or rows of X that
   nobody reads may stay away. It is on its way while chunks are cut, where no chunk needs
   all of it, and if it looks the same to all variants that have it in rows. */
#ifndef HY_EARLY_H
#define HY_EARLY_H

#include "engine/engine.h"
#include "partition/inspect.h"
#include "pipeline/load.h"

/* Less of B or X is there before planning misses it. */
enum { HY_EARLY_BYTES = 1 << 20 };

/* Begin, if B has engine->early_bytes, if there is a device, and if B takes no more than
   half of its budget, where plans prefer it resident. *out is NULL if not, or if other
   plans hold the room. */
hybrid_status hy_early_begin(hybrid_engine *engine, const hybrid_csr *A,
                             const hybrid_csr *B, hy_loader **out);

/* X of a product whose A was looked at, if it has rows without parts that lie apart, more
   than one column, and does not come in panels; else as B. */
hybrid_status hy_early_begin_x(hybrid_engine *engine, const hybrid_csr *A,
                               const hybrid_dense *X, hy_loader **out);

/* Whether the plan's layout has B or X as it was begun. */
int hy_early_suits(const hy_loader *early, const hybrid_plan *plan);

/* Who counts the products of A's rows for the plan: the device, if A is B and nothing
   else can begin before all of it is there; `count` is NULL if not, as without `early`.
 */
hy_counter hy_early_counter(hy_loader *early, const hybrid_csr *A, const hybrid_csr *B);

/* What is known of the operands of a product that is planned for one run. */
typedef struct hy_early {
    hy_loader *loader;     /* B or X on its way; or NULL */
    const hybrid_dense *X; /* may be sent while the plan is made; or NULL */
} hy_early;

/* Stop, and give memory and lanes back: nobody wants it. What went wrong meanwhile is
   told. *loader may be NULL, and is then. */
hybrid_status hy_early_end(hy_loader **loader);

#endif /* HY_EARLY_H */
