/* tests/run/calls/test_pin.c - which ranges a caller can pin and unpin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/memory/pinned.h"
#include "engine/api/engine.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_lane.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const fakes[] = {&hy_fault_backend_ops, &hy_host_backend_ops,
                                              NULL};
static const hy_variant *const variants[]  = {&hy_spmm_fake_rows, NULL};

enum { PIECE = FAKE_PIN_BYTES };

static hybrid_engine *open_with(hybrid_backend backend)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.backend = backend;
    options.threads = 3;
    assert_int_equal(fake_engine_open(&options, fakes, variants, &engine), HYBRID_OK);
    return engine;
}

/* ---- accepted ranges ---- */

static void refused(hybrid_engine *engine, hybrid_status status)
{
    assert_int_equal(status, HYBRID_BAD_ARGUMENT);
    assert_true(strlen(hybrid_engine_message(engine)) > 10);
}

static void check_arguments(hybrid_engine *engine)
{
    static char memory[10 * PIECE];
    char *at = memory + 3 * PIECE + 5; /* an address at which no page and no piece of the
                                          fake device begins */

    refused(engine, hybrid_pin(engine, NULL, 100));
    refused(engine, hybrid_pin(engine, at, 0));
    refused(engine, hybrid_pin(engine, at, SIZE_MAX));
    refused(engine, hybrid_unpin(engine, NULL));
    refused(engine, hybrid_unpin(engine, at));
    assert_int_equal(hybrid_pin(engine, at, 2 * PIECE), HYBRID_OK);
    refused(engine, hybrid_pin(engine, at, 2 * PIECE)); /* the range is pinned already */
    refused(engine, hybrid_pin(engine, at, 1));
    /* lies within the pinned range */
    refused(engine, hybrid_pin(engine, at + 10, 20));
    /* contains the pinned range */
    refused(engine, hybrid_pin(engine, at - 1, 3 * PIECE));
    /* overlaps the first byte of the pinned range */
    refused(engine, hybrid_pin(engine, at - 7, 8));
    /* overlaps the last byte of the pinned range */
    refused(engine, hybrid_pin(engine, at + 2 * PIECE - 1, 99));
    refused(engine, hybrid_unpin(engine, at + 1));
    /* ranges that touch the pinned range can be pinned */
    assert_int_equal(hybrid_pin(engine, at - 7, 7), HYBRID_OK);
    assert_int_equal(hybrid_pin(engine, at + 2 * PIECE, 99), HYBRID_OK);
    assert_int_equal(hybrid_unpin(engine, at), HYBRID_OK);
    refused(engine, hybrid_unpin(engine, at)); /* the range is unpinned already */
    assert_int_equal(hybrid_pin(engine, at, 1), HYBRID_OK);
    assert_int_equal(hybrid_unpin(engine, at - 7), HYBRID_OK);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    assert_int_equal(hybrid_pin(NULL, &state, 1), HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_unpin(NULL, &state), HYBRID_BAD_ARGUMENT);
    for (int i = 0; i < 2; i++) {
        hybrid_engine *engine = open_with(i == 0 ? HYBRID_HOST : HYBRID_AUTO);
        check_arguments(engine);
        hybrid_engine_destroy(engine); /* must unpin the two remaining ranges */
        assert_int_equal(fake_alive(), 0);
    }
}

static void nothing_is_pinned_without_a_device(void **state)
{
    static char memory[3 * PIECE];
    const int64_t before  = fake_pins();
    hybrid_engine *engine = open_with(HYBRID_HOST);

    (void)state;
    assert_int_equal(hybrid_pin(engine, memory, sizeof memory), HYBRID_OK);
    assert_false(hy_pinned(&engine->ctx, memory, 1));
    assert_int_equal(hybrid_unpin(engine, memory), HYBRID_OK);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_pins(), before);
}

