/* tests/support/products/undo.c - calls that fail in every possible way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/threads/pool_inside.h"
#include "support/fake/fake_backend.h"
#include "support/products/undo.h"

/* STEP: bytes by which the cap on host memory grows from one failure to the next; a cap
   on device memory grows by a quarter of that. */
enum { MOST = 20000, STEP = 4096 };

/* ---- memory that the engine holds ---- */

held undo_held(const hybrid_engine *engine)
{
    held h = {.host   = hy_meter_used(&engine->ctx.memory.meter),
              .device = hy_meter_used(&engine->host->device),
              .alive  = fake_alive() - fake_pinned_now(),
              .loops  = __atomic_load_n(&engine->ctx.pool->begun, __ATOMIC_RELAXED)};

    for (int i = 0; i < engine->device_count; i++) {
        h.device += hy_meter_used(&engine->devices[i]->device);
        h.pinned += hy_meter_used(&engine->devices[i]->pinned);
    }
    return h;
}

static int is_more(const held *now, const held *before)
{
    return now->host > before->host || now->device > before->device ||
           now->pinned > before->pinned || now->alive > before->alive ||
           now->loops > before->loops;
}

/* Fails the test if the engine holds more memory, lanes, marks or loops than `before`
   says. Waits up to 5 s for less, because the lane of a fake device may still be freeing
   memory. `name` is the name of the call in the message. */
void undo_expect_no_more(const world *w, const held *before, const char *name)
{
    held now = undo_held(w->engine);

    for (int i = 0; i < 5000 && is_more(&now, before); i++, now = undo_held(w->engine))
        usleep(1000);
    if (is_more(&now, before))
        fail_msg("before: host %lld, device %lld, pinned %lld, alive %lld, loops %d; "
                 "after %s, which failed: %lld, %lld, %lld, %lld, %d",
                 (long long)before->host, (long long)before->device,
                 (long long)before->pinned, (long long)before->alive, before->loops, name,
                 (long long)now.host, (long long)now.device, (long long)now.pinned,
                 (long long)now.alive, now.loops);
}

/* ---- failures ---- */

static void arm_memory(world *w, int64_t n)
{
    w->engine->ctx.memory.failures = n;
}

static int disarm_memory(world *w)
{
    const int met                  = w->engine->ctx.memory.failures <= 0;
    w->engine->ctx.memory.failures = 0;
    return met;
}

static void arm_backend(world *w, int64_t n)
{
    (void)w;
    fault_arm(n);
}

static int disarm_backend(world *w)
{
    const int met = !fault_is_armed();

    (void)w;
    fault_arm(0);
    return met;
}

static int tell(void *user, int64_t done, int64_t rows)
{
    (void)done, (void)rows;
    return undo_count_down(user);
}

static void arm_progress(world *w, int64_t n)
{
    w->asks = n;
    hybrid_engine_progress(w->engine, tell, w);
}

static void arm_rows(world *w, int64_t n)
{
    w->asks = n;
}

static int disarm_function(world *w)
{
    const int met = w->asks == 0;

    w->asks = 0;
    hybrid_engine_progress(w->engine, NULL, NULL);
    return met;
}

/* The engine's caps, to be restored. Failure n sets the cap on host memory to n * STEP
   bytes, or the caps on device memory to a quarter of that; a call that needs no more
   succeeds. */
static int64_t host_cap, device_cap[HY_MAX_DEVICES];

static void arm_host_cap(world *w, int64_t n)
{
    hy_meter *meter = &w->engine->ctx.memory.meter;

    host_cap                    = meter->cap;
    meter->cap                  = n * STEP;
    w->engine->ctx.memory.limit = NULL; /* the cap stays as the test sets it */
}

static int disarm_host_cap(world *w)
{
    w->engine->ctx.memory.meter.cap = host_cap;
    return 0;
}

static void arm_device_cap(world *w, int64_t n)
{
    for (int i = 0; i < w->engine->device_count; i++) {
        hy_meter *meter = &w->engine->devices[i]->device;
        device_cap[i]   = meter->cap;
        meter->cap      = n * STEP / 4;
    }
}

static int disarm_device_cap(world *w)
{
    for (int i = 0; i < w->engine->device_count; i++)
        w->engine->devices[i]->device.cap = device_cap[i];
    return 0;
}

const way undo_by_memory     = {arm_memory, disarm_memory},
          undo_by_backend    = {arm_backend, disarm_backend},
          undo_by_progress   = {arm_progress, disarm_function},
          undo_by_rows       = {arm_rows, disarm_function},
          undo_by_host_cap   = {arm_host_cap, disarm_host_cap},
          undo_by_device_cap = {arm_device_cap, disarm_device_cap};

/* Makes call `c` fail by failure n of `how`. With `cold` the engine first frees the
   memory that it has cached. Returns 1 if the call failed, 0 if it succeeded in spite of
   the failure, -1 if the call did not reach the failure. */
static int fail_once(world *w, const call *c, const way *how, int64_t n, int cold)
{
    if (cold)
        hybrid_engine_trim(w->engine);
    const held before = undo_held(w->engine);
    how->arm(w, n);
    const hybrid_status status = c->make(w);
    const int met              = how->disarm(w);
    if (status == HYBRID_OK)
        return met ? 0 : -1;
    assert_true(strlen(hybrid_engine_message(w->engine)) > 10);
    undo_expect_no_more(w, &before, c->name);
    return 1;
}

/* Makes call `c` fail by failures 1, 2, 3 ... of `how` until it does not reach one; after
   failure 16 some are skipped. Does so with and without memory that the engine has
   cached. Returns how often the call failed. */
static int64_t fail_each(world *w, const call *c, const way *how)
{
    int64_t failed = 0;

    for (int cold = 0; cold < 2; cold++) {
        assert_int_equal(c->make(w), HYBRID_OK);
        for (int64_t n = 1;; n += 1 + n / 16) {
            const int result = fail_once(w, c, how, n, cold);
            if (result < 0)
                break;
            failed += result;
            assert_true(n < MOST);
        }
    }
    assert_int_equal(c->make(w), HYBRID_OK);
    return failed;
}

void undo_fail_all(world *w, const call *calls, const way *how)
{
    int64_t failed = 0;

    for (const call *c = calls; c->name; c++)
        failed += fail_each(w, c, how);
    assert_true(failed > 4);
}
