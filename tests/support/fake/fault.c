/* tests/support/fake/fault.c - ways to make one call of a product fail. */
#include "support/fake/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/fake/fake_backend.h"

static void arm_allocation(hybrid_engine *engine, int64_t n)
{
    __atomic_store_n(&engine->ctx.memory.failures, n, __ATOMIC_RELAXED);
}

static int allocation_is_armed(const hybrid_engine *engine)
{
    return __atomic_load_n(&engine->ctx.memory.failures, __ATOMIC_RELAXED) > 0;
}

static void arm_device(hybrid_engine *engine, int64_t n)
{
    (void)engine;
    fault_arm(n);
}

static void arm_lost(hybrid_engine *engine, int64_t n)
{
    (void)engine;
    fault_arm_for_good(n);
}

static int device_is_armed(const hybrid_engine *engine)
{
    (void)engine;
    return fault_is_armed();
}

static void arm_pin(hybrid_engine *engine, int64_t n)
{
    (void)engine;
    fault_arm_pins(n);
}

static int pin_is_armed(const hybrid_engine *engine)
{
    (void)engine;
    return fault_pins_are_armed();
}

const fault_kind fault_allocation = {arm_allocation, allocation_is_armed,
                                     HYBRID_NO_MEMORY};
const fault_kind fault_device     = {arm_device, device_is_armed, HYBRID_DEVICE_FAILED};
const fault_kind fault_lost       = {arm_lost, device_is_armed, HYBRID_DEVICE_FAILED};
const fault_kind fault_pin        = {arm_pin, pin_is_armed, HYBRID_NO_MEMORY};

static int is_status_of(const fault_kind *fault, hybrid_status status)
{
    return status == fault->status ||
           (fault == &fault_allocation && status == HYBRID_NO_DEVICE_MEMORY);
}

int fault_struck(const fault_kind *fault, hybrid_engine *engine, hybrid_status status)
{
    const int struck = !fault->is_armed(engine);

    fault->arm(engine, 0);
    assert_true(status == HYBRID_OK || (struck && is_status_of(fault, status)));
    return struck;
}
