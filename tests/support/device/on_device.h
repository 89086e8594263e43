/* tests/support/device/on_device.h - operands in the memory of a fake device. */
#ifndef ON_DEVICE_H
#define ON_DEVICE_H

#include "hybrid_spmm.h"

/* Copies on device `device`. Arrays begin `skew` values after a page. To be freed. */
hybrid_csr on_device_csr(int device, const hybrid_csr *A, size_t skew);
/* The same with columns of 64 bits. */
hybrid_csr on_device_wide(int device, const hybrid_csr *A, size_t skew);
void on_device_csr_free(hybrid_csr *A);
hybrid_dense on_device_dense(int device, const hybrid_dense *X, size_t skew);

/* The copy's elements, gaps too, to a host matrix of its shape; and the copy is freed. */
void on_device_take(hybrid_dense *there, hybrid_dense *to);

/* A host copy of a result that is there, malloc's. */
hybrid_csr on_device_fetch(const hybrid_csr *C);

#endif /* ON_DEVICE_H */
