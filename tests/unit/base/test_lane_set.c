/* tests/unit/base/test_lane_set.c - plans reuse lanes, marks and threads of earlier
   plans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/plan/plan.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows;

static const hy_backend_ops *const fakes[] = {&hy_fault_backend_ops, &hy_host_backend_ops,
                                              NULL};
static const hy_variant *const variants[]  = {&hy_spgemm_fake_esc, &hy_spgemm_host_rows,
                                              NULL};

enum { ROWS = 60, CHUNK_ROWS = 13 };

static hybrid_engine *engine;
static hybrid_csr A;
static oracle square;

static int open_world(void **state)
{
    const test_kind kind          = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    (void)state;
    options.threads = 2;
    fake_delays(1, 20);
    matrix_random(ROWS, ROWS, 4, 3, kind, &A);
    oracle_spgemm(&A, &A, &square);
    return (int)fake_engine_open(&options, fakes, variants, &engine);
}

static int close_world(void **state)
{
    (void)state;
    hybrid_engine_destroy(engine);
    oracle_free(&square);
    matrix_free(&A);
    return fake_alive() == 0 ? 0 : -1;
}

static hybrid_plan *make(int64_t chunk_rows)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.chunk_rows = chunk_rows;
    options.split      = HYBRID_SPLIT_GPU;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
    return plan;
}

static hybrid_status run(hybrid_plan *plan)
{
    hybrid_csr C;
    const hybrid_status status = hybrid_spgemm_run(plan, &A, &A, &C);

    if (status == HYBRID_OK) {
        assert_null(oracle_check(&square, &C, 1));
        hybrid_csr_free(engine, &C);
    }
    return status;
}

static int count_idle(void)
{
    int count = 0;

    for (const hy_lane_set *idle = engine->ctx.lane_sets; idle; idle = idle->next)
        count++;
    return count;
}

/* A plan gets the lanes, marks and threads (a lane set) of the plan that was destroyed
   before, even if its chunks differ. */
static void the_next_plan_gets_what_the_last_one_had(void **state)
{
    (void)state;
    hybrid_engine_trim(engine);
    hybrid_plan *plan           = make(CHUNK_ROWS);
    const hy_lane_set *lane_set = plan->portions->site->lane_set;
    const pthread_t watcher     = lane_set->watchers[HY_ON_OUT].id;
    const pthread_t loader      = lane_set->loader.id;
    const hy_lane *lane         = lane_set->lanes[HY_ON_RUN];
    const int marks             = lane_set->marks.count;
    assert_int_equal(run(plan), HYBRID_OK);
    assert_int_equal(count_idle(), 0);
    hybrid_plan_destroy(plan);
    assert_int_equal(count_idle(), 1);

    plan = make(CHUNK_ROWS);
    assert_ptr_equal(plan->portions->site->lane_set, lane_set);
    assert_true(pthread_equal(lane_set->watchers[HY_ON_OUT].id, watcher));
    assert_true(pthread_equal(lane_set->loader.id, loader));
    assert_ptr_equal(lane_set->lanes[HY_ON_RUN], lane);
    assert_int_equal(lane_set->marks.count, marks);
    assert_int_equal(lane_set->marks.used, marks);
    assert_int_equal(run(plan), HYBRID_OK);
    assert_int_equal(run(plan), HYBRID_OK);
    hybrid_plan_destroy(plan);

    plan = make(ROWS); /* with ROWS rows in a chunk the plan has one slot and needs fewer
                          marks */
    assert_ptr_equal(plan->portions->site->lane_set, lane_set);
    assert_int_equal(lane_set->marks.count, marks);
    assert_in_range(lane_set->marks.used, 1, marks - 1);
    assert_int_equal(run(plan), HYBRID_OK);
    hybrid_plan_destroy(plan);
}

static void plans_that_are_open_at_once_share_nothing(void **state)
{
    (void)state;
    hybrid_plan *first  = make(CHUNK_ROWS);
    hybrid_plan *second = make(CHUNK_ROWS);
    hybrid_plan *third  = make(CHUNK_ROWS);

    assert_ptr_not_equal(first->portions->site->lane_set,
                         second->portions->site->lane_set);
    assert_ptr_not_equal(first->portions->site->lane_set,
                         third->portions->site->lane_set);
    assert_ptr_not_equal(second->portions->site->lane_set,
                         third->portions->site->lane_set);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(first), HYBRID_OK);
        assert_int_equal(run(second), HYBRID_OK);
        assert_int_equal(run(third), HYBRID_OK);
    }
    hybrid_plan_destroy(second);
    assert_int_equal(run(first), HYBRID_OK);
    hybrid_plan_destroy(first);
    assert_int_equal(count_idle(), 2);
    hybrid_plan_destroy(third);
    assert_int_equal(count_idle(), 2); /* the engine keeps at most two unused lane
                                          sets */
}

