/* engine/api/pin.h - arrays of the caller that a device copies directly. */
#ifndef HY_PIN_H
#define HY_PIN_H

#include "base/contract/variant.h"

/* Returns 1 if X and Y are pinned and have the same order (row- or column-major), so that
   a device can copy both. */
int hy_pin_both(hy_context *ctx, const hybrid_dense *X, const hybrid_dense *Y);

/* Returns 1 if a device copies all of X and Y of the problem directly: they are pinned
   and have the same order, all rows of X are used, alpha is 1 and beta is 0. */
int hy_pin_direct(const hy_problem *problem);

#endif /* HY_PIN_H */
