/* engine/plan/reduce.h - whether a product is computed without the empty rows and columns
   of A. */
#ifndef HY_REDUCE_H
#define HY_REDUCE_H

#include "engine/plan/rank.h"

/* The reduced A, if the best candidate computes on a device and a quarter of X and Y need not
   cross the bus then; none if there is no memory for it, or if the host is sooner:
   then *device_s says what the device would take (weigh.h). `reduced` is empty before, and
   to be freed also after a failure. */
hybrid_status hy_reduce_find(const hy_product *product, const hy_candidates *candidates,
                             const hybrid_csr *A, hy_hypersparse *reduced,
                             double *device_s);

/* A run computes with the reduced A, held by *reduced, and with some rows of X, borrowed, and
   Y. */
void hy_reduce_bind(const hy_product *product, const hy_source *X, hy_problem *problem,
                    hybrid_csr *reduced);

#endif /* HY_REDUCE_H */
