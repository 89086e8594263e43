/* engine/plan/reduce.h - decides whether a product is computed with the reduced A. */
#ifndef HY_REDUCE_H
#define HY_REDUCE_H

#include "engine/plan/rank.h"

/* Makes the reduced A if the best candidate computes on a device and a quarter of X and Y
   need not cross the bus then. There is none if memory is short, or if the host is
   faster: then *device_s is the time of the device (weigh.h). `reduced` is empty before;
   the caller frees it, even after a failure. */
hybrid_status hy_reduce_find(const hy_product *product, const hy_candidates *candidates,
                             const hybrid_csr *A, hy_hypersparse *reduced,
                             double *device_s);

/* Lets a run compute with the reduced A, which *reduced holds, and with some rows of X,
   which is borrowed, and of Y. */
void hy_reduce_bind(const hy_product *product, const hy_source *X, hy_problem *problem,
                    hybrid_csr *reduced);

#endif /* HY_REDUCE_H */
