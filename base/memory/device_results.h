/* base/memory/device_results.h - result arrays in device memory, which the caller owns
   until they are freed. They do not count against the cap of device memory. */
#ifndef HY_DEVICE_RESULTS_H
#define HY_DEVICE_RESULTS_H

#include "base/contract/state.h"

#ifdef __cplusplus
extern "C" {
#endif

void hy_device_results_init(hy_device_results *results);
/* Frees all remaining arrays. */
void hy_device_results_close(hy_context *ctx);

/* Allocates `count` elements of `size` bytes, unset, in memory of `device`; *out is NULL
   if count is 0. `what` names the array in messages. Errors are those of
   hy_backend_ops.alloc_result. */
hybrid_status hy_device_result_new(hy_context *ctx, struct hy_backend *device,
                                   int64_t count, size_t size, const char *what,
                                   void **out);

/* Any thread may call this. NULL and pointers to other memory are ignored. */
void hy_device_result_free(hy_context *ctx, void *ptr);

#ifdef __cplusplus
}
#endif
#endif /* HY_DEVICE_RESULTS_H */
