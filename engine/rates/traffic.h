/* engine/rates/traffic.h - bytes that a plan and its alternative will copy. Bytes go up
   to the device and down to the host. */
#ifndef HY_TRAFFIC_H
#define HY_TRAFFIC_H

#include "engine/plan/layout.h"

/* Returns the bytes that an SpMM in this layout sends up to the device, without cached
   packs. */
int64_t hy_traffic_dense_up(const hy_portion *portion, const hy_layout *layout);

/* Returns the bytes that the next run on the portion's site additionally sends up to the
   device, for packs that are to be cached and are not yet. */
int64_t hy_traffic_first(const hy_portion *portion);

/* Returns the share, 0 to 1, of the portion's cached packs that are on the device
   already. */
double hy_traffic_cached(const hy_portion *portion);

/* Returns 1 if A and B are the same arrays and kernels can read rows of A in the B on the
   device. */
int hy_traffic_same(const hy_portion *portion, const hybrid_csr *A, const hybrid_csr *B);

/* Predicts the traffic of the portion and these operands (B NULL: SpMM). Gathered rows are
   counted for a few chunks, and scaled up by the number of entries of A. */
hybrid_status hy_traffic_find(const hy_portion *portion, const hybrid_csr *A,
                              const hybrid_csr *B, hy_traffic *out);

#endif /* HY_TRAFFIC_H */
