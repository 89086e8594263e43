/* base/text/message_system.c - the sentence about a system call that failed. It calls
   hy_fail() from another file, so that tests can wrap that function. */
#include <errno.h>
#include <string.h>

#include "base/text/message.h"

hybrid_status hy_fail_system(struct hy_context *ctx, const char *path, const char *verb)
{
    const int error = errno;
    char text[128]  = "";

    const char *reason = strerror_r(error, text, sizeof text);
    return hy_fail(ctx, HYBRID_IO_FAILED, "cannot %s '%s': %s", verb, path, reason);
}
