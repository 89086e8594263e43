/* engine/plan/reduce.h - decides whether a product is computed with the reduced A. */
#ifndef HY_REDUCE_H
#define HY_REDUCE_H

#include "engine/plan/rank.h"

/* Makes the reduced A if the best candidate computes on a device and at least a quarter
   of the rows of X and Y then need not cross the bus. Makes none if memory is short, or
   if the host is predicted to be faster: then *device_s is set to the device's predicted
   seconds (weigh.h). `reduced` is empty before; the caller frees it, even after a
   failure. */
hybrid_status hy_reduce_find(const hy_product *product, const hy_candidates *candidates,
                             const hybrid_csr *A, hy_hypersparse *reduced,
                             double *device_s);

/* If the product has a reduced A, stores it with the values of problem->A in *reduced,
   and lets the problem use it, with those rows of X (borrowed) and Y that it needs. Else
   does nothing. */
void hy_reduce_bind(const hy_product *product, const hy_source *X, hy_problem *problem,
                    hybrid_csr *reduced);

#endif /* HY_REDUCE_H */
