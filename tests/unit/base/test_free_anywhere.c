/* tests/unit/base/test_free_anywhere.c - several threads free results while the engine
   computes others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "support/inputs/cases.h"
#include "support/runs/each.h"
#include "support/fake/fake_backend.h"
#include "support/check/oracle.h"
#include "support/engines/places.h"

enum {
    THREADS = 3,
    BATCH   = 14, /* results computed in a round; their arrays are more than the engine
                     keeps for reuse */
    ROUNDS = 6
};

/* Results that the calling thread offers to other threads, which free them. A thread
   takes a result by exchanging the pointer for NULL. */
typedef struct gifts {
    hybrid_engine *engine;
    hybrid_csr *csr[BATCH];
    hybrid_dense *dense[BATCH];
    int over; /* 1: no more results will be offered; read and written atomically */
} gifts;

static void free_csr(hybrid_engine *engine, hybrid_csr *csr)
{
    if (csr)
        hybrid_csr_free(engine, csr);
    free(csr);
}

static void free_dense(hybrid_engine *engine, hybrid_dense *dense)
{
    if (dense)
        hybrid_dense_free(engine, dense);
    free(dense);
}

static void *free_them(void *arg)
{
    gifts *g = arg;

    while (!__atomic_load_n(&g->over, __ATOMIC_RELAXED)) {
        for (int i = 0; i < BATCH; i++) {
            free_csr(g->engine, __atomic_exchange_n(&g->csr[i], NULL, __ATOMIC_ACQ_REL));
            free_dense(g->engine,
                       __atomic_exchange_n(&g->dense[i], NULL, __ATOMIC_ACQ_REL));
        }
        sched_yield();
    }
    return NULL;
}

static void *new_struct(size_t bytes)
{
    void *made = calloc(1, bytes);

    assert_non_null(made);
    return made;
}

/* Computes BATCH results of each kind, and then offers them all. Frees those of the last
   round that no thread has taken. */
static void compute(gifts *g, hybrid_plan *plan, const hybrid_csr *A, const oracle *right)
{
    hybrid_csr *csr[BATCH];
    hybrid_dense *dense[BATCH];

    for (int i = 0; i < BATCH; i++) {
        csr[i]   = new_struct(sizeof **csr);
        dense[i] = new_struct(sizeof **dense);
        assert_int_equal(hybrid_spgemm_run(plan, A, A, csr[i]), HYBRID_OK);
        assert_int_equal(hybrid_dense_create(g->engine, 40 + i, 1000, HYBRID_ROW_MAJOR,
                                             HYBRID_F32, dense[i]),
                         HYBRID_OK);
        assert_null(oracle_check(right, csr[i], 1));
    }
    for (int i = 0; i < BATCH; i++) {
        free_csr(g->engine, __atomic_exchange_n(&g->csr[i], csr[i], __ATOMIC_ACQ_REL));
        free_dense(g->engine,
                   __atomic_exchange_n(&g->dense[i], dense[i], __ATOMIC_ACQ_REL));
    }
}

static void check_place(place where, size_t host_bytes)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine *engine =
        host_bytes ? each_open(where == ON_HOST, 2, host_bytes) : place_open(where, 0);
    gifts g = {.engine = engine};
    pthread_t threads[THREADS];
    hybrid_csr A;
    oracle right;

    matrix_random(700, 700, 9, 4, kind, &A);
    oracle_spgemm(&A, &A, &right);
    hybrid_plan *plan = each_plan(engine, &A, &A, 90, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, free_them, &g), 0);
    for (int round = 0; round < ROUNDS; round++) {
        compute(&g, plan, &A, &right);
        if (round == ROUNDS / 2)
            hybrid_engine_trim(engine);
    }
    __atomic_store_n(&g.over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < BATCH; i++) {
        free_csr(engine, g.csr[i]);
        free_dense(engine, g.dense[i]);
    }
    hybrid_plan_destroy(plan);
    hybrid_engine_trim(engine);
    assert_int_equal(hy_meter_used(&engine->ctx.memory.meter) < (4 << 20), 1);
    hybrid_engine_destroy(engine);
    oracle_free(&right);
    matrix_free(&A);
    assert_int_equal(fake_alive(), 0);
}

static void while_the_engine_computes(void **state)
{
    (void)state;
    for (place where = 0; where < PLACES; where++)
        check_place(where, 0);
    assert_true(fake_pins() > 0); /* pages of results were pinned; fake_alive() was 0 at
                                     the end, so they were unpinned */
}

/* If a new result needs memory, pages of freed results that the engine keeps for reuse
   are freed. */
static void while_memory_is_short(void **state)
{
    (void)state;
    check_place(ON_HOST, (size_t)64 << 20);
    check_place(ON_DEVICE, (size_t)64 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_the_engine_computes),
        cmocka_unit_test(while_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
