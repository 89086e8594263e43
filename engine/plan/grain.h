/* engine/plan/grain.h - chooses the number and the length of chunks. */
#ifndef HY_GRAIN_H
#define HY_GRAIN_H

#include "engine/plan/layout.h"

/* Returns the number of chunks, 1 or more. On a device it is the one with the shortest
   predicted run (estimate.h). If the product is computed in place, each chunk gets enough
   work for all workers. */
int64_t hy_grain_chunks(const hy_planning *p, const hy_layout *layout);

/* Returns the number of chunks, 1 or more, in which the host computes an SpMM in place.
 */
int64_t hy_grain_host_chunks(const hy_planning *p);

/* Returns the maximum number of scalar products in a chunk, with which the cut makes
   about hy_grain_chunks() chunks. */
int64_t hy_grain_products(const hy_planning *p, const hy_layout *layout);

#endif /* HY_GRAIN_H */
