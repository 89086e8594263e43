/* cli/output/say.h - prints sentences on stderr and maps errors to exit codes. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "hybrid_spmm.h"

/* Exit codes of the program. */
enum {
    CLI_DONE        = 0,
    CLI_FAILED      = 1, /* computing failed, no such device, or a wrong result */
    CLI_USAGE       = 2,
    CLI_INPUT       = 3, /* malformed file, or shapes that do not fit */
    CLI_MEMORY      = 4,
    CLI_FILE        = 5, /* a file cannot be read or written */
    CLI_INTERRUPTED = 130
};

/* Prints "hybrid_spmm: sentence" and returns `code`. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "hybrid_spmm: sentence" about something that is not an error. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the message of the call on `engine` that failed with `status`, and returns the
   exit code for it. */
int cli_fail_engine(const hybrid_engine *engine, hybrid_status status);

/* Prints `message`, or the meaning of `status` if `message` is empty, and returns the
   exit code for `status`. */
int cli_fail_status(hybrid_status status, const char *message);

#endif /* CLI_SAY_H */
