/* tests/support/fake/fake_backend.c - memory of the fake device, which is host memory,
   and copies. */
#include "tests/support/fake/fake_backend.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/device_full.h"
#include "base/memory/shortage.h"
#include "tests/support/check/deltas.h"
#include "tests/support/fake/fake_lane.h"
#include "tests/support/fake/fake_memory.h"
#include "tests/support/check/poison.h"

enum { DEFAULT_BYTES = 64 << 20 };

typedef struct block {
    struct block *next;
    char *ptr;
    size_t bytes;
    hy_space space;
} block;

typedef struct fake {
    hy_backend base;
    pthread_mutex_t lock;
    block *blocks; /* list of the memory that this device allocated */
} fake;

static int64_t alive, copied[2], relayed;
static int peerless; /* 1: no device reads the memory of another */

int64_t fake_alive(void)
{
    return __atomic_load_n(&alive, __ATOMIC_RELAXED);
}

int64_t fake_copied(hy_space to)
{
    return __atomic_load_n(&copied[to], __ATOMIC_RELAXED);
}

int64_t fake_relayed(void)
{
    return __atomic_load_n(&relayed, __ATOMIC_RELAXED);
}

void fake_peerless(int on)
{
    __atomic_store_n(&peerless, on, __ATOMIC_RELAXED);
}

void fake_count(int64_t by)
{
    __atomic_fetch_add(&alive, by, __ATOMIC_RELAXED);
}

/* ---- open and close ---- */

/* Takes the host memory of a driver. The memory is never freed. */
static void start_driver(void)
{
    static char *volatile driver; /* static, so that the leak checker finds the memory;
                                     volatile, so that no compiler leaves it out */

    if ((driver = malloc(FAKE_HOST_BYTES)))
        memset(driver, POISON, FAKE_HOST_BYTES);
}

static hybrid_status open_fake(hy_context *ctx, const hybrid_engine_options *options,
                               hy_backend **out)
{
    static pthread_once_t driver = PTHREAD_ONCE_INIT;
    void *memory;

    if (options->device >= FAKE_DEVICES)
        return hy_fail(ctx, HYBRID_NO_DEVICE, "no fake device %d", options->device);
    HY_TRY(hy_array(ctx, 1, sizeof(fake), "fake device", &memory));
    pthread_once(&driver, start_driver);
    fake *self            = memory;
    *self                 = (fake){.base = {.ops = &hy_fake_backend_ops, .ctx = ctx}};
    self->base.reads_host = 1;
    self->base.occupied   = FAKE_OCCUPIED;
    self->base.device.cap = DEFAULT_BYTES / hy_times_listed(options);
    if (options->device_bytes > 0)
        self->base.device.cap = (int64_t)options->device_bytes;
    snprintf(self->base.name, sizeof self->base.name, "fake device %d", options->device);
    pthread_mutex_init(&self->lock, NULL);
    fake_count(1);
    *out = &self->base;
    return HYBRID_OK;
}

static void close_fake(hy_backend *base)
{
    if (!base)
        return;
    pthread_mutex_destroy(&((fake *)base)->lock);
    hy_array_free(base->ctx, base);
    fake_count(-1);
}

static const char *describe(const hy_backend *self)
{
    (void)self;
    return "a device made of host memory";
}

static void rates(const hy_backend *self, hy_rates *out)
{
    *out = (hy_rates){.h2d_Bps      = 50e9,
                      .d2h_Bps      = 50e9,
                      .both_Bps     = 90e9,
                      .mem_Bps      = 1e12,
                      .flops        = 1e13,
                      .launch_s     = 5e-6,
                      .width        = 100,
                      .block_memory = 227 << 10,
                      .memory       = (size_t)self->device.cap};
}

static hybrid_status measure(hy_backend *self, hy_measured *out)
{
    (void)self;
    out->h2d_Bps  = 20e9;
    out->d2h_Bps  = 21e9;
    out->both_Bps = 35e9;
    out->mem_Bps  = 5e11;
    out->launch_s = 3e-6;
    return HYBRID_OK;
}

/* ---- memory ---- */

static hybrid_status out_of(hy_backend *self, hy_space space, const char *what,
                            size_t bytes)
{
    if (space == HY_DEVICE)
        return hy_device_full(self, &self->device, what, (int64_t)bytes,
                              "the device is a fake", NULL);
    return hy_memory_refused(self->ctx, what, (int64_t)bytes, "a fake pins no more");
}

