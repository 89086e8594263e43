/* tests/support/constant.c - runs leave a plan as it was made. */
#include "support/constant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { CONSTANT_BYTES = offsetof(hybrid_plan, history) };

_Static_assert(offsetof(hybrid_plan, history) + sizeof(hy_history) == sizeof(hybrid_plan),
               "a plan's history is its last field");

static size_t chunk_bytes(const hybrid_plan *plan)
{
    return (size_t)plan->layout.count * sizeof *plan->layout.chunks;
}

static void *copy_of(const void *data, size_t bytes)
{
    void *copy = malloc(bytes + 1);

    assert_non_null(copy);
    if (bytes > 0)
        memcpy(copy, data, bytes);
    return copy;
}

plan_copy plan_remember(const hybrid_plan *plan)
{
    return (plan_copy){copy_of(plan, CONSTANT_BYTES),
                       copy_of(plan->layout.chunks, chunk_bytes(plan))};
}

void plan_is_unchanged(const hybrid_plan *plan, plan_copy before)
{
    assert_memory_equal(plan, before.plan, CONSTANT_BYTES);
    if (plan->layout.count > 0)
        assert_memory_equal(plan->layout.chunks, before.chunks, chunk_bytes(plan));
    free(before.plan);
    free(before.chunks);
}
