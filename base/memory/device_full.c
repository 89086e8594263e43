/* base/memory/device_full.c - the error sentence for a device with too little memory. */
#include "base/memory/device_full.h"

#include <stdio.h>

#include "base/memory/shortage.h"

/* Adds the name of the device to the sentence of `s`. */
static hybrid_status fail(const hy_backend *device, hy_shortage *s)
{
    char memory[HY_BACKEND_NAME + 32];

    snprintf(memory, sizeof memory, "device memory%s%s", device->name[0] ? " of " : "",
             device->name);
    s->memory = memory;
    return hy_short(device->ctx, HYBRID_NO_DEVICE_MEMORY, s);
}

hybrid_status hy_device_full(const hy_backend *device, const hy_meter *meter,
                             const char *what, int64_t bytes, const char *facts,
                             const char *also)
{
    hy_shortage s = {.what   = what,
                     .bytes  = bytes,
                     .meter  = meter,
                     .facts  = facts,
                     .remedy = "raise device_bytes (--device-memory)",
                     .also   = also};

    return fail(device, &s);
}

hybrid_status hy_device_short(const hy_backend *device, const char *what, int64_t bytes,
                              const char *facts, const char *remedy)
{
    hy_shortage s = {.what = what, .bytes = bytes, .facts = facts, .remedy = remedy};

    return fail(device, &s);
}
