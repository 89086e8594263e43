/* host/backend/host_backend.c - the CPU as a backend: it computes in place, on the pool
   of CPU threads.

   Buffers come from the engine's memory, a lane is a FIFO (host_lane.c), and nothing is
   copied. Freed buffers are pooled, because a new buffer costs page faults and a pooled
   one does not. */
#include "host/backend/host_lane.h"

#include <stdio.h>

#include "base/data/min_max.h"
#include "base/memory/memory.h"
#include "base/memory/device_full.h"
#include "base/memory/shortage.h"

/* Header in the 256 bytes that precede a buffer. */
typedef struct hy_host_block {
    struct hy_host_block *next;
    void *raw;
    size_t bytes; /* size of the buffer */
    int64_t call; /* number of the public call that allocated the buffer */
    hy_space space;
} hy_host_block;

enum { HEADER = 256 };

/* Built-in rates:

       CORE_BPS     bytes per second of memory traffic of one core
       MEMORY_BPS   bytes per second of memory traffic of all cores together
       CORE_FLOPS   operations per second of a core: two for each of 8 fused
                    multiply-adds in a cycle, at 2.5 GHz
       LOOP_S       seconds to wake the workers */
static const double CORE_BPS = 10e9, MEMORY_BPS = 80e9;
static const double CORE_FLOPS = HY_HOST_CYCLE_FLOPS * 2.5e9;
static const double LOOP_S     = 20e-6;

static const int64_t MEMORY = 1 << 30; /* bytes that the buffers of chunks may take if the
                                          caller sets no budget (device_bytes) */

static hy_host_backend *host(hy_backend *self)
{
    return (hy_host_backend *)self;
}

static hy_meter *meter_of(hy_backend *self, hy_space space)
{
    return space == HY_DEVICE ? &self->device : &self->pinned;
}

static void free_block(hy_backend *self, hy_host_block *block)
{
    hy_meter_release(meter_of(self, block->space), block->bytes);
    hy_array_free(self->ctx, block->raw);
}

static void trim(hy_backend *self, int64_t since)
{
    pthread_mutex_lock(&host(self)->lock);
    for (hy_host_block **link = &host(self)->pooled; *link;) {
        hy_host_block *block = *link;
        if (block->call < since) {
            link = &block->next;
            continue;
        }
        *link = block->next;
        free_block(self, block);
    }
    pthread_mutex_unlock(&host(self)->lock);
}

static void trim_scratch(hy_backend *self, int64_t since)
{
    hy_host_scratch_trim(host(self), since);
}

static void close_host(hy_backend *self)
{
    if (!self)
        return;
    trim(self, 0);
    hy_host_scratch_close(host(self));
    pthread_mutex_destroy(&host(self)->lock);
    hy_array_free(self->ctx, self);
}

static hybrid_status open_host(hy_context *ctx, const hybrid_engine_options *options,
                               hy_backend **out)
{
    void *made = NULL;

    HY_TRY(hy_array(ctx, 1, sizeof(hy_host_backend), "the host's backend", &made));
    hy_host_backend *self = made;
    *self = (hy_host_backend){.base = {.ops = &hy_host_backend_ops, .ctx = ctx}};
    self->base.device.cap  = (int64_t)options->device_bytes;
    self->caller_lane      = (hy_lane){&self->base, "run"};
    self->base.caller_lane = &self->caller_lane;
    self->threads          = hy_pool_threads(ctx->pool);
    self->most_threads     = hy_pool_max_threads(ctx->pool);
    snprintf(self->text, sizeof self->text, "%.96s, %d core%s",
             hy_topology_name(hy_pool_topology(ctx->pool)), self->threads,
             self->threads == 1 ? "" : "s");
    pthread_mutex_init(&self->lock, NULL);
    const hybrid_status status = hy_host_scratch_open(self);
    if (status == HYBRID_OK)
        *out = &self->base;
    else
        close_host(&self->base);
    return status;
}

static const char *describe(const hy_backend *self)
{
    return ((const hy_host_backend *)self)->text;
}

/* Returns how many bytes the buffers of chunks may take: the budget that the caller set
   (device_bytes), else MEMORY. If host memory has a budget, too, they take at most half
   of what other arrays leave of it (hy_memory.expected). */
static size_t memory_of(const hy_backend *self)
{
    const hy_meter *all  = &self->ctx->memory.meter;
    const int64_t own    = hy_meter_used(&self->device) + hy_meter_used(&self->pinned);
    const int64_t others = hy_max(hy_meter_used(all), self->ctx->memory.expected) - own;
    const int64_t cap    = self->device.cap > 0 ? self->device.cap : MEMORY;

    if (hy_memory_holds(self->ctx, others + 2 * hy_min(cap, INT64_MAX / 4)))
        return (size_t)cap;
    return (size_t)hy_max(1, hy_min(cap, (hy_meter_cap(all) - others) / 2));
}

