/* tests/unit/hdf5/test_h5_fork.c - a child is made by fork() while another thread uses
   libhdf5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/hdf5/h5_file.h"

enum { SECONDS = 10, TRIES = 100 };

static sem_t entered;
static int has_forked; /* atomic */

/* Leaves libhdf5 when the process has forked. If fork() waits for this thread, leaves
   after some time. */
static void *stay(void *unused)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    hy_h5_entered state;

    hy_h5_enter(&state);
    sem_post(&entered);
    for (int i = 0; i < TRIES && !__atomic_load_n(&has_forked, __ATOMIC_SEQ_CST); i++)
        nanosleep(&pause, NULL);
    hy_h5_leave(&state);
    return unused;
}

static void a_child_uses_libhdf5(void **state)
{
    hy_h5_entered own;
    pthread_t thread;
    int status = -1;

    (void)state;
    sem_init(&entered, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, stay, NULL), 0);
    while (sem_wait(&entered) != 0)
        continue;
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS); /* ends a child that waits for a thread of the parent */
        hy_h5_enter(&own);
        hy_h5_leave(&own);
        _exit(0);
    }
    __atomic_store_n(&has_forked, 1, __ATOMIC_SEQ_CST);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    hy_h5_enter(&own);
    hy_h5_leave(&own);
    sem_destroy(&entered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_uses_libhdf5)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
