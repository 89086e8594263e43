/* engine/api/engine.c - opens and closes an engine. */
#include "engine/api/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory/cgroup.h"
#include "base/memory/device_results.h"
#include "base/memory/pinned.h"
#include "base/memory/results.h"
#include "engine/api/check.h"
#include "engine/api/struct_size.h"
#include "engine/api/threads.h"
#include "io/formats/file_format.h"
#include "pipeline/site/lane_set.h"

hy_backend *hy_engine_backend(const hybrid_engine *engine)
{
    return engine->device ? engine->device : engine->host;
}

/* Opens the host, which is the last backend of the table. */
static hybrid_status open_host(hybrid_engine *engine,
                               const hybrid_engine_options *options,
                               const hy_backend_ops *const *backends)
{
    while (backends[1])
        backends++;
    HY_TRY((*backends)->open(&engine->ctx, options, &engine->host));
    engine->host->node = -1;
    if (options->backend == HYBRID_HOST)
        snprintf(engine->device_text, HY_DEVICES_TEXT, "%s",
                 (*backends)->describe(engine->host));
    return HYBRID_OK;
}

/* Loads measured speeds of all devices and the host from files of rates. The host takes
   its speeds from the file of the first device, which is loaded last. */
static hybrid_status load_rates(hybrid_engine *engine, const char *path)
{
    hy_rates_source other;

    for (int i = engine->device_count - 1; i > 0; i--)
        HY_TRY(hy_rates_load(path, engine->host, engine->devices[i], &other));
    return hy_rates_load(path, engine->host, engine->device, &engine->rates);
}

/* Finds the folder for temporary files. A folder that the options name must be usable at
   once; a default is used by few calls, which report an error of their own. */
static hybrid_status find_spill_path(hybrid_engine *engine, const char *wanted)
{
    hy_context *ctx     = &engine->ctx;
    const char *usual   = getenv("TMPDIR");
    const char *path    = wanted ? wanted : usual && usual[0] ? usual : "/tmp";
    const size_t length = strlen(path);
    struct stat st;

    if (length == 0 || length >= HY_PATH_BYTES)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "engine options: spill_path has %zu bytes, and must have 1 to %d",
                       length, HY_PATH_BYTES - 1);
    if (wanted && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        errno = ENOTDIR;
    else if (!wanted || access(path, W_OK | X_OK) == 0)
        errno = 0;
    if (errno != 0)
        return hy_fail(ctx, HYBRID_IO_FAILED,
                       "engine options: spill_path '%s' is no folder in which files can "
                       "be made: %s",
                       path, strerror(errno));
    memcpy(engine->spill_path, path, length + 1);
    ctx->spill_path = engine->spill_path;
    return HYBRID_OK;
}

static hybrid_status open_parts(hybrid_engine *engine,
                                const hybrid_engine_options *options,
                                const hy_backend_ops *const *backends)
{
    hy_context *ctx = &engine->ctx;
    int threads, reserve;

    HY_TRY(hy_check_engine_options(ctx, options));
    HY_TRY(find_spill_path(engine, options->spill_path));
    ctx->memory.allocator = options->allocator;
    ctx->memory.strict    = options->host_bytes > 0;
    ctx->memory.limit     = ctx->memory.strict ? NULL : hy_memory_limit;
    ctx->memory.meter.cap =
        ctx->memory.strict ? (int64_t)options->host_bytes : hy_memory_limit(1);
    engine->wanted = options->backend;
    HY_TRY(hy_topology_open(ctx, &engine->topology));
    HY_TRY(hy_devices_open(engine, options, backends));
    HY_TRY(hy_thread_count(ctx, engine->topology, options->threads, engine->device_count,
                           &threads, &reserve));
    HY_TRY(hy_pool_create(ctx, engine->topology, threads, reserve, &ctx->pool));
    HY_TRY(hy_results_create(ctx, &ctx->results));
    if (engine->device && engine->device->ops->pin) {
        hy_results_pin_for(ctx, engine->device, engine->device_count > 1);
        ctx->pins.device = engine->device;
    }
    HY_TRY(open_host(engine, options, backends));
    return load_rates(engine, options->rates_path);
}

