/* engine/plan/divide.h - divides the rows of a product among devices. */
#ifndef HY_DIVIDE_H
#define HY_DIVIDE_H

#include "engine/plan/portion.h"

/* portions[0] is the whole product on its device, in a layout. Lets the engine's other
   devices plan for it too, and divides it among those with the shortest predicted run.
   *count portions result, without sites; the caller frees their layouts, even after a
   failure. B is NULL for SpMM. */
hybrid_status hy_divide(const hybrid_csr *A, const hybrid_csr *B, hy_portion *portions,
                        int *count);

/* Called when the portion's site is open: decides whether and how it takes rows of
   others. */
void hy_divide_takes(hy_portion *portion);

#endif /* HY_DIVIDE_H */
