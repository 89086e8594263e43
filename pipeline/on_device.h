/* pipeline/on_device.h - operands in the memory of the device that computes.

   Kernels read them where they are, if they can: rows of A, B, and an X in rows. An X that
   lies in another way is brought to its image by the device itself. */
#ifndef HY_ON_DEVICE_H
#define HY_ON_DEVICE_H

#include "pipeline/site.h"

/* Operands of a run with chunks, whose problem is as it lies on this site: where kernels find
   them. What the device does for that is enqueued ahead of all chunks. */
hybrid_status hy_on_device_begin(hy_site *site, hy_problem *problem);

#endif /* HY_ON_DEVICE_H */