static void rates(const hy_backend *self, hy_rates *out)
{
    const int threads = ((const hy_host_backend *)self)->threads;

    *out = (hy_rates){
        .mem_Bps    = threads * CORE_BPS < MEMORY_BPS ? threads * CORE_BPS : MEMORY_BPS,
        .flops      = threads * CORE_FLOPS,
        .launch_s   = LOOP_S,
        .width      = threads,
        .memory     = memory_of(self),
        .core_cache = hy_pool_l2_bytes(self->ctx->pool),
        .cache      = hy_topology_llc_bytes(hy_pool_topology(self->ctx->pool)),
    };
}

/* Takes a freed buffer of this space from the pool: the smallest of those that have at
   least `bytes` and at most twice as many bytes. Returns NULL if there is none. */
static hy_host_block *take_pooled(hy_host_backend *self, hy_space space, size_t bytes)
{
    hy_host_block **best = NULL;

    pthread_mutex_lock(&self->lock);
    for (hy_host_block **b = &self->pooled; *b; b = &(*b)->next)
        if ((*b)->space == space && (*b)->bytes >= bytes && (*b)->bytes / 2 <= bytes &&
            (!best || (*b)->bytes < (*best)->bytes))
            best = b;
    hy_host_block *block = best ? *best : NULL;
    if (block)
        *best = block->next;
    pthread_mutex_unlock(&self->lock);
    return block;
}

static hybrid_status new_block(hy_backend *self, hy_space space, size_t bytes,
                               const char *what, hy_host_block **out)
{
    hy_meter *meter     = meter_of(self, space);
    const hy_meter *all = &self->ctx->memory.meter;
    void *raw           = NULL;

    if (all->cap > 0 && hy_meter_used(all) + (int64_t)bytes > all->cap)
        trim(self, 0); /* frees the pooled buffers, so that they do not make the
                          allocation fail */
    if (!hy_meter_charge(meter, bytes)) {
        trim(self, 0);
        if (!hy_meter_charge(meter, bytes))
            return hy_device_full(self, meter, what, (int64_t)bytes, NULL, NULL);
    }
    const hybrid_status status =
        hy_array(self->ctx, (int64_t)bytes + 2 * HEADER, 1, what, &raw);
    if (status != HYBRID_OK) {
        hy_meter_release(meter, bytes);
        return status;
    }
    char *ptr = (char *)raw + HEADER + (HEADER - (uintptr_t)raw % HEADER) % HEADER;
    *out      = (hy_host_block *)(void *)(ptr - HEADER);
    **out     = (hy_host_block){NULL, raw, bytes, self->ctx->call, space};
    return HYBRID_OK;
}

static hybrid_status alloc(hy_backend *self, hy_space space, size_t bytes,
                           const char *what, hy_buffer *out)
{
    hy_host_block *block = NULL;

    *out = (hy_buffer){NULL, 0, space};
    if (bytes == 0)
        return HYBRID_OK;
    if (bytes > (size_t)INT64_MAX - 2 * HEADER)
        return hy_memory_full(self->ctx, what, INT64_MAX, "");
    block = take_pooled(host(self), space, bytes);
    if (!block)
        HY_TRY(new_block(self, space, bytes, what, &block));
    *out = (hy_buffer){(char *)block + HEADER, bytes, space};
    return HYBRID_OK;
}

static void free_buffer(hy_backend *self, hy_buffer *buffer)
{
    if (buffer->ptr) {
        hy_host_block *block = (hy_host_block *)(void *)((char *)buffer->ptr - HEADER);
        pthread_mutex_lock(&host(self)->lock);
        block->next        = host(self)->pooled;
        host(self)->pooled = block;
        pthread_mutex_unlock(&host(self)->lock);
    }
    *buffer = (hy_buffer){NULL, 0, buffer->space};
}

const hy_backend_ops hy_host_backend_ops = {
    .name         = "host",
    .open         = open_host,
    .close        = close_host,
    .describe     = describe,
    .rates        = rates,
    .measure      = hy_host_measure,
    .alloc        = alloc,
    .free         = free_buffer,
    .trim         = trim,
    .trim_scratch = trim_scratch,
    .lane_open    = hy_host_lane_open,
    .lane_close   = hy_host_lane_close,
    .lane_drain   = hy_host_lane_drain,
    .copy         = NULL,
    .mark_new     = hy_host_mark_new,
    .mark_free    = hy_host_mark_free,
    .mark_set     = hy_host_mark_set,
    .lane_wait    = hy_host_lane_wait,
    .host_wait    = hy_host_wait,
    .mark_ns      = hy_host_mark_ns,
};
