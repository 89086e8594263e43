/* engine/sites/divide.h - divides the rows of a product among devices.

   Every device of the engine plans for the whole product as if it were alone. The fastest
   takes part; another one joins if the predicted run becomes 5 % shorter (30 % with a
   reduced A) and the device gets at least 1 % of the work. Each device that takes part
   becomes a portion with a contiguous range of rows. The ranges are chosen so that all
   devices are predicted to finish together. divide.c describes the arithmetic.

   Bits of a dense result depend on the kind of device. With HYBRID_DETERMINISTIC such a
   product is therefore divided among devices of one kind only.

   Predictions err. A device that has finished its own rows may take rows of the others
   (queue.h) if it has all of B or X, or if its packs contain the entries of B. Rows of a
   resident A stay on their device, and so do rows of a deterministic dense result. */
#ifndef HY_DIVIDE_H
#define HY_DIVIDE_H

#include "engine/plan/portion.h"

/* Divides the rows of A among the devices that together have the shortest predicted run.
   On entry portions[0] is the whole product in a layout on its device, and the array has
   room for every device of the engine. The other devices plan for the whole product
   first. *count becomes the number of portions with rows; their sites are not open. The
   caller frees the layouts, even after a failure. B is NULL for SpMM. */
hybrid_status hy_divide(const hybrid_csr *A, const hybrid_csr *B, hy_portion *portions,
                        int *count);

/* Sets portion->taking: whether and how the portion's site, which must be open, takes
   rows of other portions. */
void hy_divide_taking(hy_portion *portion);

#endif /* HY_DIVIDE_H */
