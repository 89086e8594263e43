/* base/memory/device_results.h - result arrays in device memory. The caller owns them
   until they are freed. They do not count against the budget of device memory. */
#ifndef HY_DEVICE_RESULTS_H
#define HY_DEVICE_RESULTS_H

#include "base/contract/state.h"

#ifdef __cplusplus
extern "C" {
#endif

void hy_device_results_init(hy_device_results *results);
/* Frees all arrays of the list that the caller has not freed. */
void hy_device_results_close(hy_context *ctx);

/* Allocates `count` elements of `size` bytes, with undefined contents, in memory of
   `device`. *out is NULL if count is 0. `what` names the array in messages. Errors are
   those of hy_backend_ops.alloc_result. */
hybrid_status hy_device_result_new(hy_context *ctx, struct hy_backend *device,
                                   int64_t count, size_t size, const char *what,
                                   void **out);

/* Frees an array of this list. Ignores NULL and pointers to other memory. Any thread may
   call it. */
void hy_device_result_free(hy_context *ctx, void *ptr);

#ifdef __cplusplus
}
#endif
#endif /* HY_DEVICE_RESULTS_H */
