/* tests/run/device/test_fake_backend.c - the fake device, on which other tests rely. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fake/fake_backend.h"
#include "tests/support/engines/group.h"
#include "tests/support/check/poison.h"

enum { CALLS = 200 };

static const hy_backend_ops *const ops = &hy_fake_backend_ops;

static hy_backend *open_device(size_t bytes)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hy_backend *device;

    options.device_bytes = bytes;
    hy_message_clear(&ctx->message);
    assert_int_equal(ops->open(ctx, &options, &device), HYBRID_OK);
    return device;
}

static void close_device(hy_backend *device)
{
    ops->close(device);
    assert_int_equal(fake_alive(), 0);
}

typedef struct journal {
    int entry[CALLS];
    int count;
} journal;

typedef struct note {
    journal *journal;
    int number;
    hybrid_status status;
} note;

static hybrid_status write_note(hy_lane *lane, void *arg)
{
    const note *n = arg;

    (void)lane;
    n->journal->entry[n->journal->count++] = n->number;
    return n->status;
}

static void memory_is_capped_and_poisoned(void **state)
{
    hy_backend *device = open_device(4096);
    hy_buffer a, b, pinned;

    (void)state;
    assert_int_equal(ops->alloc(device, HY_DEVICE, 3000, "a test", &a), HYBRID_OK);
    assert_true(poison_intact(a.ptr, 0, 3000));
    assert_int_equal((uintptr_t)a.ptr % 256, 0);
    assert_int_equal(ops->alloc(device, HY_DEVICE, 1097, "a test", &b),
                     HYBRID_NO_DEVICE_MEMORY);
    assert_non_null(strstr(
        ctx->message.text,
        "cannot allocate 1.1 KiB of device memory of fake device 0: the device is a "
        "fake, and 2.9 KiB of the budget of 4.0 KiB is in use"));
    assert_int_equal(ops->alloc(device, HY_DEVICE, 1096, "a test", &b), HYBRID_OK);
    assert_int_equal(ops->alloc(device, HY_PINNED, 9000, "a test", &pinned), HYBRID_OK);
    assert_int_equal(hy_meter_used(&device->device), 4096);
    assert_int_equal(hy_meter_used(&device->pinned), 9000);
    ops->free(device, &a);
    ops->free(device, &b);
    ops->free(device, &pinned);
    assert_null(pinned.ptr);
    ops->free(device, &pinned);
    assert_int_equal(hy_meter_used(&device->device), 0);
    close_device(device);
}

static void copies_join_device_and_pinned(void **state)
{
    hy_backend *device = open_device(4096);
    hy_buffer a, b;
    hy_lane *lane;
    hy_mark *mark;
    char local[64] = {0};

    (void)state;
    assert_int_equal(ops->alloc(device, HY_DEVICE, 512, "a test", &a), HYBRID_OK);
    assert_int_equal(ops->alloc(device, HY_PINNED, 512, "a test", &b), HYBRID_OK);
    assert_int_equal(ops->lane_open(device, "h2d", 0, &lane), HYBRID_OK);
    assert_int_equal(ops->mark_new(device, &mark), HYBRID_OK);
    memset(b.ptr, 7, 512);
    assert_int_equal(ops->copy(lane, (char *)a.ptr + 8, b.ptr, 100), HYBRID_OK);
    assert_int_equal(ops->mark_set(lane, mark), HYBRID_OK);
    assert_int_equal(ops->host_wait(mark), HYBRID_OK);
    assert_memory_equal((char *)a.ptr + 8, b.ptr, 100);
    assert_true(poison_intact(a.ptr, 108, 512));
    assert_int_equal(ops->copy(lane, a.ptr, local, 64), HYBRID_DEVICE_FAILED);
    assert_int_equal(ops->copy(lane, local, b.ptr, 64), HYBRID_DEVICE_FAILED);
    assert_int_equal(ops->copy(lane, a.ptr, a.ptr, 64), HYBRID_DEVICE_FAILED);
    assert_int_equal(ops->copy(lane, (char *)a.ptr + 500, b.ptr, 64),
                     HYBRID_DEVICE_FAILED);
    ops->lane_close(lane);
    ops->mark_free(mark);
    ops->free(device, &a);
    ops->free(device, &b);
    close_device(device);
}

/* Work alternates between two lanes: each piece waits for a mark that the other lane
   sets. */
