/* tests/unit/base/test_host_lane.c - order, marks, waits and errors of the host's
   lanes. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads/clock.h"
#include "host/backend/host_lane.h"
#include "tests/support/engines/context.h"
#include "tests/support/engines/group.h"
#include "tests/support/subjects/host_lanes.h"

enum { MANY = 1000, ROUNDS = 200 };

/* ---- work for lanes ---- */

static atomic_int inside, clashes;
static int notes[2 * ROUNDS + MANY];
static atomic_int noted;
static sem_t gate;

static void reset(void)
{
    atomic_store(&inside, 0);
    atomic_store(&clashes, 0);
    atomic_store(&noted, 0);
    sem_init(&gate, 0, 0);
}

/* Work for a lane: appends its number to `notes`, and counts a clash if another call runs
   at the same time. */
static hybrid_status note(hy_lane *lane, void *number)
{
    (void)lane;
    if (atomic_fetch_add(&inside, 1) != 0)
        atomic_fetch_add(&clashes, 1);
    notes[atomic_fetch_add(&noted, 1)] = (int)(intptr_t)number;
    atomic_fetch_sub(&inside, 1);
    return HYBRID_OK;
}

static hybrid_status stand_at_gate(hy_lane *lane, void *arg)
{
    (void)lane, (void)arg;
    sem_wait(&gate);
    return HYBRID_OK;
}

static hybrid_status fail_with(hy_lane *lane, void *status)
{
    (void)lane;
    return (hybrid_status)(intptr_t)status;
}

/* ---- tests ---- */

static void keeps_order(int threads)
{
    open_host_lanes(threads);
    reset();
    hy_lane *lane = new_lane();
    give_work(lane, stand_at_gate, 0); /* blocks the lane, so that its queue grows */
    for (int i = 0; i < MANY; i++)
        give_work(lane, note, i);
    sem_post(&gate);
    finish_lane(lane, HYBRID_OK);
    assert_int_equal(atomic_load(&noted), MANY);
    assert_int_equal(atomic_load(&clashes), 0);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(notes[i], i);
    host->ops->lane_close(lane);
    close_host_lanes();
}

static void test_order(void **state)
{
    (void)state;
    keeps_order(1);
    keeps_order(4);
}

static void test_close_waits(void **state)
{
    (void)state;
    open_host_lanes(2);
    reset();
    hy_lane *lane = new_lane();
    for (int i = 0; i < MANY; i++)
        give_work(lane, note, i);
    host->ops->lane_close(lane);
    assert_int_equal(atomic_load(&noted), MANY);
    host->ops->lane_close(NULL);
    host->ops->mark_free(NULL);
    close_host_lanes();
}

static void test_mark_has_time(void **state)
{
    (void)state;
    open_host_lanes(1);
    reset();
    hy_lane *lane  = new_lane();
    hy_mark *first = new_mark(), *second = new_mark();
    const int64_t before = hy_now_ns();
    assert_int_equal(host->ops->mark_set(lane, first), HYBRID_OK);
    give_work(lane, note, 1);
    assert_int_equal(host->ops->mark_set(lane, second), HYBRID_OK);
    assert_int_equal(host->ops->host_wait(second), HYBRID_OK);
    assert_int_equal(host->ops->host_wait(first), HYBRID_OK);
    assert_int_equal(atomic_load(&noted), 1);
    assert_true(host->ops->mark_ns(first) >= before);
    assert_true(host->ops->mark_ns(second) >= host->ops->mark_ns(first));
    assert_true(host->ops->mark_ns(second) <= hy_now_ns());
    host->ops->mark_free(first);
    host->ops->mark_free(second);
    host->ops->lane_close(lane);
    close_host_lanes();
}

/* A wait for a mark that was never set ends at once. A wait for a set mark ends when the
   mark is reached. */
static void lanes_wait(int threads)
{
    open_host_lanes(threads);
    reset();
    hy_lane *a = new_lane(), *b = new_lane();
    hy_mark *mark = new_mark();
    assert_int_equal(host->ops->lane_wait(b, mark), HYBRID_OK);
    give_work(b, note, 0);
    finish_lane(b, HYBRID_OK);
    give_work(a, stand_at_gate, 0);
    give_work(a, note, 1);
    assert_int_equal(host->ops->mark_set(a, mark), HYBRID_OK);
    assert_int_equal(host->ops->lane_wait(b, mark), HYBRID_OK);
    give_work(b, note, 2);
    assert_int_equal(atomic_load(&noted), 1);
    sem_post(&gate);
    finish_lane(b, HYBRID_OK);
    assert_int_equal(atomic_load(&noted), 3);
    assert_int_equal(notes[1], 1);
    assert_int_equal(notes[2], 2);
    host->ops->mark_free(mark);
    host->ops->lane_close(a);
    host->ops->lane_close(b);
    close_host_lanes();
}

