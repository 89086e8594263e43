/* tests/run/devices/test_at_once.c - what takes long with each device is done for all
   devices at the same time: starting, allocating pinned memory, and closing.

   Calls of these fake devices return when all devices are in the same call. If devices
   took turns, the first call would wait in vain. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>
#include <string.h>

#include "engine/api/engine.h"
#include "support/check/oracle.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows, hy_spmm_host_rows;

static const hy_variant *const variants[] = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                             &hy_spgemm_host_rows, &hy_spmm_host_rows,
                                             NULL};

enum {
    ROWS       = 2000,
    EACH       = 8,
    COLUMNS    = 20,
    CHUNK_ROWS = 100,
    DEVICES    = 3,
    PATIENCE_S = 60
};

/* ---- meeting ---- */

typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int expected; /* devices that must meet; 0: calls do not wait */
    int there;    /* devices that have come */
    int missed;   /* number of calls that waited in vain */
} meeting;

#define NO_MEETING                                                                       \
    {                                                                                    \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0                     \
    }

static meeting waking = NO_MEETING, pinning = NO_MEETING, closing = NO_MEETING;

static void expect(meeting *m, int devices)
{
    pthread_mutex_lock(&m->lock);
    m->expected = devices;
    m->there    = 0;
    pthread_mutex_unlock(&m->lock);
}

static void meet(meeting *m)
{
    struct timespec until;
    int error = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&m->lock);
    m->there++;
    pthread_cond_broadcast(&m->changed);
    while (m->there < m->expected && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&m->changed, &m->lock, &until);
    m->missed += m->there < m->expected;
    if (error == ETIMEDOUT)
        m->expected = 0; /* so that the test fails soon */
    pthread_mutex_unlock(&m->lock);
}

static void check_met(meeting *m, int devices)
{
    pthread_mutex_lock(&m->lock);
    assert_int_equal(m->missed, 0);
    assert_int_equal(m->there, devices);
    m->expected = 0;
    pthread_mutex_unlock(&m->lock);
}

/* ---- devices ---- */

static int woken[DEVICES]; /* number of times that each device was started */

static void wake(int device)
{
    __atomic_fetch_add(&woken[device], 1, __ATOMIC_RELAXED);
    meet(&waking);
}

static hy_backend_ops meeting_ops;

static hybrid_status open_device(hy_context *ctx, const hybrid_engine_options *options,
                                 hy_backend **out)
{
    const hybrid_status status = hy_fake_backend_ops.open(ctx, options, out);

    if (status == HYBRID_OK)
        (*out)->ops = &meeting_ops;
    return status;
}

static hybrid_status alloc(hy_backend *self, hy_space space, size_t bytes,
                           const char *what, hy_buffer *out)
{
    if (space == HY_PINNED && strcmp(what, "chunk buffers") == 0)
        meet(&pinning);
    return hy_fake_backend_ops.alloc(self, space, bytes, what, out);
}

static void close_device(hy_backend *self)
{
    meet(&closing);
    hy_fake_backend_ops.close(self);
}

static const hy_backend_ops *const places[] = {&meeting_ops, &hy_host_backend_ops, NULL};

static hybrid_engine *open_devices(int count)
{
    static const int devices[DEVICES] = {2, 0, 1};
    hybrid_engine_options options     = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    meeting_ops          = hy_fake_backend_ops;
    meeting_ops.wake     = wake;
    meeting_ops.open     = open_device;
    meeting_ops.alloc    = alloc;
    meeting_ops.close    = close_device;
    options.threads      = 2;
    options.devices      = devices;
    options.device_count = count;
    fake_delays(1, 0);
    memset(woken, 0, sizeof woken);
    expect(&waking, count);
    assert_int_equal(fake_engine_open(&options, places, variants, &engine), HYBRID_OK);
    settings_of(engine)->all_devices = 1;
    return engine;
}

static void close_devices(hybrid_engine *engine, int count)
{
    expect(&closing, count);
    hybrid_engine_destroy(engine);
    check_met(&closing, count);
    assert_int_equal(fake_alive(), 0);
}

/* ---- tests ---- */

static void devices_start_and_close_at_once(void **state)
{
    (void)state;
    for (int count = 2; count <= DEVICES; count++) {
        hybrid_engine *engine = open_devices(count);
        check_met(&waking, count);
        assert_int_equal(woken[2], 1);
        assert_int_equal(woken[0], 1);
        assert_int_equal(woken[1], count > 2);
        close_devices(engine, count);
    }
}

/* A single device is opened in the calling thread. */
static void one_device_is_not_woken(void **state)
{
    (void)state;
    hybrid_engine *engine = open_devices(1);
    assert_int_equal(woken[2], 0);
    close_devices(engine, 1);
}

/* Counts the bars that tell when memory of a device was pinned. */
static void note(void *user, const hybrid_event *event)
{
    static const char *const lanes[DEVICES] = {"pin", "pin1", "pin2"};
    int *seen                               = user;

    for (int i = 0; i < DEVICES; i++)
        if (strcmp(event->lane, lanes[i]) == 0) {
            assert_string_equal(event->stage, "pin");
            assert_true(event->bytes > 0 && event->begin_ns > 0);
            assert_true(event->begin_ns <= event->end_ns);
            seen[i]++;
        }
}

static void memory_is_pinned_at_once(void **state)
{
    const test_kind kind        = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine *engine       = open_devices(DEVICES);
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr A, C;
    hybrid_dense X, Y, before;
    oracle square;
    int seen[DEVICES] = {0};

    (void)state;
    matrix_random(ROWS, ROWS, EACH, 5, kind, &A);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, kind, &X);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, kind, &Y);
    dense_copy(&Y, &before);
    oracle_spgemm(&A, &A, &square);
    options.split      = HYBRID_SPLIT_GPU;
    options.chunk_rows = CHUNK_ROWS;
    hybrid_engine_trace(engine, note, seen);

    expect(&pinning, DEVICES);
    assert_int_equal(hybrid_spgemm_with(engine, &options, &A, &A, &C), HYBRID_OK);
    check_met(&pinning, DEVICES);
    assert_null(oracle_check(&square, &C, 1));
    expect(&pinning, DEVICES);
    assert_int_equal(hybrid_spmm_with(engine, &options, 1, &A, &X, 0, &Y), HYBRID_OK);
    check_met(&pinning, DEVICES);
    assert_null(oracle_check_spmm(1, &A, &X, 0, &before, &Y, 1));
    for (int i = 0; i < DEVICES; i++)
        assert_int_equal(seen[i], 2);

    hybrid_csr_free(engine, &C);
    oracle_free(&square);
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    matrix_free(&A);
    close_devices(engine, DEVICES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_start_and_close_at_once),
        cmocka_unit_test(one_device_is_not_woken),
        cmocka_unit_test(memory_is_pinned_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
