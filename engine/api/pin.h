/* engine/api/pin.h - arrays of the caller that a device copies from and to directly. */
#ifndef HY_PIN_H
#define HY_PIN_H

#include "base/contract/variant.h"

/* Whether the device may copy all of X and Y from and to where they are: they lie in the same
   order, and are pinned. */
int hy_pin_both(hy_context *ctx, const hybrid_dense *X, const hybrid_dense *Y);

/* Whether the device copies rows, or columns, of all of X and Y from and to where they
   are: both lie so and are pinned, and Y is what it has computed. */
int hy_pin_direct(const hy_problem *problem);

#endif /* HY_PIN_H */
