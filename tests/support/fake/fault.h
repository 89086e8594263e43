/* tests/support/fake/fault.h - ways to make one call of a product fail. */
#ifndef FAULT_H
#define FAULT_H

#include <stdint.h>

#include "engine/api/engine.h"

/* A way to make a call fail. Functions of test backends and allocations are such calls.

   The number of calls of a product may depend on timing, and a product succeeds in spite
   of some failures. A test that makes each call fail in turn therefore ends when a
   product did not reach the call that was to fail, whatever the product's status is. */
typedef struct fault_kind {
    /* Makes call number n from now on fail, counted from 1; 0: no call fails. */
    void (*arm)(hybrid_engine *engine, int64_t n);
    /* Returns 1 after arm() until the call that is to fail has been made, then 0. */
    int (*is_armed)(const hybrid_engine *engine);
    hybrid_status status; /* status of a product that fails because this call failed */
} fault_kind;

extern const fault_kind fault_allocation; /* an allocation of host memory fails */
extern const fault_kind fault_device;     /* one call of hy_fault_backend_ops
                                             (fake_backend.h) fails */
extern const fault_kind fault_lost; /* one call of hy_fault_backend_ops and all later
                                       ones fail, until the next arm() */
extern const fault_kind fault_pin;  /* one call of hy_fault_backend_ops that pins memory
                                       fails */

/* Ends the failing of calls after a product that returned `status`. Returns 1 if the
   product made the call that was to fail, else 0. Aborts the test unless the status is
   HYBRID_OK or, if the call was made, that of the fault. */
int fault_struck(const fault_kind *fault, hybrid_engine *engine, hybrid_status status);

#endif /* FAULT_H */
