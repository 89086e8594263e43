/* engine/device/devices.c - opens and closes the devices of an engine. */
#include <stdio.h>
#include <string.h>

#include "base/data/min_max.h"
#include "base/memory/cgroup.h"
#include "base/threads/at_once.h"
#include "engine/api/engine.h"

_Static_assert((int)HY_AT_ONCE >= (int)HY_MAX_DEVICES,
               "all devices open and close at once");

static void close_one(void *engine, int i)
{
    hy_backend *device = ((hybrid_engine *)engine)->devices[i];

    device->ops->close(device);
}

void hy_devices_close(hybrid_engine *engine)
{
    hy_at_once(engine->device_count, close_one, engine);
    engine->device_count = 0;
    engine->device       = NULL;
}

/* ---- devices that do not open ---- */

/* Returns 1 if a call that opens a device failed because of the device. */
static int is_of_device(hybrid_status status)
{
    return status == HYBRID_NO_DEVICE || status == HYBRID_DEVICE_FAILED ||
           status == HYBRID_NO_DEVICE_MEMORY;
}

/* Moves the sentence about a device that did not open to engine->left_out. Sentences that
   devices have in common, such as one about CUDA, are kept once. */
static void leave_out(hybrid_engine *engine)
{
    const char *why   = engine->ctx.message.text;
    const size_t used = strlen(engine->left_out);

    if (!strstr(engine->left_out, why))
        snprintf(engine->left_out + used, HY_DEVICES_TEXT - used, "%s%s",
                 used > 0 ? "; " : "", why);
    hy_message_clear(&engine->ctx.message);
}

/* ---- open ---- */

typedef struct waking {
    const hybrid_engine_options *options;
    const hy_backend_ops *ops;
} waking;

static void wake_one(void *arg, int i)
{
    const waking *w = arg;

    w->ops->wake(w->options->devices[i]);
}

/* Starts several devices at once, since each may take some tenths of a second. */
static void wake_listed(const hybrid_engine_options *options, const hy_backend_ops *ops)
{
    waking w = {options, ops};

    if (options->device_count > 1 && ops->wake)
        hy_at_once((int)options->device_count, wake_one, &w);
}

/* Opens options->device as the next device of the engine. */
static hybrid_status open_one(hybrid_engine *engine, const hybrid_engine_options *options,
                              const hy_backend_ops *ops)
{
    hy_backend *device         = NULL;
    const hybrid_status status = ops->open(&engine->ctx, options, &device);

    if (status == HYBRID_OK) {
        device->index = engine->device_count;
        device->node  = hy_topology_node_of(engine->topology, "", device->bus);
        engine->devices[engine->device_count++] = device;
    } else if (options->devices_optional && is_of_device(status)) {
        leave_out(engine);
        return HYBRID_OK;
    }
    return status;
}

/* Opens the devices of the list in the options, or options->device if the list is
   empty. */
static hybrid_status open_listed(hybrid_engine *engine,
                                 const hybrid_engine_options *options,
                                 const hy_backend_ops *ops)
{
    const int listed          = (int)options->device_count;
    hybrid_engine_options one = *options;

    wake_listed(options, ops);
    for (int i = 0; i == 0 || i < listed; i++) {
        one.device = listed > 0 ? options->devices[i] : options->device;
        HY_TRY(open_one(engine, &one, ops));
    }
    if (engine->device_count > 0)
        engine->device = engine->devices[0];
    return HYBRID_OK;
}

/* Returns 1 if the engine has several devices, and each device can read the memory of all
   other devices. */
static int can_relay(const hybrid_engine *engine)
{
    hy_backend *const *devices = engine->devices;

    for (int i = 0; i < engine->device_count; i++)
        for (int k = 0; k < engine->device_count; k++)
            if (i != k && !hy_backend_reads(devices[i], devices[k]))
                return 0;
    return engine->device_count > 1;
}

static void describe(hybrid_engine *engine)
{
    size_t used = 0;

    for (int i = 0; i < engine->device_count && used < HY_DEVICES_TEXT; i++) {
        const hy_backend *device = engine->devices[i];
        char *to                 = engine->device_text + used;
        const size_t room        = HY_DEVICES_TEXT - used;
        const char *words        = device->ops->describe(device);
        used +=
            (size_t)(engine->device_count == 1
                         ? snprintf(to, room, "%s", words)
                         : snprintf(to, room, "%s%d: %s", i > 0 ? "; " : "", i, words));
    }
}

/* Returns 1 if the options list devices, and all of these must open. */
static int all_must_open(const hybrid_engine_options *options)
{
    return options->device_count > 0 && !options->devices_optional;
}

/* Opens the devices of one kind of backend. If none of this kind opens,
   engine->device_text says why. */
static hybrid_status open_kind(hybrid_engine *engine,
                               const hybrid_engine_options *options,
                               const hy_backend_ops *ops)
{
    const hybrid_status status = open_listed(engine, options, ops);

    if (status == HYBRID_NO_DEVICE && !all_must_open(options))
        leave_out(engine);
    else
        HY_TRY(status);
    if (engine->device)
        describe(engine);
    else
        snprintf(engine->device_text, HY_DEVICES_TEXT, "%s", engine->left_out);
    engine->relays = can_relay(engine);
    return HYBRID_OK;
}

hybrid_status hy_devices_open(hybrid_engine *engine, const hybrid_engine_options *options,
                              const hy_backend_ops *const *backends)
{
    if (options->backend == HYBRID_HOST)
        return HYBRID_OK;
    snprintf(engine->device_text, HY_DEVICES_TEXT, "this library was built without CUDA");
    const int64_t before = hy_resident_memory();
    for (; backends[1] && !engine->device; backends++)
        HY_TRY(open_kind(engine, options, *backends));
    if (engine->device) {
        engine->opening_bytes = hy_max(0, hy_resident_memory() - before);
        return HYBRID_OK;
    }
    if (options->backend == HYBRID_CUDA || all_must_open(options))
        return hy_fail(&engine->ctx, HYBRID_NO_DEVICE, "no GPU: %s", engine->device_text);
    snprintf(engine->left_out, HY_DEVICES_TEXT, "%s",
             options->devices_optional ? engine->device_text : "");
    return HYBRID_OK;
}
