/* tests/support/fake/fake_engine.c - engines that prefer the fake devices. */
#include "engine/api/engine.h"
#include "support/fake/fake_backend.h"
#include "support/engines/listed.h"
#include "support/fake/settings.h"

/* Gives each device less memory than the one before, and makes the second device the
   fastest. */
static void make_uneven(hybrid_engine *engine)
{
    for (int i = 0; i < engine->device_count; i++) {
        hy_backend *device       = engine->devices[i];
        const double times       = i == 1 ? 2 : 1.0 / (1 + i);
        device->measured.h2d_Bps = 50e9 * times;
        device->measured.d2h_Bps = 50e9 * times;
        device->device.cap -= device->device.cap / 16 * i / 256 * 256;
    }
    settings_of(engine)->all_devices = 1;
}

hybrid_status fake_engine_open(const hybrid_engine_options *options,
                               const hy_backend_ops *const *backends,
                               const hy_variant *const *variants, hybrid_engine **engine)
{
    hybrid_engine_options several = *options;
    int devices[LISTED_MOST];

    const int free =
        !several.devices && several.device_count == 0 && backends[0]->copy && backends[1];
    const int listed = free ? listed_devices(devices) : 0;
    if (listed > 0) {
        several.devices      = devices;
        several.device_count = listed;
    }
    HY_TRY(hy_engine_open(&several, backends, variants, engine));
    settings_of(*engine)->device_first = 1;
    if (listed > 0)
        make_uneven(*engine);
    for (int i = 0; i < (*engine)->device_count; i++)
        if ((*engine)->devices[i]->measured.launch_s <= 0)
            (*engine)->devices[i]->measured.launch_s = 1e-9;
    return HYBRID_OK;
}
