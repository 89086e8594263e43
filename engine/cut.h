/* engine/cut.h - which layout on the device a product gets. */
#ifndef HY_CUT_H
#define HY_CUT_H

#include "engine/layout.h"

/* The best layout for the variant that computes the product, to be freed; none, and what
   the device would take in *spared_s, if the host computes it sooner (weigh.h); else
   *spared_s is 0. NO_DEVICE_MEMORY: no layout holds every row. B NULL: SpMM. */
hybrid_status hy_cut_layout(const hy_product *product, const hybrid_csr *A,
                            const hybrid_csr *B, hy_layout *out, double *spared_s);

#endif /* HY_CUT_H */