static void test_lane_waits(void **state)
{
    (void)state;
    lanes_wait(1);
    lanes_wait(4);
}

/* Two lanes alternate: each waits for a mark of the other, and the marks are used
   repeatedly. */
static void take_turns(int threads)
{
    open_host_lanes(threads);
    reset();
    hy_lane *a = new_lane(), *b = new_lane();
    hy_mark *of_a = new_mark(), *of_b = new_mark();
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(host->ops->lane_wait(a, of_b), HYBRID_OK);
        give_work(a, note, 2 * i);
        assert_int_equal(host->ops->mark_set(a, of_a), HYBRID_OK);
        assert_int_equal(host->ops->lane_wait(b, of_a), HYBRID_OK);
        give_work(b, note, 2 * i + 1);
        assert_int_equal(host->ops->mark_set(b, of_b), HYBRID_OK);
    }
    assert_int_equal(host->ops->host_wait(of_b), HYBRID_OK);
    assert_int_equal(atomic_load(&noted), 2 * ROUNDS);
    for (int i = 0; i < 2 * ROUNDS; i++)
        assert_int_equal(notes[i], i);
    assert_int_equal(atomic_load(&clashes), 0);
    host->ops->lane_close(a);
    host->ops->lane_close(b);
    host->ops->mark_free(of_a);
    host->ops->mark_free(of_b);
    close_host_lanes();
}

static void test_turns(void **state)
{
    (void)state;
    take_turns(1);
    take_turns(4);
}

/* The first error is reported, later work of the lane is skipped, and lanes that wait for
   it report the error too. */
static void test_errors(void **state)
{
    (void)state;
    open_host_lanes(2);
    reset();
    hy_lane *a = new_lane(), *b = new_lane();
    hy_mark *before = new_mark(), *after = new_mark(), *of_b = new_mark();
    give_work(a, note, 1);
    assert_int_equal(host->ops->mark_set(a, before), HYBRID_OK);
    give_work(a, fail_with, HYBRID_NO_MEMORY);
    give_work(a, note, 2);
    give_work(a, fail_with, HYBRID_BAD_STATE);
    assert_int_equal(host->ops->mark_set(a, after), HYBRID_OK);
    assert_int_equal(host->ops->lane_wait(b, after), HYBRID_OK);
    give_work(b, note, 3);
    assert_int_equal(host->ops->mark_set(b, of_b), HYBRID_OK);
    assert_int_equal(host->ops->host_wait(of_b), HYBRID_NO_MEMORY);
    assert_int_equal(host->ops->host_wait(after), HYBRID_NO_MEMORY);
    assert_int_equal(host->ops->host_wait(before), HYBRID_OK);
    assert_int_equal(atomic_load(&noted), 1);
    host->ops->mark_free(before);
    host->ops->mark_free(after);
    host->ops->mark_free(of_b);
    host->ops->lane_close(a);
    host->ops->lane_close(b);
    close_host_lanes();
}

/* An error that was reported does not occur again, because a plan can run again. */
static void test_error_is_forgotten(void **state)
{
    (void)state;
    open_host_lanes(1);
    reset();
    hy_lane *lane = new_lane();
    give_work(lane, fail_with, HYBRID_NO_MEMORY);
    finish_lane(lane, HYBRID_NO_MEMORY);
    give_work(lane, note, 7);
    finish_lane(lane, HYBRID_OK);
    assert_int_equal(notes[0], 7);
    host->ops->lane_close(lane);
    close_host_lanes();
}

/* The last setting of a mark fails, because the queue of the lane is full and cannot
   grow. A thread that waits for the mark wakes, although the lane reaches earlier
   settings afterwards. */
static void test_failed_setting(void **state)
{
    hybrid_status status = HYBRID_OK;

    (void)state;
    open_host_lanes(1);
    reset();
    hy_lane *lane = new_lane();
    hy_mark *mark = new_mark();
    give_work(lane, stand_at_gate, 0);
    ctx->memory.failures = 1;
    for (int i = 0; i < MANY && status == HYBRID_OK; i++)
        status = host->ops->mark_set(lane, mark);
    assert_int_equal(status, HYBRID_NO_MEMORY);
    sem_post(&gate);
    finish_lane(lane, HYBRID_OK);
    assert_int_equal(host->ops->host_wait(mark), HYBRID_NO_MEMORY);
    host->ops->mark_free(mark);
    host->ops->lane_close(lane);
    close_host_lanes();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_close_waits),
        cmocka_unit_test(test_mark_has_time),
        cmocka_unit_test(test_lane_waits),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_error_is_forgotten),
        cmocka_unit_test(test_failed_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
