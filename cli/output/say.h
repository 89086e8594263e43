/* cli/output/say.h - sentences on stderr, and the exit code that each kind of failure
   has. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "hybrid_spmm.h"

enum {
    CLI_DONE        = 0,
    CLI_FAILED      = 1, /* computing went wrong, no such device, or a wrong result */
    CLI_USAGE       = 2,
    CLI_INPUT       = 3, /* malformed file, shapes that do not fit */
    CLI_MEMORY      = 4,
    CLI_FILE        = 5, /* not readable or writable */
    CLI_INTERRUPTED = 130
};

/* "hybrid_spmm: sentence"; returns `code`. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for something that is no failure. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a failed call on `engine` said. */
int cli_fail_engine(const hybrid_engine *engine, hybrid_status status);

/* The exit code of a status; `message` may be empty. */
int cli_fail_status(hybrid_status status, const char *message);

#endif /* CLI_SAY_H */
