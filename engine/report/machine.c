/* engine/report/machine.c - describes an engine's backends and limits:
   hybrid_engine_machine(). */
#include <unistd.h>

#include "base/memory/cgroup.h"
#include "base/data/min_max.h"
#include "base/memory/results.h"
#include "engine/api/engine.h"
#include "engine/api/struct_size.h"

static int64_t occupied(const hybrid_engine *engine)
{
    int64_t bytes = 0;

    for (int i = 0; i < engine->device_count; i++)
        bytes += engine->devices[i]->occupied;
    return bytes;
}

hybrid_status hybrid_engine_machine(const hybrid_engine *engine, hybrid_machine *out)
{
    if (!engine || !out || !hy_struct_fits(&hy_machine_struct, out->struct_size))
        return HYBRID_BAD_ARGUMENT;
    if (hy_engine_barred(engine))
        return HYBRID_BAD_STATE;

    const hy_context *ctx      = &engine->ctx;
    const hy_meter *meter      = &ctx->memory.meter;
    const hy_backend *computes = engine->device ? engine->device : engine->host;
    const int64_t pooled       = hy_results_pooled_bytes(ctx->results);
    const int is_told          = computes->measured.date[0] || engine->rates.ignored;
    const hybrid_machine found = {
        .struct_size       = sizeof found,
        .processors        = (int)hy_max(1, sysconf(_SC_NPROCESSORS_ONLN)),
        .cores             = hy_topology_cores(engine->topology),
        .memory_bytes      = hy_machine_memory(),
        .group_bytes       = hy_cgroup_memory(""),
        .host_bytes        = hy_meter_cap(meter),
        .host_bytes_used   = hy_max(0, hy_meter_used(meter) - pooled),
        .rates_path        = is_told ? engine->rates.path : "",
        .rates_date        = computes->measured.date,
        .with_cuda         = HYBRID_WITH_CUDA,
        .device_count      = engine->device_count,
        .left_out          = engine->left_out,
        .cuda_host_bytes   = engine->opening_bytes,
        .cuda_device_bytes = occupied(engine),
        .with_hdf5         = HYBRID_WITH_HDF5,
        .with_zstd         = HYBRID_WITH_ZSTD};

    hy_struct_write(&hy_machine_struct, &found, out);
    return HYBRID_OK;
}
