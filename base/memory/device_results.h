/* base/memory/device_results.h - arrays of results in the memory of devices, which the caller has
   until he frees them. They are not counted: that memory is his. */
#ifndef HY_DEVICE_RESULTS_H
#define HY_DEVICE_RESULTS_H

#include <pthread.h>

#include "hybrid_spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hy_backend;
struct hy_context;

/* Of one engine. */
typedef struct hy_device_results {
    pthread_mutex_t lock;
    struct hy_device_array *first;
} hy_device_results;

void hy_device_results_init(hy_device_results *kept);
/* Frees all that are left. */
void hy_device_results_close(struct hy_context *ctx);

/* An array of so many elements in the memory of that device, unset; *out is NULL if there
   are none. `what` names the array in sentences. */
hybrid_status hy_device_result_new(struct hy_context *ctx, struct hy_backend *device,
                          int64_t count, size_t size, const char *what,
                          void **out);

/* By any thread. NULL is fine, and so are pointers that it never gave. */
void hy_device_result_free(struct hy_context *ctx, void *ptr);

#ifdef __cplusplus
}
#endif
#endif /* HY_DEVICE_RESULTS_H */
