/* engine/plan/weigh.h - decides whether the host computes in place of a device. */
#ifndef HY_WEIGH_H
#define HY_WEIGH_H

#include "engine/plan/rank.h"

/* Returns the predicted seconds of the host for an SpMM that it may take from the device,
   and INFINITY if it may not. Called once candidates are ranked for all of A. */
double hy_weigh_host(const hy_product *product, const hy_candidates *candidates);

/* Returns the predicted seconds of the host's best variant. Until positions of entries
   are inspected, rows of A are assumed to share no columns, which takes longest. INFINITY
   if no variant of the host is left. */
double hy_weigh_worst(const hy_product *product, const hy_candidates *candidates);

/* SpMM with an A of which `rows` rows and `cols` columns are not empty: sets *device_s to
   the seconds that `device`, a candidate, is predicted to take for them. Sets it to 0 if
   their X fits the device, or if the host, with time in proportion to rows and columns,
   is not predicted to be sooner (hy_is_sooner()). */
hybrid_status hy_weigh(const hy_product *product, const hy_candidate *device,
                       const hybrid_csr *A, int64_t rows, int64_t cols, double *device_s);

/* Decides whether the host takes the product from the first candidate, a device on which
   B or X fits. Returns the device's predicted seconds plus `look_s`, the cost of
   inspecting that only the device needs, if the host is predicted to be sooner; else 0.
   Returns 0 also if X and Y are in several columns. Until the positions of entries are
   inspected, the host is estimated with the worst and the device with the best ones. B is
   NULL for SpMM. */
double hy_weigh_fitting(const hy_product *product, const hy_candidates *candidates,
                        const hybrid_csr *A, const hybrid_csr *B, double look_s);

#endif /* HY_WEIGH_H */
