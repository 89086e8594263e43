/* tests/support/engines/open_cuda.c - engines on the GPU. */
#include "support/engines/open_cuda.h"

#include <stdio.h>

#include "engine/api/engine.h"
#include "support/engines/listed.h"
#include "support/fake/settings.h"

/* Opens an engine on the devices of HYBRID_DEVICES, or on the default device. All of
   these devices compute. */
static hybrid_status open_with(hybrid_engine_options options, hybrid_engine **engine)
{
    char why[256] = "";
    int devices[LISTED_MOST];
    const int count = listed_devices(devices);

    options.devices            = count > 0 ? devices : NULL;
    options.device_count       = count;
    options.backend            = HYBRID_CUDA;
    options.message            = why;
    options.message_size       = sizeof why;
    const hybrid_status status = hybrid_engine_create(&options, engine);
    if (status != HYBRID_OK)
        fprintf(stderr, "%s\n", why);
    else
        settings_of(*engine)->all_devices = count > 0;
    return status;
}

hybrid_status open_cuda(size_t device_bytes, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.device_bytes = device_bytes;
    return open_with(options, engine);
}

hybrid_status open_cuda_rates(const char *rates, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.rates_path = rates;
    return open_with(options, engine);
}
