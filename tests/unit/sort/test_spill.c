/* tests/unit/sort/test_spill.c - temporary files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/sort/spill.h"
#include "support/engines/io_fixture.h"

static int cancel(void *user, int64_t done, int64_t rows)
{
    (void)user;
    (void)done;
    (void)rows;
    return 1;
}

/* Sorting a matrix with many rows and inflating a large array write temporary files for
   minutes, so that a call must end at any of these writes if it is cancelled. */
static void a_cancelled_call_writes_no_more(void **state)
{
    hy_progress *progress = &io_ctx->progress;
    hy_spill spill;
    int64_t number = 7;

    (void)state;
    assert_int_equal(hy_spill_open(io_ctx, &spill), HYBRID_OK);
    assert_int_equal(hy_spill_write(&spill, &number, sizeof number, 0), HYBRID_OK);
    progress->fn       = cancel;
    progress->every_ns = 0;
    hy_progress_begin(progress, 100);
    hy_progress_begin_file(progress, 100);
    const hybrid_status status = hy_spill_write(&spill, &number, sizeof number, 8);
    hy_progress_end(progress, status);
    progress->fn = NULL;
    assert_int_equal(status, HYBRID_CANCELLED);
    assert_int_equal(hy_spill_write(&spill, &number, sizeof number, 8), HYBRID_OK);
    hy_spill_close(&spill);
    hy_message_clear(&io_ctx->message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_call_writes_no_more),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
