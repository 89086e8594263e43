/* engine/plan/cut.h - which schedule a product gets, and which layout. */
#ifndef HY_CUT_H
#define HY_CUT_H

#include "engine/schedules/schedule.h"

/* The layout of the schedule with which a run is predicted to take the least time, to be
   freed. If the host is to compute it in place of a device nothing is cut: *out has 0
   slots, and out->seconds says what the device would take. NO_DEVICE_MEMORY: no layout
   holds every row. B NULL: SpMM. */
hybrid_status hy_cut_layout(const hy_product *product, const hybrid_csr *A,
                            const hybrid_csr *B, hy_layout *out);

/* The least seconds of the device's schedules, as far as they are known before anything
   is cut. */
hybrid_status hy_cut_least(const hy_product *product, const hybrid_csr *A,
                           double *seconds);

#endif /* HY_CUT_H */