static hy_meter *meter_of(hy_backend *self, hy_space space)
{
    return space == HY_DEVICE ? &self->device : &self->pinned;
}

/* Undoes the counting of a block. Pinned memory counts as host memory, too. */
static void uncount(hy_backend *self, hy_space space, size_t bytes)
{
    hy_meter_release(meter_of(self, space), bytes);
    if (space == HY_PINNED)
        hy_meter_release(&self->ctx->memory.meter, bytes);
}

static hybrid_status alloc_block(hy_backend *base, hy_space space, size_t bytes,
                                 const char *what, hy_buffer *out)
{
    fake *self = (fake *)base;
    void *ptr  = NULL;

    if (space == HY_PINNED && !hy_memory_count(base->ctx, bytes))
        return hy_memory_full(base->ctx, what, (int64_t)bytes, "");
    if (!hy_meter_charge(meter_of(base, space), bytes))
        return out_of(base, space, what, bytes);
    block *b = hy_memory_fails(&base->ctx->memory) ? NULL : malloc(sizeof *b);
    if (!b || posix_memalign(&ptr, 256, bytes > 0 ? bytes : 1) != 0) {
        free(b);
        uncount(base, space, bytes);
        return out_of(base, space, what, bytes);
    }
    memset(ptr, POISON, bytes);
    pthread_mutex_lock(&self->lock);
    *b           = (block){self->blocks, ptr, bytes, space};
    self->blocks = b;
    pthread_mutex_unlock(&self->lock);
    fake_count(1);
    *out = (hy_buffer){ptr, bytes, space};
    return HYBRID_OK;
}

/* Removes the block that begins at `ptr` from the list at *link and returns it; NULL if
   no such block is listed. The calling function must hold the lock of the list. */
static block *take_out(block **link, const void *ptr)
{
    while (*link && (*link)->ptr != ptr)
        link = &(*link)->next;
    block *b = *link;
    if (b)
        *link = b->next;
    return b;
}

static void free_block(hy_backend *base, hy_buffer *buffer)
{
    if (!buffer->ptr)
        return;
    fake *self = (fake *)base;
    pthread_mutex_lock(&self->lock);
    block *b = take_out(&self->blocks, buffer->ptr);
    pthread_mutex_unlock(&self->lock);
    if (!b) /* this device did not allocate the memory, or has freed it already */
        abort();
    uncount(base, b->space, b->bytes);
    free(b->ptr);
    free(b);
    fake_count(-1);
    memset(buffer, 0, sizeof *buffer);
}

static void trim(hy_backend *self, int64_t since)
{
    (void)self, (void)since;
}

/* ---- copies ---- */

/* Returns the listed block that contains all `bytes` bytes at `ptr`, or NULL. The calling
   function must hold the lock of the list. */
static const block *find_block(const block *b, const void *ptr, size_t bytes)
{
    const uintptr_t begin = (uintptr_t)ptr;

    while (b &&
           (begin < (uintptr_t)b->ptr || begin + bytes > (uintptr_t)b->ptr + b->bytes))
        b = b->next;
    return b;
}

/* Returns the hy_space (device or pinned memory) of the block that contains all `bytes`
   bytes; -1 if none does. Memory of fake_memory() is device memory, too. `used` is the
   number of bytes to be copied, which fake_direct() counts if a caller pinned the
   memory. */
static int space_of(fake *self, const void *ptr, size_t bytes, size_t used)
{
    pthread_mutex_lock(&self->lock);
    const block *own = find_block(self->blocks, ptr, bytes);
    const int space  = own ? (int)own->space : -1;
    pthread_mutex_unlock(&self->lock);
    if (own)
        return space;
    if (fake_memory_has(self->base.index, ptr, bytes))
        return HY_DEVICE;
    return fake_pin_direct(&self->base, ptr, bytes, used) ? (int)HY_PINNED : -1;
}

int fake_on_device(hy_backend *base, const void *ptr, size_t bytes)
{
    return space_of((fake *)base, ptr, bytes, 0) == (int)HY_DEVICE;
}

