/* engine/plan/cut.h - chooses the schedule and the layout of a product. */
#ifndef HY_CUT_H
#define HY_CUT_H

#include "engine/schedules/schedule.h"

/* Makes the layout of the schedule with the shortest predicted run, which the caller
   frees. If the host is to compute in place of a device, nothing is cut: *out has 0
   slots, and out->seconds is the time of the device. NO_DEVICE_MEMORY if no layout holds
   every row. B is NULL for SpMM. */
hybrid_status hy_cut_layout(const hy_product *product, const hybrid_csr *A,
                            const hybrid_csr *B, hy_layout *out);

/* Computes the least seconds of the device's schedules, as far as they are known before
   anything is cut. */
hybrid_status hy_cut_least(const hy_product *product, const hybrid_csr *A,
                           double *seconds);

#endif /* HY_CUT_H */