/* Lane sets are kept for each backend: a plan on the host does not get the device's
   lanes. */
static void each_backend_has_its_own(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    (void)state;
    hybrid_engine_trim(engine);
    hybrid_plan_destroy(make(CHUNK_ROWS));
    options.variant    = "spgemm.host.rows";
    options.chunk_rows = CHUNK_ROWS;
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
    assert_ptr_equal(plan->portions->site->lane_set->backend, engine->host);
    assert_null(plan->portions->site->lane_set->lanes[HY_ON_IN]);
    assert_int_equal(run(plan), HYBRID_OK);
    hybrid_plan_destroy(plan);
    assert_int_equal(count_idle(), 2);
}

/* If a plan on the host has one chunk, the calling thread computes it in place, without
   lanes. */
static void one_chunk_on_the_host_needs_none(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    (void)state;
    hybrid_engine_trim(engine);
    options.variant = "spgemm.host.rows";
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
    assert_null(plan->portions->site->lane_set);
    assert_int_equal(run(plan), HYBRID_OK);
    hybrid_plan_destroy(plan);
    assert_int_equal(count_idle(), 0);
}

/* The lanes, marks and threads of a plan are not reused if work in one of its lanes
   failed. */
static void what_failed_is_not_kept(void **state)
{
    (void)state;
    hybrid_engine_trim(engine);
    hybrid_plan *plan = make(CHUNK_ROWS);
    fault_arm(5);
    assert_int_equal(run(plan), HYBRID_DEVICE_FAILED);
    fault_arm(0);
    assert_int_equal(run(plan), HYBRID_OK); /* the plan whose run failed can run again */
    hybrid_plan_destroy(plan);
    assert_int_equal(count_idle(), 0);

    plan = make(CHUNK_ROWS);
    assert_int_equal(run(plan), HYBRID_OK);
    hybrid_plan_destroy(plan);
    assert_int_equal(count_idle(), 1);
}

/* A plan that cannot be made returns the lanes, marks and threads that it took, for
   reuse. */
static void a_plan_that_fails_gives_back_what_it_took(void **state)
{
    const hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan                 = make(CHUNK_ROWS);
    const hy_lane_set *lane_set       = plan->portions->site->lane_set;

    (void)state;
    hybrid_plan_destroy(plan);
    const int64_t alive = fake_alive();
    const int idle      = count_idle();
    fault_arm(1);
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan),
                     HYBRID_DEVICE_FAILED);
    fault_arm(0);
    assert_int_equal(count_idle(), idle);
    assert_int_equal(fake_alive(), alive);
    plan = make(CHUNK_ROWS);
    assert_ptr_equal(plan->portions->site->lane_set, lane_set);
    assert_int_equal(run(plan), HYBRID_OK);
    hybrid_plan_destroy(plan);
}

static void trim_closes_what_is_idle(void **state)
{
    (void)state;
    hybrid_plan *plan = make(CHUNK_ROWS);
    hybrid_plan_destroy(make(CHUNK_ROWS));
    const int64_t alive = fake_alive();
    assert_true(count_idle() > 0);
    hybrid_engine_trim(engine);
    assert_int_equal(count_idle(), 0);
    assert_true(fake_alive() < alive);
    assert_int_equal(run(plan), HYBRID_OK);
    hybrid_plan_destroy(plan); /* its lane set is kept until the engine is destroyed */
    assert_int_equal(count_idle(), 1);
}

/* ---- inboxes of threads ---- */

enum { TURNS = 2000 };

typedef struct letter {
    hy_task task; /* first member, so that a task pointer is also one to its struct */
    int read;
} letter;

typedef struct pair {
    hy_inbox there, back;
} pair;

static void *send_back(void *arg)
{
    pair *p = arg;
    hy_task *task;

    while ((task = hy_inbox_pop(&p->there))) {
        ((letter *)task)->read++;
        hy_inbox_push(&p->back, task);
    }
    return NULL;
}

