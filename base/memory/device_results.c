/* base/memory/device_results.c - keeps a list of result arrays in device memory. */
#include "base/memory/device_results.h"

#include "base/contract/backend.h"

typedef struct hy_device_array {
    struct hy_device_array *next;
    hy_backend *device;
    void *ptr;
} hy_device_array;

void hy_device_results_init(hy_device_results *results)
{
    pthread_mutex_init(&results->lock, NULL);
    results->first = NULL;
}

static void drop(hy_context *ctx, hy_device_array *array)
{
    array->device->ops->free_result(array->device, array->ptr);
    hy_array_free(ctx, array);
}

void hy_device_results_close(hy_context *ctx)
{
    hy_device_results *results = &ctx->device_results;

    while (results->first) {
        hy_device_array *array = results->first;
        results->first         = array->next;
        drop(ctx, array);
    }
    pthread_mutex_destroy(&results->lock);
}

hybrid_status hy_device_result_new(hy_context *ctx, hy_backend *device, int64_t count,
                                   size_t size, const char *what, void **out)
{
    hy_device_results *results = &ctx->device_results;
    void *memory;

    *out = NULL;
    if (count == 0)
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, 1, sizeof(hy_device_array), "an array's record", &memory));
    hy_device_array *array = memory;
    const hybrid_status status =
        device->ops->alloc_result(device, (size_t)count * size, what, out);
    if (status != HYBRID_OK) {
        hy_array_free(ctx, memory);
        return status;
    }
    pthread_mutex_lock(&results->lock);
    *array         = (hy_device_array){results->first, device, *out};
    results->first = array;
    pthread_mutex_unlock(&results->lock);
    return HYBRID_OK;
}

void hy_device_result_free(hy_context *ctx, void *ptr)
{
    hy_device_results *results = &ctx->device_results;
    hy_device_array **link     = &results->first;

    if (!ptr)
        return;
    pthread_mutex_lock(&results->lock);
    while (*link && (*link)->ptr != ptr)
        link = &(*link)->next;
    hy_device_array *array = *link;
    if (array)
        *link = array->next;
    pthread_mutex_unlock(&results->lock);
    if (array)
        drop(ctx, array);
}
