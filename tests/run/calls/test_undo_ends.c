/* tests/run/calls/test_undo_ends.c - a call ended by a caller's function or by a device
   leaves the engine unchanged (test_undo.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/engines/io_fixture.h"
#include "support/products/undo.h"

static void progress_ends_calls(void **state)
{
    world w;

    (void)state;
    for (place where = HOST; where < PLACES; where++) {
        undo_open(&w, where);
        undo_fail_all(&w, undo_products, &undo_by_progress);
        undo_close(&w);
    }
}

static void functions_end_calls(void **state)
{
    world w;

    (void)state;
    for (place where = HOST; where < PLACES; where++) {
        undo_open(&w, where);
        undo_fail_all(&w, undo_handing, &undo_by_rows);
        undo_close(&w);
    }
}

static void devices_fail(void **state)
{
    world w;

    (void)state;
    for (place where = DEVICE; where < PLACES; where++) {
        undo_open(&w, where);
        undo_fail_all(&w, undo_products, &undo_by_backend);
        undo_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_ends_calls),
        cmocka_unit_test(functions_end_calls),
        cmocka_unit_test(devices_fail),
    };
    return cmocka_run_group_tests_name("undo ends", tests, NULL, io_group_remove);
}
