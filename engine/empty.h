/* engine/empty.h - whether a product is computed without the empty rows and columns of A. */
#ifndef HY_EMPTY_H
#define HY_EMPTY_H

#include "engine/rank.h"

/* The rest of A, if the best candidate computes on a device and a quarter of X and Y need
   not cross the bus then; none if there is no memory for it, or if the host is sooner:
   then *spared_s says what the device would take (weigh.h). `rest` is empty before, and
   to be freed also after a failure. */
hybrid_status hy_empty_find(const hy_product *product, const hy_candidates *candidates,
                            const hybrid_csr *A, hy_compact *rest, double *spared_s);

/* What of a problem's A and X a run computes with, instead of them. */
typedef struct hy_rest {
    hybrid_csr A;
    hybrid_dense X;
} hy_rest;

void hy_empty_settle(const hy_product *product, hy_problem *problem, hy_rest *rest);

#endif /* HY_EMPTY_H */
