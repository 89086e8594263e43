/* tests/support/files/io_status.c - checks what a function returned to a test that uses
   `io_ctx`. */
#include "support/files/io_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

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
