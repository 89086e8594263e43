/* tests/support/check/said.c - records every error message of the library.

   In all programs of the tests, the linker replaces hy_fail() by __wrap_hy_fail(). If
   HYBRID_SAID names a file, each message becomes a line of that file, where
   tests/sentences/sentences.py reads it. HYBRID_ONLY names the only test function of the
   program that runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/message.h"
#include "base/text/printable.h"

hybrid_status __real_hy_fail(hy_context *ctx, hybrid_status status, const char *format,
                             ...);
hybrid_status __wrap_hy_fail(hy_context *ctx, hybrid_status status, const char *format,
                             ...) HY_PRINTF(3, 4);

__attribute__((constructor)) static void choose(void)
{
    const char *only = getenv("HYBRID_ONLY");

    if (only)
        cmocka_set_test_filter(only);
}

/* One write() per line: threads and forked processes append to the same file. */
static void record(const char *path, const char *text, const char *format)
{
    char line[4 * HY_MESSAGE_BYTES + 1];
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

    hy_printable(line, sizeof line - 1, text);
    if (getenv("HYBRID_SAID_FORMAT"))
        snprintf(line + strlen(line), sizeof line - strlen(line) - 1, "\t%s", format);
    strcat(line, "\n");
    if (file < 0 || write(file, line, strlen(line)) < 0)
        abort();
    close(file);
}

hybrid_status __wrap_hy_fail(hy_context *ctx, hybrid_status status, const char *format,
                             ...)
{
    const char *path = getenv("HYBRID_SAID");
    char text[HY_MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (path)
        record(path, text, format);
    return __real_hy_fail(ctx, status, "%s", text);
}
