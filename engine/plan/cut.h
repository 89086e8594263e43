/* engine/plan/cut.h - chooses the schedule and the layout of a product. */
#ifndef HY_CUT_H
#define HY_CUT_H

#include "engine/schedules/schedule.h"

/* Makes the layout of the schedule with the shortest predicted run; the caller frees it.
   If the host is to compute in place of a device, nothing is cut: *out has 0 slots, and
   out->seconds is the predicted time of the device. NO_DEVICE_MEMORY if no layout holds
   every row. B is NULL for SpMM. */
hybrid_status hy_cut_layout(const hy_product *product, const hybrid_csr *A,
                            const hybrid_csr *B, hy_layout *out);

/* SpMM: sets *seconds to the predicted time of the fastest schedule on the device, from
   sizes and a look at A. Nothing is cut. INFINITY if no schedule on the device can be
   used. */
hybrid_status hy_cut_least(const hy_product *product, const hybrid_csr *A,
                           double *seconds);

#endif /* HY_CUT_H */
