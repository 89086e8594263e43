/* engine/plan/grain.h - chooses the number and the length of chunks. */
#ifndef HY_GRAIN_H
#define HY_GRAIN_H

#include "engine/plan/layout.h"

/* Returns the number of chunks, 1 or more, with which a run of the layout is predicted to
   be shortest (estimate.h). For a product that is computed in place, each chunk gets
   enough work for all workers instead. */
int64_t hy_grain_chunks(const hy_planning *p, const hy_layout *layout);

/* Returns the number of chunks, 1 or more, in which the host computes an SpMM in place.
 */
int64_t hy_grain_host_chunks(const hy_planning *p);

/* Returns the most scalar products that a chunk should have, so that there are
   hy_grain_chunks() chunks. */
int64_t hy_grain_products(const hy_planning *p, const hy_layout *layout);

#endif /* HY_GRAIN_H */
