/* tests/support/check/constant.c - checks that runs do not change a plan. */
#include "support/check/constant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* Runs change the field `history` of a hybrid_plan and nothing else. It takes the bytes
   [BEFORE, BEHIND) of the struct. */
enum { BEFORE = offsetof(hybrid_plan, history), BEHIND = BEFORE + sizeof(hy_history) };

static size_t plan_bytes(const hybrid_plan *plan)
{
    return offsetof(hybrid_plan, portions) +
           (size_t)(plan->count + 1) * sizeof *plan->portions;
}

static size_t chunk_bytes(const hybrid_plan *plan)
{
    return (size_t)plan->portions->layout.count * sizeof *plan->portions->layout.chunks;
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
    return (plan_copy){copy_of(plan, plan_bytes(plan)),
                       copy_of(plan->portions->layout.chunks, chunk_bytes(plan))};
}

void plan_is_unchanged(const hybrid_plan *plan, plan_copy before)
{
    assert_memory_equal(plan, before.plan, BEFORE);
    assert_memory_equal((const char *)plan + BEHIND, (const char *)before.plan + BEHIND,
                        plan_bytes(plan) - BEHIND);
    if (plan->portions->layout.count > 0)
        assert_memory_equal(plan->portions->layout.chunks, before.chunks,
                            chunk_bytes(plan));
    free(before.plan);
    free(before.chunks);
}