static hybrid_status copy_rows(hy_lane *lane, const hy_row_copy *c)
{
    fake *self         = (fake *)lane->backend;
    const size_t lines = (size_t)c->rows - 1, all = (size_t)c->rows * c->bytes;

    if (c->rows == 0 || c->bytes == 0)
        return HYBRID_OK;
    const int to    = space_of(self, c->dst, lines * c->dst_pitch + c->bytes, all);
    const int from  = space_of(self, c->src, lines * c->src_pitch + c->bytes, all);
    const int stays = to == HY_DEVICE && from == HY_DEVICE && c->dst != c->src;
    if (to < 0 || from < 0 || (to == from && !stays) || c->dst_pitch < c->bytes ||
        c->src_pitch < c->bytes)
        return hy_fail(self->base.ctx, HYBRID_DEVICE_FAILED,
                       "fake device: a copy of %zu bytes is not between a device block "
                       "and a pinned block",
                       all);
    if (!stays)
        __atomic_fetch_add(&copied[to], (int64_t)all, __ATOMIC_RELAXED);
    return fake_lane_copy(lane, c);
}

static int reads(hy_backend *self, const hy_backend *other)
{
    (void)self, (void)other;
    return !__atomic_load_n(&peerless, __ATOMIC_RELAXED);
}

static int owns(fake *self, const void *ptr, size_t bytes)
{
    pthread_mutex_lock(&self->lock);
    const block *own = find_block(self->blocks, ptr, bytes);
    const int owned  = own && own->space == HY_DEVICE;
    pthread_mutex_unlock(&self->lock);
    return owned;
}

static hybrid_status copy_peer(hy_lane *lane, void *dst, const hy_backend *other,
                               const void *src, size_t bytes)
{
    fake *from = (fake *)(uintptr_t)other; /* the copy changes nothing of the other device
                                              but its lock */

    if (!owns((fake *)lane->backend, dst, bytes) || !owns(from, src, bytes))
        return hy_fail(lane->backend->ctx, HYBRID_DEVICE_FAILED,
                       "fake device: a peer copy of %zu bytes is not between two devices",
                       bytes);
    __atomic_fetch_add(&relayed, (int64_t)bytes, __ATOMIC_RELAXED);
    return fake_lane_copy(lane, &(hy_row_copy){dst, src, bytes, bytes, bytes, 1});
}

static hybrid_status copy(hy_lane *lane, void *dst, const void *src, size_t bytes)
{
    return copy_rows(lane, &(hy_row_copy){dst, src, bytes, bytes, bytes, 1});
}

const hy_backend_ops hy_fake_backend_ops = {
    .name         = "fake",
    .open         = open_fake,
    .close        = close_fake,
    .describe     = describe,
    .rates        = rates,
    .measure      = measure,
    .alloc        = alloc_block,
    .free         = free_block,
    .trim         = trim,
    .lane_open    = fake_lane_open,
    .lane_close   = fake_lane_close,
    .lane_drain   = fake_lane_drain,
    .copy         = copy,
    .copy_rows    = copy_rows,
    .reads        = reads,
    .copy_peer    = copy_peer,
    .transpose    = fake_transpose,
    .mark_new     = fake_mark_new,
    .mark_free    = fake_mark_free,
    .mark_set     = fake_mark_set,
    .lane_wait    = fake_lane_wait,
    .host_wait    = fake_host_wait,
    .mark_reached = fake_mark_reached,
    .mark_ns      = fake_mark_ns,
    .mark_untimed = fake_mark_untimed,
    .rebase       = fake_rebase,
    .holds        = fake_holds,
    .fetch        = fake_fetch,
    .follow       = fake_follow,
    .reached      = fake_reached,
    .borrow       = fake_borrow,
    .combine      = fake_combine,
    .hash         = fake_hash,
    .survey       = fake_survey,
    .survey_bytes = FAKE_SURVEY_BYTES,
    .alloc_result = fake_keep,
    .free_result  = fake_drop,
    .collect      = fake_collect,
    .products     = fake_products,
    .code_deltas  = fake_pack_deltas,
    .pin_bytes    = FAKE_PIN_BYTES,
    .range_bytes  = FAKE_PIN_BYTES,
    .pin          = fake_pin,
    .unpin        = fake_unpin,
    .pinned       = fake_pinned,
};