/* Opens an engine with `options`. *o, which has the defaults before, receives the
   options as far as they can be read, also if opening fails. */
static hybrid_status open_with(hybrid_engine *engine,
                               const hybrid_engine_options *options,
                               const hy_backend_ops *const *backends,
                               hybrid_engine_options *o)
{
    if (options)
        HY_TRY(hy_struct_read(&engine->ctx, &hy_engine_options_struct, options, o));
    return open_parts(engine, o, backends);
}

const hy_settings hy_usual_settings = {.prefetch_bytes    = HY_PREFETCH_BYTES,
                                       .counted_bytes     = HY_COUNTED_BYTES,
                                       .index_max         = INT32_MAX,
                                       .hypersparse_bytes = HY_HYPERSPARSE_BYTES,
                                       .stream_entries    = HY_STREAM_ENTRIES,
                                       .stream_chunks     = HY_STREAM_CHUNKS,
                                       .formats           = hy_file_formats};

hybrid_status hy_engine_open(const hybrid_engine_options *options,
                             const hy_backend_ops *const *backends,
                             const hy_variant *const *variants, hybrid_engine **out)
{
    hybrid_engine_options o = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine   = calloc(1, sizeof *engine);

    if (!engine)
        return HYBRID_NO_MEMORY;
    hy_message_init(&engine->ctx.message);
    hy_progress_init(&engine->ctx.progress);
    hy_device_results_init(&engine->ctx.device_results);
    pthread_mutex_init(&engine->ctx.tenants_lock, NULL);
    pthread_mutex_init(&engine->ctx.relief_lock, NULL);
    engine->ctx.relieve = hy_idle_relieve;
    hy_spaces_init(&engine->spaces, &engine->ctx, engine->devices, &engine->device_count,
                   engine->device_text);
    engine->process            = getpid();
    engine->variants           = variants;
    const hybrid_status status = open_with(engine, options, backends, &o);
    if (status == HYBRID_OK) {
        *out = engine;
        return HYBRID_OK;
    }
    if (o.message && o.message_size > 0)
        snprintf(o.message, o.message_size, "%s", engine->ctx.message.text);
    hybrid_engine_destroy(engine);
    return status;
}

int hy_engine_inherited(const hybrid_engine *engine)
{
    return engine->process != getpid();
}

int hy_engine_barred(const hybrid_engine *engine)
{
    return engine->ctx.progress.calling || hy_engine_inherited(engine);
}

/* Refuses a call in a forked child. Does not lock the message, because a thread of the
   parent may have held its lock at the fork. */
static hybrid_status refuse_child(hybrid_engine *engine)
{
    snprintf(engine->ctx.message.text, sizeof engine->ctx.message.text,
             "the engine was created by process %ld; this process, %ld, is a fork of it "
             "and must create its own engine",
             (long)engine->process, (long)getpid());
    return HYBRID_BAD_STATE;
}

hybrid_status hy_engine_begin(hybrid_engine *engine)
{
    if (!engine)
        return HYBRID_BAD_ARGUMENT;
    if (hy_engine_inherited(engine))
        return refuse_child(engine);
    if (hy_engine_barred(engine)) /* the message belongs to the outer call, which is
                                     running the caller's function */
        return HYBRID_BAD_STATE;
    hy_message_clear(&engine->ctx.message);
    engine->ctx.note[0] = '\0';
    __atomic_store_n(&engine->ctx.progress.written, 0, __ATOMIC_RELAXED);
    engine->ctx.call++;
    return HYBRID_OK;
}

