/* tests/support/fake/fault.h - ways to make one call of a product fail. */
#ifndef FAULT_H
#define FAULT_H

#include <stdint.h>

#include "engine/api/engine.h"

/* A way to make a call fail.

   The number of calls of a product may depend on timing, and a product succeeds in spite
   of some failures. A loop over all calls therefore ends when a product did not reach the
   call that was to fail, whatever its status is. */
typedef struct fault_kind {
    /* Makes call n from now on fail, counted from 1. 0 disarms the fault. */
    void (*arm)(hybrid_engine *engine, int64_t n);
    /* Returns 1 until the call that is to fail has been made, then 0. */
    int (*is_armed)(const hybrid_engine *engine);
    hybrid_status status; /* status of a product that fails for this reason */
} fault_kind;

extern const fault_kind fault_allocation; /* an array in host memory */
extern const fault_kind fault_device;     /* a call of hy_fault_backend_ops */
extern const fault_kind fault_lost; /* a call of hy_fault_backend_ops and all later ones,
                                       until disarmed */
extern const fault_kind fault_pin;  /* pinning memory for hy_fault_backend_ops */

/* Disarms the fault after a product that returned `status`. Returns 1 if the product made
   the call that was to fail, and 0 if no call was left to fail. Aborts the test unless
   the status is HYBRID_OK or, if the call was made, that of the fault. */
int fault_struck(const fault_kind *fault, hybrid_engine *engine, hybrid_status status);

#endif /* FAULT_H */