static void pieces_end_at_multiples_of_their_size(void **state)
{
    static char memory[8 * PIECE];
    hybrid_engine *engine = open_with(HYBRID_AUTO);
    /* memory + shift is a multiple of PIECE, in which the fake device pins memory */
    const size_t shift = PIECE - (uintptr_t)memory % PIECE;
    static const struct {
        size_t at, bytes;
        int pieces;
    } ranges[] = {{0, 1, 1},         {0, PIECE, 1},     {0, PIECE + 1, 2},
                  {1, PIECE - 1, 1}, {1, PIECE, 2},     {PIECE - 1, 1, 1},
                  {PIECE - 1, 2, 2}, {7, 3 * PIECE, 4}, {0, 4 * PIECE, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const int64_t before = fake_pins(), alive = fake_alive();
        char *at = memory + shift + ranges[i].at;
        assert_int_equal(hybrid_pin(engine, at, ranges[i].bytes), HYBRID_OK);
        assert_int_equal(fake_pins() - before, ranges[i].pieces);
        assert_int_equal(fake_alive() - alive, ranges[i].pieces);
        assert_int_equal(hybrid_unpin(engine, at), HYBRID_OK);
        assert_int_equal(fake_alive(), alive);
    }
    hybrid_engine_destroy(engine);
}

/* Pins RANGES ranges of STEP bytes with gaps of STEP bytes, in a mixed order, and unpins
   every second one. For each position and several lengths, memory must count as pinned
   if and only if it lies within a pinned range. */
static void ranges_are_found_again(void **state)
{
    enum { RANGES = 101, STEP = 40, STRIDE = 37 };
    static char memory[2 * RANGES * STEP];
    hybrid_engine *engine = open_with(HYBRID_AUTO);

    (void)state;
    for (int i = 0; i < RANGES; i++)
        assert_int_equal(
            hybrid_pin(engine, memory + i * STRIDE % RANGES * 2 * STEP, STEP), HYBRID_OK);
    for (int i = 1; i < RANGES; i += 2)
        assert_int_equal(hybrid_unpin(engine, memory + i * 2 * STEP), HYBRID_OK);
    for (int i = 0; i < 2 * RANGES * STEP; i++)
        for (int bytes = 1; bytes <= STEP + 1; bytes += 13) {
            const int in = i % (4 * STEP) + bytes <= STEP;
            assert_int_equal(hy_pinned(&engine->ctx, memory + i, (size_t)bytes), in);
        }
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

/* ---- one run ---- */

/* Another engine finds memory pinned that a run has pinned, but only until the run
   ends. */
static void no_engine_relies_on_the_run_of_another(void **state)
{
    static char memory[2 * PIECE];
    hybrid_engine *first = open_with(HYBRID_AUTO), *second = open_with(HYBRID_AUTO);
    hy_context *one = &first->ctx, *other = &second->ctx;
    char *at = memory + PIECE - (uintptr_t)memory % PIECE; /* begins a piece */
    hy_run_pin pin, again;

    (void)state;
    assert_int_equal(hy_run_pin_add(one, at, 100, &pin), HYBRID_OK);
    assert_true(hy_pinned(one, at, 100) && !hy_pinned(other, at, 100));
    assert_true(!hy_pinned(other, at + 99, 1) && !hy_pinned(other, at + 100, 1));
    assert_int_equal(hy_run_pin_add(other, at + 99, 10, &again), HYBRID_OK);
    assert_int_equal(again.range.bytes, 0);
    hy_run_pin_remove(&again);
    assert_true(hy_pinned(one, at, 100));
    hy_run_pin_remove(&pin);
    assert_false(hy_pinned(one, at, 1));
    /* engines may rely on memory that the caller has pinned */
    assert_int_equal(hybrid_pin(first, at, 100), HYBRID_OK);
    assert_true(hy_pinned(other, at, 100));
    assert_int_equal(hy_run_pin_add(other, at + 50, 100, &again), HYBRID_OK);
    assert_int_equal(again.range.bytes, 0);
    assert_string_equal(hybrid_engine_message(second), "");
    hybrid_engine_destroy(first);
    hybrid_engine_destroy(second);
    assert_int_equal(fake_alive(), 0);
}

/* ---- failures ---- */

static void what_the_system_refuses_leaves_nothing(void **state)
{
    static char memory[6 * PIECE];
    hybrid_engine *engine = open_with(HYBRID_AUTO);
    const int64_t alive   = fake_alive();
    int64_t refusals      = 0;

    (void)state;
    for (;; refusals++) {
        fault_arm_pins(refusals + 1);
        const hybrid_status status = hybrid_pin(engine, memory + 3, 5 * PIECE);
        fault_arm_pins(0);
        if (status == HYBRID_OK)
            break;
        assert_int_equal(status, HYBRID_NO_MEMORY);
        assert_non_null(strstr(hybrid_engine_message(engine), "refuses to pin"));
        assert_int_equal(fake_alive(), alive);
        assert_false(hy_pinned(&engine->ctx, memory + 3, 1));
    }
    assert_in_range(refusals, 5, 6);
    assert_int_equal(hybrid_unpin(engine, memory + 3), HYBRID_OK);
    hybrid_engine_destroy(engine);
}

/* If the device is lost, pinning returns DEVICE_FAILED, and not a lack of memory. */
static void a_device_that_failed_pins_nothing(void **state)
{
    static char memory[2 * PIECE];
    hybrid_engine *engine = open_with(HYBRID_AUTO);
    hy_backend *device    = engine->device;
    hy_buffer block;

    (void)state;
    fault_arm_for_good(1);
    assert_int_equal(device->ops->alloc(device, HY_DEVICE, 8, "a test", &block),
                     HYBRID_DEVICE_FAILED);
    assert_int_equal(hybrid_pin(engine, memory, sizeof memory), HYBRID_DEVICE_FAILED);
    assert_non_null(strstr(hybrid_engine_message(engine), "pinning failed"));
    assert_false(hy_pinned(&engine->ctx, memory, 1));
    fault_arm(0);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(nothing_is_pinned_without_a_device),
        cmocka_unit_test(pieces_end_at_multiples_of_their_size),
        cmocka_unit_test(ranges_are_found_again),
        cmocka_unit_test(no_engine_relies_on_the_run_of_another),
        cmocka_unit_test(what_the_system_refuses_leaves_nothing),
        cmocka_unit_test(a_device_that_failed_pins_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
