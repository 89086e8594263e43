/* tests/support/fake/fake_faults.c - a fake device with calls that fail on demand.

   A call that fails has no effect. host_wait and mark_reached are the exceptions: they do
   what they always do, and then report that the work failed. */
#include "tests/support/fake/fake_backend.h"

#include <pthread.h>

#include "tests/support/check/deltas.h"
#include "tests/support/fake/fake_lane.h"
#include "tests/support/fake/fake_memory.h"

static int64_t armed, armed_pins;
static int lasts, broken; /* lasts: 1 if all calls after the first failure fail too;
                             broken: 1 if that first failure has happened, so that the
                             device is lost */
static int only = -1;     /* number of the device whose calls are counted and fail; -1:
                             all devices */
/* a lane holds it for reading while it works, and a device becomes lost while holding it
   for writing */
static pthread_rwlock_t works = PTHREAD_RWLOCK_INITIALIZER;

static void arm(int64_t calls, int for_good)
{
    __atomic_store_n(&broken, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&lasts, for_good, __ATOMIC_RELAXED);
    __atomic_store_n(&armed, calls, __ATOMIC_RELAXED);
}

void fault_arm(int64_t calls)
{
    arm(calls, 0);
}

void fault_arm_for_good(int64_t calls)
{
    arm(calls, calls > 0);
}

int fault_is_armed(void)
{
    return __atomic_load_n(&armed, __ATOMIC_RELAXED) > 0;
}

void fault_arm_of(int device)
{
    __atomic_store_n(&only, device, __ATOMIC_RELAXED);
}

/* Returns 1 if calls of this device are counted and can fail. */
static int concerns(const hy_backend *backend)
{
    const int device = __atomic_load_n(&only, __ATOMIC_RELAXED);
    return device < 0 || device == backend->index;
}

static int is_broken(void)
{
    return __atomic_load_n(&broken, __ATOMIC_RELAXED);
}

static int is_the_one(void)
{
    if (__atomic_load_n(&armed, __ATOMIC_RELAXED) <= 0 ||
        __atomic_sub_fetch(&armed, 1, __ATOMIC_RELAXED) != 0)
        return 0;
    if (__atomic_load_n(&lasts, __ATOMIC_RELAXED)) {
        pthread_rwlock_wrlock(&works);
        __atomic_store_n(&broken, 1, __ATOMIC_RELAXED);
        pthread_rwlock_unlock(&works);
    }
    return 1;
}

int fault_lets_begin(const hy_backend *backend)
{
    pthread_rwlock_rdlock(&works);
    if (!is_broken() || !concerns(backend))
        return 1;
    pthread_rwlock_unlock(&works);
    return 0;
}

void fault_lets_end(void)
{
    pthread_rwlock_unlock(&works);
}

int fault_hits(const hy_backend *backend, const char *what)
{
    if (!concerns(backend) || (!is_broken() && !is_the_one()))
        return 0;
    hy_fail(backend->ctx, HYBRID_DEVICE_FAILED, "%s: %s failed", backend->name, what);
    return 1;
}

void fault_arm_pins(int64_t calls)
{
    __atomic_store_n(&armed_pins, calls, __ATOMIC_RELAXED);
}

int fault_pins_are_armed(void)
{
    return __atomic_load_n(&armed_pins, __ATOMIC_RELAXED) > 0;
}

/* Pins memory. It has a count of its own (fault_arm_pins()), because a product continues
   if pinning fails. */
static hybrid_status pin(hy_backend *self, void *ptr, size_t bytes)
{
    if (is_broken() && fault_hits(self, "pinning"))
        return HYBRID_DEVICE_FAILED;
    if (__atomic_load_n(&armed_pins, __ATOMIC_RELAXED) > 0 &&
        __atomic_sub_fetch(&armed_pins, 1, __ATOMIC_RELAXED) == 0)
        return HYBRID_NO_MEMORY;
    return fake_pin(self, ptr, bytes);
}

