/* tests/run/device/test_tenants.c - a thread that is short of memory lets idle plans give
   theirs back, while the thread of the public call uses or destroys these plans. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/memory/memory.h"
#include "engine/api/engine.h"
#include "pipeline/site/tenant.h"
#include "support/engines/open_host.h"

enum { PATIENCE = 20000 }; /* yields of a thread that gives memory back */

typedef struct resident {
    hy_tenant tenant; /* the first member, so that &tenant is also the resident */
    sem_t leaving;
    size_t held;
    int is_used; /* 1: the main thread uses the tenant again, or has freed it; atomic */
    int has_left;
} resident;

static hy_tenancy bytes_of(const hy_tenant *tenant)
{
    return (hy_tenancy){.held = ((const resident *)tenant)->held};
}

/* Gives memory back slowly, so that the main thread meanwhile may do what it should not.
 */
static void leave(hy_tenant *tenant)
{
    resident *r = (resident *)tenant;

    sem_post(&r->leaving);
    for (int i = 0; i < PATIENCE && !__atomic_load_n(&r->is_used, __ATOMIC_RELAXED); i++)
        sched_yield();
    r->held     = 0;
    r->has_left = !__atomic_load_n(&r->is_used, __ATOMIC_RELAXED);
}

static const hy_tenant_ops ops = {.bytes = bytes_of, .leave = leave};

static void *relieve(void *engine)
{
    hy_memory_relieve(&((hybrid_engine *)engine)->ctx);
    return NULL;
}

/* Calls `use` for an idle tenant that another thread lets leave. */
static void use_while_leaving(void (*use)(hy_tenant *tenant), int works)
{
    hybrid_engine *engine = open_host(1, 0);
    resident r            = {.tenant = {.ops = &ops, .backend = engine->host}, .held = 1};
    pthread_t thread;

    sem_init(&r.leaving, 0, 0);
    hy_tenant_work(&r.tenant);
    hy_tenant_rest(&r.tenant);
    assert_int_equal(pthread_create(&thread, NULL, relieve, engine), 0);
    sem_wait(&r.leaving);
    use(&r.tenant);
    __atomic_store_n(&r.is_used, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(r.has_left);
    assert_int_equal(r.tenant.works, works);
    hy_tenant_exit(&r.tenant);
    hybrid_engine_destroy(engine);
}

static void a_run_waits_until_its_memory_is_given_back(void **state)
{
    (void)state;
    use_while_leaving(hy_tenant_work, 1);
}

static void a_plan_is_not_freed_while_it_gives_memory_back(void **state)
{
    (void)state;
    use_while_leaving(hy_tenant_exit, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_waits_until_its_memory_is_given_back),
        cmocka_unit_test(a_plan_is_not_freed_while_it_gives_memory_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
