/* tests/support/check/result_pages.c - counts the pages of results. */
#include "support/check/result_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

int64_t before;

int results_open(void **state)
{
    const int failed = open_four_workers(state);

    before = hy_meter_used(&ctx->memory.meter);
    return failed;
}

int64_t pages_counted(void)
{
    return (hy_meter_used(&ctx->memory.meter) - before) / PAGE * PAGE;
}

int64_t pages_present(const char *ptr, size_t bytes)
{
    unsigned char present[1024];
    int64_t count = 0;

    assert_true(bytes / PAGE <= sizeof present);
    assert_int_equal(mincore((void *)(uintptr_t)ptr, bytes, present), 0);
    for (size_t i = 0; i < bytes / PAGE; i++)
        count += present[i] & 1;
    return count;
}

char *array_of(size_t bytes)
{
    void *ptr;

    assert_int_equal(hy_results_array(ctx, (int64_t)bytes, 1, "y", &ptr), HYBRID_OK);
    assert_int_equal((uintptr_t)ptr % PAGE, 0);
    memset(ptr, 0x5a, bytes);
    return ptr;
}
