/* engine/plan/grain.h - how many chunks a product is to have, and how long they are. */
#ifndef HY_GRAIN_H
#define HY_GRAIN_H

#include "engine/plan/layout.h"

/* Chunks with which a run of the layout, as it is asked for, is predicted to take the least
   time (estimate.h). At least 1. Where the product is computed in place, chunks that
   workers share well. */
int64_t hy_grain_chunks(const hy_planning *p, const hy_layout *layout);

/* Products to aim for in each of them. */
int64_t hy_grain_products(const hy_planning *p, const hy_layout *layout);

#endif /* HY_GRAIN_H */
