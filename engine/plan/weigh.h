/* engine/plan/weigh.h - the host instead of a device. */
#ifndef HY_WEIGH_H
#define HY_WEIGH_H

#include "engine/plan/rank.h"

/* Seconds in which the host is expected to have all of an SpMM that it may take from the
   device, and INFINITY where it may not. Once candidates are ranked for all of A. */
double hy_weigh_host(const hy_product *product, const hy_candidates *candidates);

/* The host's estimate, with rows of A that share nothing unless somebody has looked;
   INFINITY: it does not compute. */
double hy_weigh_worst(const hy_product *product, const hy_candidates *candidates);

/* What this candidate would take for so many rows and columns of A that are not empty, if
   X does not fit and the host is done with all of A much sooner. Else 0. */
hybrid_status hy_weigh(const hy_product *product, const hy_candidate *device,
                       const hybrid_csr *A, int64_t rows, int64_t cols, double *device_s);

/* The same of all of A where B or X fits, by estimates of both (estimate.h); 0 with
   several columns of X and Y in columns. B NULL: SpMM. Before anybody has looked how the
   entries of A lie only if the host is sooner however that is. The device's time counts
   from `look_s` on, which have to pass before it is chosen. */
double hy_weigh_fitting(const hy_product *product, const hy_candidates *candidates,
                        const hybrid_csr *A, const hybrid_csr *B, double look_s);

#endif /* HY_WEIGH_H */