/* Tasks are sent between two threads. They arrive in order, and belong to one thread at
   a time, whether the receiver sleeps at once or polls for a while first. */
static void tasks_go_to_and_fro(void **state)
{
    letter letters[2] = {{.read = 0}, {.read = 0}};
    pthread_t thread;
    pair p;

    (void)state;
    for (int looks = 0; looks < 2; looks++) {
        hy_inbox_open(&p.there, NULL, NULL, looks);
        hy_inbox_open(&p.back, NULL, NULL, looks);
        assert_int_equal(pthread_create(&thread, NULL, send_back, &p), 0);
        for (int i = 0; i < TURNS; i++) {
            hy_inbox_push(&p.there, &letters[0].task);
            hy_inbox_push(&p.there, &letters[1].task);
            assert_ptr_equal(hy_inbox_pop(&p.back), &letters[0].task);
            assert_ptr_equal(hy_inbox_pop(&p.back), &letters[1].task);
        }
        hy_inbox_close(&p.there);
        assert_int_equal(pthread_join(thread, NULL), 0);
        hy_inbox_destroy(&p.there);
        hy_inbox_destroy(&p.back);
    }
    assert_int_equal(letters[0].read, 2 * TURNS);
    assert_int_equal(letters[1].read, 2 * TURNS);
}

/* ---- NUMA nodes ---- */

typedef struct place {
    hy_task task;
    sem_t done;
    cpu_set_t cores;
} place;

static void note_cores(hy_task *task, int worker)
{
    place *p = (place *)task;

    (void)worker;
    assert_int_equal(sched_getaffinity(0, sizeof p->cores, &p->cores), 0);
    sem_post(&p->done);
}

/* Returns the cores on which the loader's thread of a device on `node` may run. hwloc
   simulates a machine with one core on each node, numbered as the processors of this
   machine. */
static cpu_set_t cores_of_loader(int node)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    place p                       = {.task = {.run = note_cores}};
    hy_lane_set *lane_set;
    hybrid_engine *own;
    char machine[64];

    snprintf(machine, sizeof machine, "node:%ld core:1 pu:1",
             sysconf(_SC_NPROCESSORS_CONF));
    setenv("HWLOC_SYNTHETIC", machine, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    options.threads = 1;
    assert_int_equal(fake_engine_open(&options, fakes, variants, &own), HYBRID_OK);
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    assert_int_equal(own->device->node, -1); /* the fake device has no PCI address */
    own->device->node = node;
    assert_int_equal(sem_init(&p.done, 0, 0), 0);
    assert_int_equal(hy_lane_set_acquire(&own->ctx, own->device, &lane_set), HYBRID_OK);
    assert_int_equal(hy_lane_set_loader(lane_set), HYBRID_OK);
    hy_inbox_push(&lane_set->loader.inbox, &p.task);
    while (sem_wait(&p.done) != 0)
        ;
    hy_lane_set_release(&own->ctx, lane_set, 1);
    hybrid_engine_destroy(own);
    sem_destroy(&p.done);
    return p.cores;
}

static void threads_run_on_the_node_of_their_device(void **state)
{
    cpu_set_t all;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    const cpu_set_t anywhere = cores_of_loader(-1);
    assert_true(CPU_EQUAL(&anywhere, &all));
    if (hy_topology_has_quota(hy_pool_topology(engine->ctx.pool)) || !CPU_ISSET(0, &all))
        return;
    const cpu_set_t first = cores_of_loader(0);
    assert_int_equal(CPU_COUNT(&first), 1);
    assert_true(CPU_ISSET(0, &first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_run_on_the_node_of_their_device),
        cmocka_unit_test(the_next_plan_gets_what_the_last_one_had),
        cmocka_unit_test(plans_that_are_open_at_once_share_nothing),
        cmocka_unit_test(each_backend_has_its_own),
        cmocka_unit_test(one_chunk_on_the_host_needs_none),
        cmocka_unit_test(what_failed_is_not_kept),
        cmocka_unit_test(a_plan_that_fails_gives_back_what_it_took),
        cmocka_unit_test(trim_closes_what_is_idle),
        cmocka_unit_test(tasks_go_to_and_fro),
    };
    return cmocka_run_group_tests_name("lane_set", tests, open_world, close_world);
}