static hybrid_status open_fault(hy_context *ctx, const hybrid_engine_options *options,
                                hy_backend **out)
{
    if (is_broken() || is_the_one()) /* calls hy_fail() directly, because fault_hits()
                                        needs an open device */
        return hy_fail(ctx, HYBRID_DEVICE_FAILED, "fake device %d: opening failed",
                       options->device);
    HY_TRY(hy_fake_backend_ops.open(ctx, options, out));
    (*out)->ops = &hy_fault_backend_ops;
    return HYBRID_OK;
}

static void close_fault(hy_backend *self)
{
    hy_fake_backend_ops.close(self);
}

static const char *describe(const hy_backend *self)
{
    return hy_fake_backend_ops.describe(self);
}

static void rates(const hy_backend *self, hy_rates *out)
{
    hy_fake_backend_ops.rates(self, out);
}

static hybrid_status measure(hy_backend *self, hy_measured *out)
{
    if (fault_hits(self, "measuring"))
        return HYBRID_DEVICE_FAILED;
    return hy_fake_backend_ops.measure(self, out);
}

static hybrid_status alloc_fault(hy_backend *self, hy_space space, size_t bytes,
                                 const char *what, hy_buffer *out)
{
    if (fault_hits(self, "an allocation"))
        return HYBRID_DEVICE_FAILED;
    return hy_fake_backend_ops.alloc(self, space, bytes, what, out);
}

static void free_fault(hy_backend *self, hy_buffer *buffer)
{
    hy_fake_backend_ops.free(self, buffer);
}

static void trim(hy_backend *self, int64_t since)
{
    hy_fake_backend_ops.trim(self, since);
}

static hybrid_status lane_open(hy_backend *self, const char *name, int urgent,
                               hy_lane **out)
{
    if (fault_hits(self, "opening a lane"))
        return HYBRID_DEVICE_FAILED;
    return fake_lane_open(self, name, urgent, out);
}

static hybrid_status borrow(hy_backend *self, void *stream, hy_lane **out)
{
    if (fault_hits(self, "borrowing a stream"))
        return HYBRID_DEVICE_FAILED;
    return fake_borrow(self, stream, out);
}

static hybrid_status copy(hy_lane *lane, void *dst, const void *src, size_t bytes)
{
    if (fault_hits(lane->backend, "a copy"))
        return HYBRID_DEVICE_FAILED;
    return hy_fake_backend_ops.copy(lane, dst, src, bytes);
}

static hybrid_status collect(hy_lane *lane, const hy_collecting *c)
{
    if (fault_hits(lane->backend, "collecting rows"))
        return HYBRID_DEVICE_FAILED;
    return fake_collect(lane, c);
}

static int reads(hy_backend *self, const hy_backend *other)
{
    return hy_fake_backend_ops.reads(self, other);
}

static hybrid_status copy_peer(hy_lane *lane, void *dst, const hy_backend *other,
                               const void *src, size_t bytes)
{
    if (fault_hits(lane->backend, "a peer copy"))
        return HYBRID_DEVICE_FAILED;
    return hy_fake_backend_ops.copy_peer(lane, dst, other, src, bytes);
}

static hybrid_status copy_rows(hy_lane *lane, const hy_row_copy *rows)
{
    if (fault_hits(lane->backend, "a copy of rows"))
        return HYBRID_DEVICE_FAILED;
    return hy_fake_backend_ops.copy_rows(lane, rows);
}

static hybrid_status transpose(hy_lane *lane, const hy_transposition *transposition)
{
    if (fault_hits(lane->backend, "turning"))
        return HYBRID_DEVICE_FAILED;
    return fake_transpose(lane, transposition);
}

static hybrid_status mark_new(hy_backend *self, hy_mark **out)
{
    if (fault_hits(self, "making a mark"))
        return HYBRID_DEVICE_FAILED;
    return fake_mark_new(self, out);
}

static hybrid_status mark_set(hy_lane *lane, hy_mark *mark)
{
    if (fault_hits(lane->backend, "setting a mark"))
        return HYBRID_DEVICE_FAILED;
    return fake_mark_set(lane, mark);
}

