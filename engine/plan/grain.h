/* engine/plan/grain.h - chooses the number and the length of chunks. */
#ifndef HY_GRAIN_H
#define HY_GRAIN_H

#include "engine/plan/layout.h"

/* Returns the number of chunks, 1 or more, with which a run of the layout is predicted to
   be shortest (estimate.h). If the product is computed in place, it suits the workers. */
int64_t hy_grain_chunks(const hy_planning *p, const hy_layout *layout);

/* Returns the scalar products that each chunk should have. */
int64_t hy_grain_products(const hy_planning *p, const hy_layout *layout);

#endif /* HY_GRAIN_H */
