/* tests/run/calls/test_two_engines.c - two threads compute at once, each with its own
   engines.

   The engines compute on the host and on fake devices. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"

enum { THREADS = 2, ENGINES = 5, PRODUCTS = 10, ROWS = 400, COLUMNS = 9 };

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows, hy_spmm_host_rows;

static const hy_backend_ops *const hosts[]  = {&hy_host_backend_ops, NULL};
static const hy_backend_ops *const fakes[]  = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                               NULL};
static const hy_variant *const by_host[]    = {&hy_spgemm_host_rows, &hy_spmm_host_rows,
                                               NULL};
static const hy_variant *const by_devices[] = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                               NULL};

/* A thread, and the backends and variants of the engines that it creates. */
typedef struct caller {
    const hy_backend_ops *const *backends;
    const hy_variant *const *variants;
    size_t device_bytes;
    unsigned seed;
    int products, failures;
} caller;

static void judge(caller *c, hybrid_engine *engine, hybrid_status status, const char *bad)
{
    c->products++;
    if (status == HYBRID_OK && !bad)
        return;
    c->failures++;
    fprintf(stderr, "thread %u, product %d: %s\n", c->seed, c->products,
            bad ? bad : hybrid_engine_message(engine));
}

static void square(caller *c, hybrid_engine *engine, const hybrid_csr *A)
{
    const char *bad = NULL;
    oracle reference;
    hybrid_csr C;

    oracle_spgemm(A, A, &reference);
    const hybrid_status status = hybrid_spgemm(engine, A, A, &C);
    if (status == HYBRID_OK) {
        bad = oracle_check(&reference, &C, 1);
        hybrid_csr_free(engine, &C);
    }
    judge(c, engine, status, bad);
    oracle_free(&reference);
}

static void times_x(caller *c, hybrid_engine *engine, const hybrid_csr *A)
{
    const test_kind kind = {A->type, HYBRID_I64, 1};
    const char *bad      = NULL;
    hybrid_dense X, Y, before;

    dense_make(A->cols, COLUMNS, 0, HYBRID_ROW_MAJOR, c->seed, kind, &X);
    dense_make(A->rows, COLUMNS, 0, HYBRID_ROW_MAJOR, c->seed + 1, kind, &Y);
    dense_copy(&Y, &before);
    const hybrid_status status = hybrid_spmm(engine, 2, A, &X, 3, &Y);
    if (status == HYBRID_OK)
        bad = oracle_check_spmm(2, A, &X, 3, &before, &Y, 1);
    judge(c, engine, status, bad);
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
}

/* A thread that creates engines, computes with them and destroys them, while the other
   thread does the same. */
static void *compute(void *arg)
{
    caller *c = arg;

    for (unsigned e = 0; e < ENGINES; e++) {
        hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
        hybrid_engine *engine;
        options.threads      = 2;
        options.device_bytes = c->device_bytes;
        if (fake_engine_open(&options, c->backends, c->variants, &engine) != HYBRID_OK) {
            c->failures++;
            break;
        }
        for (unsigned k = 0; k < PRODUCTS; k++) {
            const test_kind kind = {k % 2 ? HYBRID_F64 : HYBRID_F32, HYBRID_I64, 1};
            hybrid_csr A;
            matrix_random(ROWS, ROWS, 5, 100 * c->seed + 10 * e + k, kind, &A);
            square(c, engine, &A);
            times_x(c, engine, &A);
            matrix_free(&A);
        }
        hybrid_engine_destroy(engine);
    }
    return NULL;
}

/* Runs two threads at once, which have different matrices, budgets and types. */
static void run_at_once(caller *callers)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compute, &callers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(callers[i].failures, 0);
        assert_int_equal(callers[i].products, 2 * ENGINES * PRODUCTS);
    }
}

static void two_hosts(void **state)
{
    caller callers[THREADS] = {{.backends = hosts, .variants = by_host, .seed = 1},
                               {.backends = hosts, .variants = by_host, .seed = 2}};

    (void)state;
    run_at_once(callers);
}

static void two_devices(void **state)
{
    caller callers[THREADS] = {
        {.backends = fakes, .variants = by_devices, .seed = 3},
        {.backends = fakes, .variants = by_devices, .seed = 4, .device_bytes = 60000}};

    (void)state;
    fake_delays(1, 50);
    run_at_once(callers);
    assert_int_equal(fake_alive(), 0);
}

static void a_host_and_a_device(void **state)
{
    caller callers[THREADS] = {{.backends = hosts, .variants = by_host, .seed = 5},
                               {.backends = fakes, .variants = by_devices, .seed = 6}};

    (void)state;
    fake_delays(2, 50);
    run_at_once(callers);
    assert_int_equal(fake_alive(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_hosts),
        cmocka_unit_test(two_devices),
        cmocka_unit_test(a_host_and_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