static hybrid_status mark_untimed(hy_lane *lane, hy_mark *mark)
{
    if (fault_hits(lane->backend, "setting a mark"))
        return HYBRID_DEVICE_FAILED;
    return fake_mark_untimed(lane, mark);
}

static hybrid_status lane_wait(hy_lane *lane, hy_mark *mark)
{
    if (fault_hits(lane->backend, "a lane's wait"))
        return HYBRID_DEVICE_FAILED;
    return fake_lane_wait(lane, mark);
}

static hybrid_status host_wait(hy_mark *mark)
{
    HY_TRY(fake_host_wait(mark));
    if (fault_hits(fake_mark_backend(mark), "what the host waited for"))
        return HYBRID_DEVICE_FAILED;
    return HYBRID_OK;
}

static hybrid_status mark_reached(hy_mark *mark, int *out)
{
    HY_TRY(fake_mark_reached(mark, out));
    if (fault_hits(fake_mark_backend(mark), "what the host waited for"))
        return HYBRID_DEVICE_FAILED;
    return HYBRID_OK;
}

static hybrid_status survey(hy_lane *lane, const hy_surveying *s)
{
    if (fault_hits(lane->backend, "a survey"))
        return HYBRID_DEVICE_FAILED;
    return fake_survey(lane, s);
}

static hybrid_status fetch(hy_backend *self, void *to, const void *from, size_t bytes)
{
    if (fault_hits(self, "fetching"))
        return HYBRID_DEVICE_FAILED;
    return fake_fetch(self, to, from, bytes);
}

static hybrid_status follow(hy_backend *self, void *stream)
{
    if (fault_hits(self, "waiting for a stream"))
        return HYBRID_DEVICE_FAILED;
    return fake_follow(self, stream);
}

static hybrid_status reached(hy_backend *self, int *out)
{
    if (fault_hits(self, "what a stream did"))
        return HYBRID_DEVICE_FAILED;
    return fake_reached(self, out);
}

static hybrid_status hash(hy_backend *self, const hybrid_csr *A, uint64_t *out)
{
    if (fault_hits(self, "hashing"))
        return HYBRID_DEVICE_FAILED;
    return fake_hash(self, A, out);
}

static hybrid_status keep(hy_backend *self, size_t bytes, const char *what, void **out)
{
    if (fault_hits(self, "an allocation"))
        return HYBRID_DEVICE_FAILED;
    return fake_keep(self, bytes, what, out);
}

const hy_backend_ops hy_fault_backend_ops = {
    .name         = "fake",
    .open         = open_fault,
    .close        = close_fault,
    .describe     = describe,
    .rates        = rates,
    .measure      = measure,
    .alloc        = alloc_fault,
    .free         = free_fault,
    .trim         = trim,
    .lane_open    = lane_open,
    .lane_close   = fake_lane_close,
    .lane_drain   = fake_lane_drain,
    .copy         = copy,
    .copy_rows    = copy_rows,
    .reads        = reads,
    .copy_peer    = copy_peer,
    .transpose    = transpose,
    .mark_new     = mark_new,
    .mark_free    = fake_mark_free,
    .mark_set     = mark_set,
    .lane_wait    = lane_wait,
    .host_wait    = host_wait,
    .mark_reached = mark_reached,
    .mark_ns      = fake_mark_ns,
    .mark_untimed = mark_untimed,
    .rebase       = fake_rebase,
    .holds        = fake_holds,
    .fetch        = fetch,
    .follow       = follow,
    .reached      = reached,
    .borrow       = borrow,
    .combine      = fake_combine,
    .hash         = hash,
    .survey       = survey,
    .survey_bytes = FAKE_SURVEY_BYTES,
    .alloc_result = keep,
    .free_result  = fake_drop,
    .collect      = collect,
    .products     = fake_products,
    .code_deltas  = fake_pack_deltas,
    .pin_bytes    = FAKE_PIN_BYTES,
    .range_bytes  = FAKE_PIN_BYTES,
    .pin          = pin,
    .unpin        = fake_unpin,
    .pinned       = fake_pinned,
};
