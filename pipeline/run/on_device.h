/* pipeline/run/on_device.h - operands that the caller has in the memory of the device.

   Kernels read rows of A and B and a row-major X where the caller has them, if their
   types and alignment allow it. Otherwise the device makes a copy. */
#ifndef HY_ON_DEVICE_H
#define HY_ON_DEVICE_H

#include "base/contract/backend.h"
#include "base/contract/variant.h"

/* The operands of a run on a device. Arrays that kernels cannot read are replaced by
   copies, which this struct also owns. All fields are zero before the first use. */
typedef struct hy_converted {
    hy_buffer second;  /* copies of B's offsets and columns, or a copy of X */
    hy_buffer columns; /* copy of A's columns, in 32 bits */
    hybrid_csr a, b;
    hybrid_dense x;
} hy_converted;

/* Enqueues the copies that the problem's operands need, and makes the problem use them:
   `on_device` of its sources, and image_memory for a copy of X. problem->image must be
   set before. Buffers are allocated when they are first needed and serve later problems
   with the same patterns. */
hybrid_status hy_on_device_begin(hy_lane *lane, hy_converted *converted,
                                 hy_problem *problem);

/* Frees the buffers. No work on the device may still use them. */
void hy_on_device_end(hy_backend *backend, hy_converted *converted);

#endif /* HY_ON_DEVICE_H */
