/* pipeline/run/on_device.h - operands in the memory of the device that computes.

   Kernels read operands where the caller has them, if they can: rows of A, B, and an X in
   rows. The device itself copies an operand that lies in another way. */
#ifndef HY_ON_DEVICE_H
#define HY_ON_DEVICE_H

#include "base/contract/backend.h"
#include "base/contract/variant.h"

/* Copies of the operands that kernels cannot read where they are, and the operands with
   these copies in place of the caller's arrays. All zero before the first use. */
typedef struct hy_converted {
    hy_buffer second;  /* B's offsets and columns, or X */
    hy_buffer columns; /* A's columns */
    hybrid_csr a, b;
    hybrid_dense x;
} hy_converted;

/* Enqueues the copies that the problem's operands need, and makes the problem refer to
   them: device_a, device_b, device_x and shared. problem->image is known. The buffers are
   made when they are first needed, and serve later problems with the same patterns. */
hybrid_status hy_on_device_begin(hy_lane *lane, hy_converted *converted,
                                 hy_problem *problem);

/* Frees the buffers. No work on the device uses them any more. */
void hy_on_device_end(hy_backend *backend, hy_converted *converted);

#endif /* HY_ON_DEVICE_H */
