/* tests/support/device/on_device.h - operands in the memory of a fake device. */
#ifndef ON_DEVICE_H
#define ON_DEVICE_H

#include "hybrid_spmm.h"

/* Returns a copy of A on device `device`. Each array begins `skew` of its elements after
   a page boundary. on_device_csr_free() frees them. */
hybrid_csr on_device_csr(int device, const hybrid_csr *A, size_t skew);
/* Works as on_device_csr(), but the column indices have 64 bits. */
hybrid_csr on_device_wide(int device, const hybrid_csr *A, size_t skew);
void on_device_csr_free(hybrid_csr *A);
hybrid_dense on_device_dense(int device, const hybrid_dense *X, size_t skew);

/* Copy all elements of a matrix on a fake device, gaps included, to `to`, a host matrix
   of the same shape. on_device_take() also frees the device copy. */
void on_device_read(const hybrid_dense *there, hybrid_dense *to);
void on_device_take(hybrid_dense *there, hybrid_dense *to);

/* Returns a host copy of a result that lies on a fake device. Its arrays are allocated
   with malloc(). */
hybrid_csr on_device_fetch(const hybrid_csr *C);

#endif /* ON_DEVICE_H */
