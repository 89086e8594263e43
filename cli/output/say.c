/* cli/output/say.c - prints sentences on stderr and maps errors to exit codes. */
#include "cli/output/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "cli/output/progress.h"
#include "cli/output/utf8.h"

/* maximum bytes of a sentence, enough for the longest path */
enum { SENTENCE_BYTES = 8192 };

/* Removes the progress line and prints a sentence on stderr. Control characters are
   escaped, because a file name may have any bytes and must not control the terminal. */
static void say(const char *format, va_list args)
{
    char text[SENTENCE_BYTES], printable[2 * SENTENCE_BYTES];

    vsnprintf(text, sizeof text, format, args);
    cli_printable(printable, sizeof printable, text);
    cli_progress_clear();
    fprintf(stderr, "hybrid_spmm: %s\n", printable);
}

int cli_fail(int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    return code;
}

void cli_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
}

static int code_of(hybrid_status status)
{
    switch (status) {
    case HYBRID_OK:
        return CLI_DONE;
    case HYBRID_BAD_ARGUMENT: /* counts as wrong use, because the user gave the argument
                                 on the command line */
        return CLI_USAGE;
    case HYBRID_BAD_MATRIX:
    case HYBRID_BAD_SHAPE:
    case HYBRID_BAD_FILE:
        return CLI_INPUT;
    case HYBRID_NO_MEMORY:
    case HYBRID_NO_DEVICE_MEMORY:
        return CLI_MEMORY;
    case HYBRID_IO_FAILED:
        return CLI_FILE;
    case HYBRID_BAD_STATE:
    case HYBRID_UNSUPPORTED:
    case HYBRID_NO_DEVICE:
    case HYBRID_DEVICE_FAILED:
    case HYBRID_CANCELLED:
    case HYBRID_STATUS_FORCE_INT:
        break;
    }
    return CLI_FAILED;
}

int cli_fail_status(hybrid_status status, const char *message)
{
    return cli_fail(code_of(status), "%s",
                    message[0] ? message : hybrid_status_text(status));
}

int cli_fail_engine(const hybrid_engine *engine, hybrid_status status)
{
    return cli_fail_status(status, hybrid_engine_message(engine));
}
