/* tests/support/files/io_status.c - checks what a function returned to a test that uses
   `io_ctx`. */
#include "support/files/io_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/memory/results.h"
#include "support/engines/io_fixture.h"

void io_ok(hybrid_status status)
{
    if (status != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
}

void io_expect(hybrid_status is, hybrid_status wanted, const char *part)
{
    if (is != wanted || !strstr(io_ctx->message.text, part))
        fail_msg("status %d: '%s' is not in '%s'", (int)is, part, io_ctx->message.text);
    hy_message_clear(&io_ctx->message);
}

int64_t io_fail_each(hybrid_status (*call)(void))
{
    hybrid_status status = HYBRID_NO_MEMORY;
    int64_t failed       = -1;

    hy_results_trim(io_ctx);
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    while (status != HYBRID_OK) {
        failed++;
        assert_in_range(failed, 0, 1000);
        io_ctx->memory.failures = failed + 1;
        status                  = call();
        io_ctx->memory.failures = 0;
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        hy_message_clear(&io_ctx->message);
        hy_results_trim(io_ctx);
        assert_int_equal(hy_meter_used(&io_ctx->memory.meter), used);
    }
    return failed;
}
