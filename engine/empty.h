/* engine/empty.h - whether a product is computed without the empty rows and columns of A.
 */
#ifndef HY_EMPTY_H
#define HY_EMPTY_H

#include "engine/rank.h"

/* The rest of A, if the best candidate computes on a device and a quarter of X and Y need
   not cross the bus then; none if there is no memory for it, or if the host is sooner:
   then *device_s says what the device would take (weigh.h). `rest` is empty before, and
   to be freed also after a failure. */
hybrid_status hy_empty_find(const hy_product *product, const hy_candidates *candidates,
                            const hybrid_csr *A, hy_compact *rest, double *device_s);

/* A run computes with the rest of A, held by *rest, and with some rows of X and Y. */
void hy_empty_bind(const hy_product *product, hy_problem *problem, hybrid_csr *rest);

#endif /* HY_EMPTY_H */
