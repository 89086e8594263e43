/* engine/plan/divide.h - divides the rows of a product among devices. */
#ifndef HY_DIVIDE_H
#define HY_DIVIDE_H

#include "engine/plan/portion.h"

/* On entry portions[0] is the whole product in a layout on its device, and the array has
   room for every device of the engine. Lets the other devices plan for the product too,
   and divides its rows among those that together have the shortest predicted run. Sets
   *count to the number of portions that result, whose sites are not open. The caller
   frees their layouts, even after a failure. B is NULL for SpMM. */
hybrid_status hy_divide(const hybrid_csr *A, const hybrid_csr *B, hy_portion *portions,
                        int *count);

/* Sets portion->taking: whether and how the portion's site, which must be open, takes
   rows of other portions. */
void hy_divide_takes(hy_portion *portion);

#endif /* HY_DIVIDE_H */
