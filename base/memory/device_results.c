/* base/memory/device_results.c - arrays of results in the memory of devices. */
#include "base/memory/device_results.h"

#include "base/contract/backend.h"

typedef struct hy_device_array {
    struct hy_device_array *next;
    hy_backend *device;
    void *ptr;
} hy_device_array;

void hy_device_results_init(hy_device_results *kept)
{
    pthread_mutex_init(&kept->lock, NULL);
    kept->first = NULL;
}

static void drop(hy_context *ctx, hy_device_array *array)
{
    array->device->ops->drop(array->device, array->ptr);
    hy_array_free(ctx, array);
}

void hy_device_results_close(hy_context *ctx)
{
    hy_device_results *kept = &ctx->kept;

    while (kept->first) {
        hy_device_array *array = kept->first;
        kept->first            = array->next;
        drop(ctx, array);
    }
    pthread_mutex_destroy(&kept->lock);
}

hybrid_status hy_device_result_new(hy_context *ctx, hy_backend *device, int64_t count,
                                   size_t size, const char *what, void **out)
{
    hy_device_results *kept = &ctx->kept;
    void *memory;

    *out = NULL;
    if (count == 0)
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, 1, sizeof(hy_device_array), "an array's record", &memory));
    hy_device_array *array = memory;
    const hybrid_status status =
        device->ops->keep(device, (size_t)count * size, what, out);
    if (status != HYBRID_OK) {
        hy_array_free(ctx, memory);
        return status;
    }
    pthread_mutex_lock(&kept->lock);
    *array      = (hy_device_array){kept->first, device, *out};
    kept->first = array;
    pthread_mutex_unlock(&kept->lock);
    return HYBRID_OK;
}

void hy_device_result_free(hy_context *ctx, void *ptr)
{
    hy_device_results *kept = &ctx->kept;
    hy_device_array **link  = &kept->first;

    if (!ptr)
        return;
    pthread_mutex_lock(&kept->lock);
    while (*link && (*link)->ptr != ptr)
        link = &(*link)->next;
    hy_device_array *array = *link;
    if (array)
        *link = array->next;
    pthread_mutex_unlock(&kept->lock);
    if (array)
        drop(ctx, array);
}