/* Ends the call. Writes the sentence about a cancelled call here, because planning may
   clear the sentences of attempts that failed. If progress.answer is 0,
   hybrid_spgemm_each() has cancelled the call and has written the sentence. */
hybrid_status hy_engine_end(hybrid_engine *engine, hybrid_status status)
{
    hy_progress *p = &engine->ctx.progress;

    if (status == HYBRID_CANCELLED && p->answer != 0)
        hy_fail(&engine->ctx, status,
                "the caller's function returned %d after %lld of %lld rows", p->answer,
                (long long)p->told, (long long)p->rows);
    hy_progress_end(p, status);
    hy_narrow_free(&engine->ctx, &engine->narrow);
    hy_spaces_end(&engine->spaces);
    if (status != HYBRID_OK) {
        hy_idle_undo(engine);
    }
    return status;
}

hybrid_status hybrid_engine_create(const hybrid_engine_options *options,
                                   hybrid_engine **engine)
{
    if (!engine)
        return HYBRID_BAD_ARGUMENT;
    return hy_engine_open(options, hy_backends, hy_variants, engine);
}

void hybrid_engine_destroy(hybrid_engine *engine)
{
    if (!engine)
        return;
    hy_context *ctx = &engine->ctx;
    if (hy_engine_inherited(engine)) {
        hy_results_leave(ctx->results);
        free(engine);
        return;
    }
    if (hy_engine_barred(engine))
        return;
    hy_lane_sets_trim(ctx, 0); /* before the devices and the pool are closed, which lanes
                                  use */
    hy_pins_close(ctx);        /* unpins the caller's memory while its device is still
                                  open */
    hy_device_results_close(ctx);
    hy_results_destroy(ctx, ctx->results);
    hy_devices_close(engine);
    if (engine->host)
        engine->host->ops->close(engine->host);
    hy_pool_destroy(ctx, ctx->pool);
    hy_topology_close(ctx, engine->topology);
    hy_message_destroy(&ctx->message);
    pthread_mutex_destroy(&ctx->tenants_lock);
    pthread_mutex_destroy(&ctx->relief_lock);
    free(engine);
}

const char *hybrid_engine_message(const hybrid_engine *engine)
{
    if (!engine)
        return "the engine is NULL";
    if (engine->ctx.progress.calling)
        return "the engine is calling the caller's function (of hybrid_spgemm_each() or "
               "hybrid_engine_progress()) and accepts no other call until the function "
               "returns";
    return engine->ctx.message.text;
}

const char *hybrid_engine_note(const hybrid_engine *engine)
{
    return engine ? engine->ctx.note : "";
}

hybrid_backend hybrid_engine_backend(const hybrid_engine *engine)
{
    return engine && engine->device ? HYBRID_CUDA : HYBRID_HOST;
}

const char *hybrid_engine_device(const hybrid_engine *engine)
{
    return engine ? engine->device_text : "the engine is NULL";
}

int hybrid_engine_threads(const hybrid_engine *engine)
{
    return engine ? hy_pool_threads(engine->ctx.pool) : 0;
}

void hybrid_engine_stream(hybrid_engine *engine, void *stream)
{
    if (engine && !hy_engine_barred(engine))
        engine->spaces.stream = stream;
}

int64_t hybrid_engine_written(const hybrid_engine *engine)
{
    return engine ? __atomic_load_n(&engine->ctx.progress.written, __ATOMIC_RELAXED) : 0;
}

void hybrid_engine_trace(hybrid_engine *engine, hybrid_trace_fn fn, void *user)
{
    if (!engine || hy_engine_barred(engine))
        return;
    engine->trace      = fn;
    engine->trace_user = user;
}

void hybrid_engine_progress(hybrid_engine *engine, hybrid_progress_fn fn, void *user)
{
    if (!engine || hy_engine_barred(engine))
        return;
    engine->ctx.progress.fn   = fn;
    engine->ctx.progress.user = user;
}