static void lanes_wait_for_each_other(void **state)
{
    hy_backend *device = open_device(0);
    hy_lane *lanes[2];
    hy_mark *marks[2];
    journal all = {{0}, 0};
    note notes[CALLS];

    (void)state;
    fake_delays(3, 100);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ops->lane_open(device, "lane", 0, &lanes[i]), HYBRID_OK);
        assert_int_equal(ops->mark_new(device, &marks[i]), HYBRID_OK);
    }
    for (int i = 0; i < CALLS; i++) {
        hy_lane *lane = lanes[i % 2];
        notes[i]      = (note){&all, i, HYBRID_OK};
        assert_int_equal(ops->lane_wait(lane, marks[(i + 1) % 2]), HYBRID_OK);
        assert_int_equal(hy_fake_enqueue(lane, write_note, &notes[i]), HYBRID_OK);
        assert_int_equal(ops->mark_set(lane, marks[i % 2]), HYBRID_OK);
    }
    assert_int_equal(ops->host_wait(marks[(CALLS - 1) % 2]), HYBRID_OK);
    assert_int_equal(all.count, CALLS);
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(all.entry[i], i);
    assert_true(ops->mark_ns(marks[0]) > 0);
    assert_true(ops->mark_ns(marks[0]) <= ops->mark_ns(marks[1]));
    for (int i = 0; i < 2; i++) {
        ops->lane_close(lanes[i]);
        ops->mark_free(marks[i]);
    }
    close_device(device);
}

static void errors_skip_the_rest_and_are_reported(void **state)
{
    hy_backend *device = open_device(0);
    hy_lane *lane;
    hy_mark *mark;
    journal all   = {{0}, 0};
    note good     = {&all, 1, HYBRID_OK};
    note bad      = {&all, 2, HYBRID_DEVICE_FAILED};
    note *order[] = {&good, &bad, &good};

    (void)state;
    assert_int_equal(ops->lane_open(device, "run", 0, &lane), HYBRID_OK);
    assert_int_equal(ops->mark_new(device, &mark), HYBRID_OK);
    /* host_wait() returns at once for a mark that was never set */
    assert_int_equal(ops->host_wait(mark), HYBRID_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(hy_fake_enqueue(lane, write_note, order[i]), HYBRID_OK);
    assert_int_equal(ops->mark_set(lane, mark), HYBRID_OK);
    assert_int_equal(ops->host_wait(mark), HYBRID_DEVICE_FAILED);
    assert_int_equal(all.count, 2);
    ops->lane_close(lane);
    ops->mark_free(mark);
    close_device(device);
}

static void the_armed_call_fails_once(void **state)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    const hy_backend_ops *faulty        = &hy_fault_backend_ops;
    hy_backend *device;
    hy_lane *lane;
    hy_mark *mark;

    (void)state;
    hy_message_clear(&ctx->message);
    fault_arm(1);
    assert_int_equal(faulty->open(ctx, &options, &device), HYBRID_DEVICE_FAILED);
    assert_string_equal(ctx->message.text, "fake device 0: opening failed");
    fault_arm(4);
    assert_int_equal(faulty->open(ctx, &options, &device), HYBRID_OK);
    assert_ptr_equal(device->ops, faulty);
    assert_int_equal(faulty->lane_open(device, "run", 0, &lane), HYBRID_OK);
    assert_int_equal(faulty->mark_new(device, &mark), HYBRID_OK);
    assert_int_equal(faulty->mark_set(lane, mark), HYBRID_DEVICE_FAILED);
    assert_int_equal(faulty->mark_set(lane, mark), HYBRID_OK);
    fault_arm(1);
    assert_int_equal(faulty->host_wait(mark), HYBRID_DEVICE_FAILED);
    assert_int_equal(faulty->host_wait(mark), HYBRID_OK);
    fault_arm(1);
    assert_int_equal(hy_fake_enqueue(lane, write_note, NULL), HYBRID_DEVICE_FAILED);
    faulty->lane_close(lane);
    faulty->mark_free(mark);
    faulty->close(device);
    assert_int_equal(fake_alive(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_capped_and_poisoned),
        cmocka_unit_test(copies_join_device_and_pinned),
        cmocka_unit_test(lanes_wait_for_each_other),
        cmocka_unit_test(errors_skip_the_rest_and_are_reported),
        cmocka_unit_test(the_armed_call_fails_once),
    };
    return cmocka_run_group_tests_name("fake_backend", tests, open_one_worker,
                                       close_context);
}
