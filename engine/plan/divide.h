/* engine/plan/divide.h - which devices compute a product, and which rows are whose. */
#ifndef HY_DIVIDE_H
#define HY_DIVIDE_H

#include "engine/plan/portion.h"

/* portions[0] is the whole product on its device, in a layout. Let the engine's others plan
   for it too, and divide it among those that are predicted to make a run short: *count
   portions from the first on, without sites, whose layouts are to be freed, also after a
   failure. B NULL: SpMM. */
hybrid_status hy_divide(const hybrid_csr *A, const hybrid_csr *B, hy_portion *portions,
                        int *count);

/* The portion's site is open: whether and how it takes rows of others. */
void hy_divide_takes(hy_portion *portion);

#endif /* HY_DIVIDE_H */
